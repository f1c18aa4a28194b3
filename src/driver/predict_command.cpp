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

/// One image as a data set, a JPEG as it is.
Dataset read_image(const std::string& path, int channels) {
  std::vector<std::uint8_t> bytes = read_file(path);
  CROSSBOW_VALIDATE(is_jpeg(bytes) || is_png(bytes),
                    ExitCode::data,
                    {"the file is neither a JPEG nor a PNG image",
                     "",
                     path,
                     "Give an image of one of these kinds"});
  Dataset data;
  data.n = 1;
  data.classes = 1;
  data.labels = {0};
  data.place = path;
  if (is_jpeg(bytes)) {
    const ImageSize size = JpegDecoder().size(bytes);
    data.h = size.h;
    data.w = size.w;
    data.c = channels;  // decoding makes them so
    data.offsets = {0, std::ssize(bytes)};
    data.jpeg = std::move(bytes);
  } else {
    Image image = decode_png(bytes);
    data.h = image.h;
    data.w = image.w;
    data.c = image.c;
    data.images = std::move(image.pixels);
  }
  return data;
}

/// Bring an image to the size that the network takes, as tests do, and add its pixels.
void append_image(const Dataset& image, const AverageModel& model, Dataset& all) {
  const ImageSize wanted{all.h, all.w, all.c};
  const bool is_cut = model.augment.crop > 0 && image.c == all.c;
  CROSSBOW_VALIDATE(ImageSize({image.h, image.w, image.c}) == wanted || is_cut,
                    ExitCode::data,
                    {fmt::format("the image is {}x{}x{}", image.h, image.w, image.c),
                     fmt::format("the network takes {}x{}x{}: height, width, channels",
                                 wanted.h,
                                 wanted.w,
                                 wanted.c),
                     image.place,
                     "Convert it to this size and to grey (1) or colour (3)"});
  const std::size_t begin = all.images.size();
  all.images.resize(begin + static_cast<std::size_t>(pixel_bytes(wanted)));
  SampleReader({image, {}, {model.augment}}, wanted)
      .read(0, 0, all.images.data() + begin);
}

/// All images as a data set, its labels without meaning.
Dataset read_images(const std::vector<std::string>& paths, const AverageModel& model) {
  Dataset data;
  data.n = static_cast<std::int64_t>(paths.size());
  data.h = static_cast<int>(model.plan.input.h);
  data.w = static_cast<int>(model.plan.input.w);
  data.c = static_cast<int>(model.plan.input.c);
  data.classes = 1;
  data.labels.assign(paths.size(), 0);
  for (const std::string& path : paths) {
    try {
      append_image(read_image(path, data.c), model, data);
    } catch (const Error& error) {
      std::string message = error.what();
      if (message.find(path) == std::string::npos) {
        message.insert(0, path + ": ");
      }
      throw Error(error.exit_code(), message);
    }
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
