#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/contact_sheet.hpp"
#include "io/dataset_file.hpp"
#include "io/image_codec.hpp"

#include "driver/commands.hpp"

namespace crossbow {
namespace {

/// One row for each class: label, name, number of samples.
void print_classes(const Dataset& data) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.classes));
  for (const std::int32_t label : data.labels) {
    ++counts[static_cast<std::size_t>(label)];
  }
  std::size_t width = 4;
  for (const std::string& name : data.class_names) {
    width = std::max(width, printable(name).size());
  }
  fmt::print("{:>5}  {:<{}}  {:>9}\n", "label", "name", width, "images");
  for (std::size_t label = 0; label < counts.size(); ++label) {
    const std::string name =
        data.class_names.empty() ? "-" : printable(data.class_names[label]);
    fmt::print("{:>5}  {:<{}}  {:>9}\n", label, name, width, counts[label]);
  }
}

}  // namespace

std::string image_shape_text(const Dataset& data) {
  const std::string channels = std::to_string(data.c);
  return data.h == 0 ? "different sizes x" + channels
                     : fmt::format("{}x{}x{}", data.h, data.w, channels);
}

int inspect_command(const InspectRequest& request) {
  const Dataset data = read_dataset(request.file);
  fmt::print("{}: {} images of {}, {} classes\n",
             request.file,
             data.n,
             image_shape_text(data),
             data.classes);
  const std::size_t bytes = is_compressed(data) ? data.jpeg.size() : data.images.size();
  fmt::print("storage: {}, {} bytes\n", is_compressed(data) ? "JPEG" : "pixels", bytes);
  fmt::print("source: {}\nsha256: {}\n", printable(data.source), printable(data.digest));
  fmt::print("mean {:.6f}, std {:.6f} of value / 255\n", data.mean, data.std);
  print_classes(data);
  if (!request.png.empty()) {
    write_png(request.png, contact_sheet(data));
  }
  return 0;
}

}  // namespace crossbow
