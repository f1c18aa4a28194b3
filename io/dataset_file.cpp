#include "io/dataset_file.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>

#include "base/error.hpp"

#include "io/h5_handle.hpp"

namespace crossbow {
namespace {

constexpr const char* dataset_format = "crossbow-dataset";
constexpr std::int64_t dataset_version = 1;
constexpr std::int64_t attribute_bytes =
    1 << 16;  // generous room for everything but the arrays

std::string text_of(std::int64_t value) {
  return std::to_string(value);
}

void require(bool good, const std::string& what, const std::string& where) {
  CROSSBOW_VALIDATE(
      good,
      ExitCode::data,
      {.what = what, .why = "", .where = where, .remedy = "Import the data set again"});
}

int to_size(std::int64_t extent, const std::string& name, const std::string& where) {
  const bool fits = extent > 0 && extent <= std::numeric_limits<int>::max();
  require(
      fits, name + " is " + text_of(extent) + " and must be from 1 to 2147483647", where);
  return static_cast<int>(extent);
}

void check_labels(const Dataset& data, const std::string& where) {
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const std::int32_t label = data.labels[i];
    CROSSBOW_VALIDATE(label >= 0 && label < data.classes,
                      ExitCode::data,
                      {.what = "label " + text_of(label) + " of sample " +
                               std::to_string(i) + " is out of range",
                       .why = "the data set has " + text_of(data.classes) + " classes",
                       .where = where,
                       .remedy = "Import the data set again"});
  }
}

void check_format(const H5File& file) {
  const std::string format = file.has_attribute("format") ? file.read_text("format") : "";
  CROSSBOW_VALIDATE(format == dataset_format,
                    ExitCode::data,
                    {.what = file.path() + " is not a data set of crossbow",
                     .why = "its attribute 'format' is '" + format + "' instead of '" +
                            dataset_format + "'",
                     .where = "",
                     .remedy = "Make one with `crossbow import`"});
  const std::int64_t version = file.read_integer("version");
  CROSSBOW_VALIDATE(
      version == dataset_version,
      ExitCode::data,
      {.what = "version " + text_of(version) + " of the data set is unknown",
       .why = "this program reads version " + text_of(dataset_version),
       .where = file.path(),
       .remedy = "Import the data set again with this program"});
}

void read_pixels(const H5File& file, Dataset& data) {
  const H5Shape shape = file.shape("images");
  const std::string where = file.path() + ", /images";
  require(
      shape.size() == 4, "shape " + to_string(shape) + " is not n x h x w x c", where);
  data.n = shape[0];
  data.h = to_size(shape[1], "the height", where);
  data.w = to_size(shape[2], "the width", where);
  data.c = to_size(shape[3], "the number of channels", where);
  data.images = file.read<std::uint8_t>("images");
}

void read_jpeg(const H5File& file, Dataset& data) {
  const H5Shape shape = file.shape("offset");
  require(shape.size() == 1 && shape[0] > 0,
          "offsets of shape " + to_string(shape) + " are not n + 1",
          file.path() + ", /offset");
  data.n = shape[0] - 1;
  const std::int64_t h = file.read_integer("height");
  const std::int64_t w = file.read_integer("width");
  if (h != 0 || w != 0) {
    data.h = to_size(h, "the height", file.path());
    data.w = to_size(w, "the width", file.path());
  }
  data.c = to_size(file.read_integer("channels"), "the number of channels", file.path());
  data.offsets = file.read<std::int64_t>("offset");
  data.jpeg = file.read<std::uint8_t>("jpeg");
}

// All but the labels, whose shape must fit before they are read.
void read_samples(const H5File& file, Dataset& data) {
  if (file.has_data_set("jpeg")) {
    read_jpeg(file, data);
  } else {
    read_pixels(file, data);
  }
  const H5Shape labels = file.shape("labels");
  require(labels.size() == 1 && labels[0] == data.n,
          "labels of shape " + to_string(labels) + " do not fit " + text_of(data.n) +
              " images",
          file.path());
  data.labels = file.read<std::int32_t>("labels");
}

void check_pixels(const Dataset& data, const std::string& where) {
  const std::int64_t values = h5_element_count({data.n, data.h, data.w, data.c}, where);
  require(values > 0, "the images have no pixels", where);
  require(
      values == static_cast<std::int64_t>(data.images.size()),
      std::to_string(data.images.size()) + " bytes of images are not " + text_of(values),
      where);
}

void check_jpeg(const Dataset& data, const std::string& where) {
  const bool has_size = data.h > 0 && data.w > 0;
  require(data.images.empty() && (has_size || (data.h == 0 && data.w == 0)) &&
              (data.c == 1 || data.c == 3),
          "JPEG images of " + to_string(H5Shape{data.h, data.w, data.c}) +
              " are not possible",
          where);
  require(static_cast<std::int64_t>(data.offsets.size()) == data.n + 1,
          std::to_string(data.offsets.size()) + " offsets are not one more than " +
              text_of(data.n) + " images",
          where);
  require(data.offsets.front() == 0 &&
              data.offsets.back() == static_cast<std::int64_t>(data.jpeg.size()),
          "the offsets do not span the " + std::to_string(data.jpeg.size()) +
              " bytes of JPEG",
          where);
  const auto bad = std::adjacent_find(
      data.offsets.begin(), data.offsets.end(), std::greater_equal<>());
  if (bad != data.offsets.end()) {
    require(false,
            "sample " + std::to_string(bad - data.offsets.begin()) + " begins at " +
                text_of(*bad) + " and ends at " + text_of(*std::next(bad)),
            where);
  }
}

void write_samples(H5File& file, const Dataset& data) {
  const H5Storage storage{.chunk_bytes = 1 << 20};
  if (is_compressed(data)) {
    file.write_integer("height", data.h);
    file.write_integer("width", data.w);
    file.write_integer("channels", data.c);
    const auto bytes = static_cast<std::int64_t>(data.jpeg.size());
    file.write("jpeg", {bytes}, data.jpeg.data(), storage);
    file.write("offset", {data.n + 1}, data.offsets.data(), storage);
  } else {
    file.write("images", {data.n, data.h, data.w, data.c}, data.images.data(), storage);
  }
  file.write("labels", {data.n}, data.labels.data(), storage);
}

/// Of values between 0 and 1; "not" catches NaN.
void check_statistics(const Dataset& data, const std::string& path) {
  const bool is_possible =
      data.mean >= 0 && data.mean <= 1 && data.std >= 0 && data.std <= 0.5;
  CROSSBOW_VALIDATE(is_possible,
                    ExitCode::data,
                    {.what = "mean " + std::to_string(data.mean) + " and std " +
                             std::to_string(data.std) + " of the pixels are impossible",
                     .why = "of value/255, they are within 0 to 1 and 0 to 0.5",
                     .where = path,
                     .remedy = "Import the data set again"});
}

}  // namespace

std::int64_t sample_bytes(const Dataset& data) {
  return static_cast<std::int64_t>(data.h) * data.w * data.c;
}

bool is_compressed(const Dataset& data) {
  return !data.offsets.empty();
}

std::span<const std::uint8_t> jpeg_of(const Dataset& data, std::int64_t i) {
  const std::int64_t begin = data.offsets[static_cast<std::size_t>(i)];
  const std::int64_t end = data.offsets[static_cast<std::size_t>(i) + 1];
  return std::span(data.jpeg).subspan(static_cast<std::size_t>(begin),
                                      static_cast<std::size_t>(end - begin));
}

PixelSums& PixelSums::operator+=(const PixelSums& other) {
  sum += other.sum;
  squares += other.squares;
  count += other.count;
  return *this;
}

PixelSums sums_of(std::span<const std::uint8_t> pixels) {
  PixelSums sums;
  for (const std::uint8_t value : pixels) {
    sums.sum += value;
    sums.squares += static_cast<std::uint64_t>(value) * value;
  }
  sums.count = pixels.size();
  return sums;
}

void set_statistics(Dataset& data, const PixelSums& sums) {
  const auto count = static_cast<long double>(sums.count);
  const long double mean = sums.sum / count;
  const long double variance = std::max(sums.squares / count - mean * mean, 0.0L);
  data.mean = static_cast<double>(mean / 255);
  data.std = static_cast<double>(std::sqrt(variance) / 255);
}

void compute_statistics(Dataset& data) {
  set_statistics(data, sums_of(data.images));
}

void check_dataset(const Dataset& data, const std::string& where) {
  require(data.n > 0, "the data set has no samples", where);
  if (is_compressed(data)) {
    check_jpeg(data, where);
  } else {
    check_pixels(data, where);
  }
  require(data.n == static_cast<std::int64_t>(data.labels.size()),
          std::to_string(data.labels.size()) + " labels are not one for each of " +
              text_of(data.n) + " images",
          where);
  require(data.classes > 0, text_of(data.classes) + " classes are not possible", where);
  require(data.class_names.empty() ||
              data.class_names.size() == static_cast<std::size_t>(data.classes),
          std::to_string(data.class_names.size()) +
              " class names are not one for each of " + text_of(data.classes) +
              " classes",
          where);
  const bool good = std::isfinite(data.mean) && std::isfinite(data.std) && data.std >= 0;
  require(good, "mean or std is not a usable number", where);
  check_labels(data, where);
}

void write_dataset(const std::string& path, const Dataset& data) {
  check_dataset(data, path);
  const std::size_t values = data.images.size() + data.jpeg.size() +
                             data.offsets.size() * sizeof(std::int64_t) +
                             data.labels.size() * sizeof(std::int32_t);
  AtomicFile target(path, static_cast<std::int64_t>(values) + attribute_bytes);
  H5File file = H5File::create(target);
  file.write_text("format", dataset_format);
  file.write_integer("version", dataset_version);
  file.write_integer("classes", data.classes);
  if (!data.class_names.empty()) {
    file.write_texts("class_names", data.class_names);
  }
  file.write_number("mean", data.mean);
  file.write_number("std", data.std);
  file.write_text("source", data.source);
  file.write_text("sha256", data.digest);
  write_samples(file, data);
  file.close();
  target.commit();
}

Dataset read_dataset(const std::string& path) {
  const H5File file = H5File::open(path);
  check_format(file);
  Dataset data;
  read_samples(file, data);
  data.classes = to_size(file.read_integer("classes"), "the number of classes", path);
  if (file.has_attribute("class_names")) {
    data.class_names = file.read_texts("class_names");
  }
  data.place = path;
  data.mean = file.read_number("mean");
  data.std = file.read_number("std");
  check_statistics(data, path);
  data.source = file.read_text("source");
  data.digest = file.read_text("sha256");
  check_dataset(data, path);
  return data;
}

}  // namespace crossbow
