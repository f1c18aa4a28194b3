#include "io/importers/idx.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.hpp"

#include "io/file_bytes.hpp"
#include "io/file_digest.hpp"
#include "io/gzip.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t ubyte_type = 8;  // IDX's code for unsigned bytes
constexpr std::size_t family_classes = 10;

std::string hex(std::uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

// A file of unsigned bytes in IDX form: magic, `rank` sizes, values; all big-endian.
class IdxFile {
 public:
  // Read and check everything but the meaning of the values. `kind` is "images" or
  // "labels".
  IdxFile(std::string path, std::size_t rank, std::string kind);

  std::uint32_t size(std::size_t d) const { return word(4 + 4 * d); }
  std::size_t header_bytes() const { return 4 + 4 * rank_; }
  const std::string& path() const { return path_; }
  const std::vector<std::uint8_t>& raw() const { return raw_; }
  std::vector<std::uint8_t> take_values();
  [[noreturn]] void fail(const std::string& what,
                         const std::string& why,
                         std::size_t offset) const;

 private:
  std::uint32_t word(std::size_t offset) const;
  void load(std::size_t limit);
  void check_kind() const;
  void check_header() const;
  std::size_t promised_bytes() const;

  std::string path_;
  std::size_t rank_;
  std::string kind_;
  std::vector<std::uint8_t> raw_;    // as in the file
  std::vector<std::uint8_t> bytes_;  // uncompressed
};

IdxFile::IdxFile(std::string path, std::size_t rank, std::string kind)
    : path_(std::move(path)),
      rank_(rank),
      kind_(std::move(kind)),
      raw_(read_file(path_)) {
  check_kind();
  load(header_bytes());
  check_header();
  const std::size_t promised = promised_bytes();
  load(promised + 1);  // one more shows whether anything follows
  if (bytes_.size() < promised) {
    fail("the file ends too early",
         "its header promises " + std::to_string(promised) + " bytes",
         bytes_.size());
  }
  if (bytes_.size() > promised) {
    fail("bytes follow the last of the " + kind_,
         "the first is " + std::to_string(bytes_[promised]),
         promised);
  }
}

void IdxFile::fail(const std::string& what,
                   const std::string& why,
                   std::size_t offset) const {
  throw Error(ExitCode::data,
              ErrorText{.what = what,
                        .why = why,
                        .where = path_ + ", offset " + std::to_string(offset),
                        .remedy = "Take another copy of the file"});
}

std::uint32_t IdxFile::word(std::size_t offset) const {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8U | bytes_[offset + i];
  }
  return value;
}

// The content decides about gzip, but a name that promises it must be right.
void IdxFile::check_kind() const {
  if (raw_.empty()) {
    fail("the file is empty", "", 0);
  }
  if (path_.ends_with(".gz") && !is_gzip(raw_)) {
    const std::string first = std::to_string(raw_[0]);
    const std::string second = raw_.size() > 1 ? std::to_string(raw_[1]) : "none";
    fail("the file is not gzip",
         "it begins with the bytes " + first + " " + second + " instead of 31 139",
         0);
  }
}

void IdxFile::load(std::size_t limit) {
  if (is_gzip(raw_)) {
    bytes_ = gunzip(raw_, limit, path_);
  } else {
    const std::size_t size = std::min(limit, raw_.size());
    bytes_.assign(raw_.begin(), raw_.begin() + static_cast<std::ptrdiff_t>(size));
  }
}

void IdxFile::check_header() const {
  const std::uint32_t wanted = ubyte_type << 8U | static_cast<std::uint32_t>(rank_);
  if (bytes_.size() >= 4 && word(0) != wanted) {
    fail("the file does not hold IDX " + kind_,
         "its magic number is " + hex(word(0)) + " instead of " + hex(wanted),
         0);
  }
  if (bytes_.size() < header_bytes()) {
    fail("the file ends within its header",
         "a header of " + kind_ + " has " + std::to_string(header_bytes()) + " bytes",
         bytes_.size());
  }
  const std::array<const char*, 3> names{"number of samples", "height", "width"};
  for (std::size_t d = 0; d < rank_; ++d) {
    if (size(d) == 0 || size(d) > std::numeric_limits<std::int32_t>::max()) {
      fail("the " + std::string(names[d]) + " is " + std::to_string(size(d)),
           "it must be from 1 to 2147483647",
           4 + 4 * d);
    }
  }
}

std::size_t IdxFile::promised_bytes() const {
  std::size_t product = 1;
  for (std::size_t d = 0; d < rank_; ++d) {
    if (product > (std::numeric_limits<std::size_t>::max() >> 1U) / size(d)) {
      fail("the sizes of the header are not possible", "their product overflows", 4);
    }
    product *= size(d);
  }
  return product + header_bytes();
}

std::vector<std::uint8_t> IdxFile::take_values() {
  bytes_.erase(bytes_.begin(),
               bytes_.begin() + static_cast<std::ptrdiff_t>(header_bytes()));
  return std::move(bytes_);
}

// The family has ten classes; a set with more (letters) has a sample of each. So one
// damaged byte cannot make 200 classes: the first label beyond a gap is refused.
std::size_t count_classes(const IdxFile& file, const std::vector<std::uint8_t>& labels) {
  std::array<bool, 256> seen{};
  for (const std::uint8_t label : labels) {
    seen[label] = true;
  }
  std::size_t classes = family_classes;
  while (classes < seen.size() && seen[classes]) {
    ++classes;
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      file.fail("label " + std::to_string(labels[i]) + " of sample " + std::to_string(i) +
                    " is out of range",
                "no sample has label " + std::to_string(classes),
                file.header_bytes() + i);
    }
  }
  return *std::max_element(labels.begin(), labels.end()) + std::size_t{1};
}

std::vector<std::string> prefixes(Split split) {
  return split == Split::train ? std::vector<std::string>{"train"}
                               : std::vector<std::string>{"t10k", "test"};
}

std::optional<std::string> existing(const std::string& path) {
  for (const std::string& candidate : {path, path + ".gz"}) {
    std::error_code ignored;
    if (fs::exists(candidate, ignored)) {
      return candidate;
    }
  }
  return std::nullopt;
}

std::string stem(const std::string& folder, const std::string& prefix) {
  return (fs::path(folder) / prefix).string();
}

std::optional<std::string> find_images(const std::string& folder, Split split) {
  for (const std::string& prefix : prefixes(split)) {
    if (auto images = existing(stem(folder, prefix) + "-images-idx3-ubyte")) {
      return images;
    }
  }
  return std::nullopt;
}

[[noreturn]] void fail_missing(const std::string& folder, const std::string& names) {
  throw Error(ExitCode::data,
              ErrorText{.what = "there is no " + names + " in " + folder,
                        .why = "",
                        .where = "",
                        .remedy = "Give a folder with the IDX files of the data set"});
}

}  // namespace

bool is_idx_folder(const std::string& folder) {
  return find_images(folder, Split::train).has_value() ||
         find_images(folder, Split::test).has_value();
}

IdxPair find_idx_pair(const std::string& folder, Split split) {
  std::string names;
  for (const std::string& prefix : prefixes(split)) {
    const std::string base = stem(folder, prefix);
    if (auto images = existing(base + "-images-idx3-ubyte")) {
      auto labels = existing(base + "-labels-idx1-ubyte");
      if (!labels) {
        fail_missing(folder, prefix + "-labels-idx1-ubyte[.gz]");
      }
      return {*std::move(images), *std::move(labels)};
    }
    names += (names.empty() ? "" : " or ") + prefix + "-images-idx3-ubyte[.gz]";
  }
  fail_missing(folder, names);
}

std::string source_text(const IdxPair& pair) {
  return pair.images + " and " + pair.labels;
}

Dataset import_idx(const std::string& folder, Split split) {
  const IdxPair pair = find_idx_pair(folder, split);
  IdxFile images(pair.images, 3, "images");
  IdxFile labels(pair.labels, 1, "labels");
  if (images.size(0) != labels.size(0)) {
    labels.fail(std::to_string(labels.size(0)) + " labels do not fit " +
                    std::to_string(images.size(0)) + " images",
                "the images are in " + images.path(),
                4);
  }
  Dataset data;
  data.n = images.size(0);
  data.h = static_cast<int>(images.size(1));
  data.w = static_cast<int>(images.size(2));
  data.c = 1;
  Sha256 sha;
  sha.update(images.raw().data(), images.raw().size());
  sha.update(labels.raw().data(), labels.raw().size());
  data.digest = sha.hex();
  data.source = source_text(pair);
  data.images = images.take_values();
  const std::vector<std::uint8_t> values = labels.take_values();
  data.classes = static_cast<int>(count_classes(labels, values));
  data.labels.assign(values.begin(), values.end());
  compute_statistics(data);
  return data;
}

}  // namespace crossbow
