#include "io/importers/npz.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <string_view>

#include "base/error.hpp"

#include "io/file_bytes.hpp"
#include "io/file_digest.hpp"
#include "io/file_tree.hpp"
#include "io/h5_handle.hpp"
#include "io/npy_array.hpp"

namespace crossbow {
namespace {

struct Names {
  std::string_view images, labels;
};
constexpr std::array<Names, 3> train_names{
    {{"x_train", "y_train"}, {"images", "labels"}, {"x", "y"}}};
constexpr std::array<Names, 3> test_names{
    {{"x_test", "y_test"}, {"images", "labels"}, {"x", "y"}}};

struct Arrays {
  H5Shape image_shape, label_shape;
  std::vector<std::uint8_t> images;
  std::vector<std::int64_t> labels;
};

void require(bool good, const std::string& what, const std::string& source) {
  CROSSBOW_VALIDATE(
      good,
      ExitCode::data,
      {.what = what,
       .why = "",
       .where = source,
       .remedy = "Give images (n, h, w, c) or (n, h, w) of uint8 and n integer labels"});
}

// The names of the two arrays among those that `has` knows.
template <class Has>
Names choose_names(Split split, const std::string& source, const Has& has) {
  for (const Names& names : split == Split::train ? train_names : test_names) {
    if (has(names.images) && has(names.labels)) {
      return names;
    }
  }
  throw Error(ExitCode::data,
              ErrorText{.what = "there are no arrays of the " + to_string(split) +
                                " split in " + source,
                        .why = "looked for x_" + to_string(split) + " and y_" +
                               to_string(split) + ", images and labels, x and y",
                        .where = "",
                        .remedy = "Call them so"});
}

Arrays read_h5(const std::string& source, Split split) {
  const H5File file = H5File::open(source);
  const Names names = choose_names(split, source, [&](std::string_view name) {
    return file.has_data_set(std::string(name));
  });
  const std::string images(names.images);
  const std::string labels(names.labels);
  return {file.shape(images),
          file.shape(labels),
          file.read<std::uint8_t>(images),
          file.read_integers(labels)};
}

Arrays read_zip(const std::string& source, Split split) {
  std::set<std::string> present;
  for (const TreeEntry& entry : list_tree(source)) {
    present.insert(entry.path);
  }
  const auto member = [](std::string_view name) { return std::string(name) + ".npy"; };
  const Names names = choose_names(split, source, [&](std::string_view name) {
    return present.contains(member(name));
  });
  std::array<NpyArray, 2> arrays;
  read_tree(source,
            {member(names.images), member(names.labels)},
            [&](std::size_t i, std::vector<std::uint8_t> bytes) {
              const auto name = member(i == 0 ? names.images : names.labels);
              arrays.at(i) = parse_npy(std::move(bytes), source + ", " + name);
            });
  require(
      arrays[0].type == "u1", "the images are of type '" + arrays[0].type + "'", source);
  return {arrays[0].shape,
          arrays[1].shape,
          std::move(arrays[0].bytes),
          npy_values<std::int64_t>(arrays[1], source + ", " + member(names.labels))};
}

void set_shape(Dataset& data, const Arrays& arrays, const std::string& source) {
  H5Shape shape = arrays.image_shape;
  if (shape.size() == 3) {
    shape.push_back(1);
  }
  const bool is_possible =
      shape.size() == 4 && std::all_of(shape.begin(), shape.end(), [](std::int64_t size) {
        return size > 0 && size <= std::numeric_limits<int>::max();
      });
  require(is_possible,
          "images of shape " + to_string(arrays.image_shape) + " are not possible",
          source);
  const std::int64_t n = shape[0];
  require(arrays.label_shape == H5Shape{n} || arrays.label_shape == H5Shape{n, 1},
          "labels of shape " + to_string(arrays.label_shape) + " do not fit " +
              std::to_string(n) + " images",
          source);
  data.n = n;
  data.h = static_cast<int>(shape[1]);
  data.w = static_cast<int>(shape[2]);
  data.c = static_cast<int>(shape[3]);
}

// One damaged label must not make a million classes: at least half of those below the
// largest have a sample.
int count_classes(const std::vector<std::int64_t>& labels) {
  const std::set<std::int64_t> different(labels.begin(), labels.end());
  std::int64_t classes = 0;
  std::int64_t seen = 0;
  for (const std::int64_t label : different) {
    if (label >= 0 && label < std::numeric_limits<std::int32_t>::max()) {
      ++seen;
      classes = label + 1 <= std::max<std::int64_t>(2 * seen, 10) ? label + 1 : classes;
    }
  }
  return static_cast<int>(classes);
}

// Leave out the samples whose label is out of range.
void check_labels(Dataset& data,
                  const std::vector<std::int64_t>& labels,
                  const std::string& source,
                  ImportFaults& faults) {
  data.classes = count_classes(labels);
  const std::int64_t size = sample_bytes(data);
  auto kept = data.images.begin();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= data.classes) {
      faults.add(source + ", sample " + std::to_string(i),
                 "label " + std::to_string(labels[i]) + " is out of range (" +
                     std::to_string(data.classes) + " classes have samples)");
      continue;
    }
    data.labels.push_back(static_cast<std::int32_t>(labels[i]));
    const auto image = data.images.begin() + static_cast<std::int64_t>(i) * size;
    kept = image == kept ? kept + size : std::copy_n(image, size, kept);
  }
  data.images.erase(kept, data.images.end());
  data.n = std::ssize(data.labels);
}

}  // namespace

bool is_npz(const std::string& source) {
  return source.ends_with(".npz");
}

ImportResult import_npz(const std::string& source, const ImportOptions& options) {
  report_progress(options, "reading", 0, 1);
  Arrays arrays =
      is_npz(source) ? read_zip(source, options.split) : read_h5(source, options.split);
  ImportResult result;
  Dataset& data = result.data;
  set_shape(data, arrays, source);
  data.images = std::move(arrays.images);
  check_labels(data, arrays.labels, source, result.faults);
  check_faults(result.faults, options, data.n, source);
  compute_statistics(data);
  data.source = source;
  data.digest = sha256_of_files({source});
  return result;
}

}  // namespace crossbow
