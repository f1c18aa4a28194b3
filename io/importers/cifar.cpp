#include "io/importers/cifar.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/error.hpp"

#include "io/file_digest.hpp"
#include "io/file_tree.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

using Bytes = std::vector<std::uint8_t>;

constexpr int side = 32;
constexpr std::size_t plane = std::size_t{side} * side;  // bytes of a colour
constexpr std::size_t colours = 3;

bool is_there(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

std::string file_name(const std::string& path) {
  return fs::path(path).filename().string();
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const std::vector<std::string>& files_of(const CifarFormat& format, Split split) {
  return split == Split::train ? format.train : format.test;
}

// The folder that has the files, or the archive.
std::string place_of(const CifarFormat& format, const std::string& source) {
  const fs::path inside = fs::path(source) / format.folder;
  return is_folder(source) && is_there(inside) ? inside.string() : source;
}

// The paths within `place` of the split's files, in order, and of the names if they are
// there.
std::vector<std::string> find_files(const CifarFormat& format,
                                    const std::string& place,
                                    Split split) {
  std::map<std::string, std::string> paths;  // by file name
  for (const TreeEntry& entry : list_tree(place)) {
    if (!is_folder(place) || file_name(entry.path) == entry.path) {
      paths[file_name(entry.path)] = entry.path;
    }
  }
  std::vector<std::string> found;
  for (const std::string& name : files_of(format, split)) {
    CROSSBOW_VALIDATE(
        paths.contains(name),
        ExitCode::data,
        {.what = std::string("there is no ").append(name).append(" in ").append(place),
         .why = "",
         .where = "",
         .remedy = std::string("Give the folder or archive of the binary "
                               "version of ") +
                   format.name});
    found.push_back(paths[name]);
  }
  if (paths.contains(format.names_file)) {
    found.push_back(paths[format.names_file]);
  }
  return found;
}

// Records one after the other, and where they come from.
class Records {
 public:
  Records(const CifarFormat& format, Dataset& data, ImportFaults& faults)
      : limits_(format.label_limits), data_(data), faults_(faults) {}

  void add_file(const std::string& name, const Bytes& bytes) {
    const std::size_t size = limits_.size() + colours * plane;
    if (bytes.empty()) {
      faults_.add(name, "the file is empty");
    }
    for (std::size_t i = 0; i * size < bytes.size(); ++i) {
      const std::string where = name + ", record " + std::to_string(i);
      const std::size_t left = bytes.size() - i * size;
      if (left < size) {
        faults_.add(where,
                    "the file ends after " + std::to_string(left) + " of its " +
                        std::to_string(size) + " bytes");
      } else {
        add_record(where, bytes.data() + i * size);
      }
    }
  }

 private:
  void add_record(const std::string& where, const std::uint8_t* record) {
    for (std::size_t k = 0; k < limits_.size(); ++k) {
      if (record[k] >= limits_[k]) {
        faults_.add(where,
                    "label " + std::to_string(record[k]) + " is not below " +
                        std::to_string(limits_[k]));
        return;
      }
    }
    data_.labels.push_back(record[limits_.size() - 1]);
    const std::uint8_t* planes = record + limits_.size();
    const std::size_t first = data_.images.size();
    data_.images.resize(first + colours * plane);
    std::uint8_t* pixels = data_.images.data() + first;
    for (std::size_t i = 0; i < plane; ++i) {
      for (std::size_t colour = 0; colour < colours; ++colour) {
        pixels[i * colours + colour] = planes[colour * plane + i];
      }
    }
  }

  const std::vector<int>& limits_;
  Dataset& data_;
  ImportFaults& faults_;
};

std::vector<std::string> read_names(const Bytes& bytes,
                                    int classes,
                                    const std::string& path) {
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) {
      line.pop_back();
    }
    if (!line.empty()) {
      names.push_back(line);
    }
  }
  CROSSBOW_VALIDATE(std::ssize(names) == classes,
                    ExitCode::data,
                    {.what = path + " has " + std::to_string(names.size()) +
                             " names of classes instead of " + std::to_string(classes),
                     .why = "",
                     .where = "",
                     .remedy = "Take another copy of the file, or remove it"});
  return names;
}

}  // namespace

const CifarFormat& cifar10() {
  static const CifarFormat format{.name = "cifar10",
                                  .folder = "cifar-10-batches-bin",
                                  .train = {"data_batch_1.bin",
                                            "data_batch_2.bin",
                                            "data_batch_3.bin",
                                            "data_batch_4.bin",
                                            "data_batch_5.bin"},
                                  .test = {"test_batch.bin"},
                                  .names_file = "batches.meta.txt",
                                  .label_limits = {10}};
  return format;
}

const CifarFormat& cifar100() {
  static const CifarFormat format{.name = "cifar100",
                                  .folder = "cifar-100-binary",
                                  .train = {"train.bin"},
                                  .test = {"test.bin"},
                                  .names_file = "fine_label_names.txt",
                                  .label_limits = {20, 100}};
  return format;
}

bool is_cifar(const CifarFormat& format, const std::string& source) {
  if (!is_folder(source)) {
    const auto files =
        has_archive_name(source) ? first_files(source) : std::vector<std::string>();
    return std::any_of(files.begin(), files.end(), [&](const std::string& path) {
      return is_among(format.train, file_name(path)) ||
             is_among(format.test, file_name(path));
    });
  }
  const fs::path place = place_of(format, source);
  return is_there(place / format.train.front()) || is_there(place / format.test.front());
}

std::string cifar_digest(const CifarFormat& format,
                         const std::string& source,
                         Split split) {
  const std::string place = place_of(format, source);
  if (!is_folder(place)) {
    return sha256_of_files({place});
  }
  std::vector<std::string> paths;
  for (const std::string& name : files_of(format, split)) {
    paths.push_back((fs::path(place) / name).string());
  }
  return sha256_of_files(paths);
}

ImportResult import_cifar(const CifarFormat& format,
                          const std::string& source,
                          const ImportOptions& options) {
  const std::string place = place_of(format, source);
  const std::vector<std::string> paths = find_files(format, place, options.split);
  std::vector<Bytes> contents(paths.size());
  std::int64_t done = 0;
  read_tree(place, paths, [&](std::size_t i, Bytes bytes) {
    contents[i] = std::move(bytes);
    report_progress(options, "reading", ++done, std::ssize(paths));
  });
  ImportResult result;
  Dataset& data = result.data;
  data.h = data.w = side;
  data.c = static_cast<int>(colours);
  data.classes = format.label_limits.back();
  Records records(format, data, result.faults);
  const std::size_t files = files_of(format, options.split).size();
  for (std::size_t i = 0; i < files; ++i) {
    records.add_file(paths[i], contents[i]);
  }
  data.n = std::ssize(data.labels);
  check_faults(result.faults, options, data.n, source);
  if (paths.size() > files) {
    data.class_names = read_names(contents.back(), data.classes, paths.back());
  }
  compute_statistics(data);
  data.source = source;
  data.digest = cifar_digest(format, source, options.split);
  return result;
}

}  // namespace crossbow
