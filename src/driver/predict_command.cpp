#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/file_bytes.hpp"
#include "io/image_codec.hpp"
#include "kernels/instance.hpp"

#include "driver/average_model.hpp"
#include "driver/commands.hpp"

namespace crossbow {
namespace {

Image decode_image(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  CROSSBOW_VALIDATE(is_jpeg(bytes) || is_png(bytes),
                    ExitCode::data,
                    {"the file is neither a JPEG nor a PNG image",
                     "",
                     path,
                     "Give an image of one of these kinds"});
  try {
    return is_jpeg(bytes) ? decode_jpeg(bytes) : decode_png(bytes);
  } catch (const Error& error) {
    throw Error(error.exit_code(), path + ": " + error.what());
  }
}

/// All images as a data set, cut as those of tests, its labels without meaning.
Dataset read_images(const std::vector<std::string>& paths, const AverageModel& model) {
  const ImageShape& input = model.plan.input;
  const ImageSize wanted{
      static_cast<int>(input.h), static_cast<int>(input.w), static_cast<int>(input.c)};
  Dataset data;
  data.n = static_cast<std::int64_t>(paths.size());
  data.h = wanted.h;
  data.w = wanted.w;
  data.c = wanted.c;
  data.classes = 1;
  data.labels.assign(paths.size(), 0);
  for (const std::string& path : paths) {
    const Image image = decode_image(path);
    const ImageSize size{image.h, image.w, image.c};
    const bool is_cut = model.augment.crop > 0 && size.c == wanted.c;
    CROSSBOW_VALIDATE(size == wanted || is_cut,
                      ExitCode::data,
                      {fmt::format("the image is {}x{}x{}", image.h, image.w, image.c),
                       fmt::format("the network takes {}x{}x{}: height, width, channels",
                                   data.h,
                                   data.w,
                                   data.c),
                       path,
                       "Convert it to this size and to grey (1) or colour (3)"});
    const std::size_t begin = data.images.size();
    data.images.resize(begin + static_cast<std::size_t>(pixel_bytes(wanted)));
    copy_window(image.pixels.data(),
                size,
                window_in(size, wanted, {model.augment}, 0, 0),
                wanted,
                data.images.data() + begin);
  }
  return data;
}

/// The largest of the softmax of `logits`, e.g. "cat 0.9312, dog 0.0410".
std::string best_classes(std::span<const float> logits,
                         std::size_t count,
                         const std::vector<std::string>& names) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float logit : logits) {
    sum += std::exp(static_cast<double>(logit - largest));
  }
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return logits[a] > logits[b];
  });
  std::string text;
  for (std::size_t i = 0; i < std::min(count, order.size()); ++i) {
    const std::size_t k = order[i];
    text += fmt::format("{}{} {:.4f}",
                        i == 0 ? "" : ", ",
                        names.empty() ? std::to_string(k) : names[k],
                        std::exp(static_cast<double>(logits[k] - largest)) / sum);
  }
  return text;
}

}  // namespace

int predict_command(const PredictRequest& request) {
  const AverageModel model = load_average_model(request.checkpoint);
  const Dataset data = read_images(request.images, model);
  const Kokkos::ScopeGuard kokkos(quiet_settings());
  std::vector<float> logits;
  evaluate_average(model, {data, model.scale}, &logits);
  CROSSBOW_VALIDATE(
      std::all_of(logits.begin(), logits.end(), [](float x) { return std::isfinite(x); }),
      ExitCode::numbers,
      {"the network gives a NaN or Inf", "", request.checkpoint, "Use another model"});
  const auto classes = static_cast<std::size_t>(model.plan.classes);
  for (std::size_t i = 0; i < request.images.size(); ++i) {
    const std::span<const float> row = std::span(logits).subspan(i * classes, classes);
    const std::string best =
        best_classes(row, static_cast<std::size_t>(request.top), model.class_names);
    fmt::print("{}\n", printable(request.images[i] + ": " + best));
  }
  return 0;
}

}  // namespace crossbow
