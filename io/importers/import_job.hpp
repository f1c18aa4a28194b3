#pragma once
// What every importer takes and gives: options, how far it is, and what is wrong with
// single samples.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/dataset_file.hpp"

namespace crossbow {

enum class Split { train, test };

/// Return "train" or "test".
std::string to_string(Split split);

/// Hears what an import is doing ("reading") and how many of how many are done. Called
/// often, from the importing thread only.
using ImportProgress =
    std::function<void(const char* step, std::int64_t done, std::int64_t total)>;

struct ImportOptions {
  Split split = Split::train;
  bool skip_bad = false;  // leave bad samples out; else they are an error
  bool decode = false;    // keep JPEG files as pixels
  ImportProgress progress;
};

/// What is wrong with single samples or classes: all counted, the first ten told.
class ImportFaults {
 public:
  /// `where`: the file, and the sample within it if it holds several.
  void add(const std::string& where, const std::string& what);
  std::int64_t count() const { return count_; }
  /// Return the first ten, a line each, and how many more there are.
  std::string list() const;

 private:
  std::int64_t count_ = 0;
  std::vector<std::string> first_;
};

struct ImportResult {
  Dataset data;
  ImportFaults faults;  // what was left out
};

/// Throw Error(data) with the list if there are faults and they are not to be skipped, or
/// if no sample of `source` is left.
void check_faults(const ImportFaults& faults,
                  const ImportOptions& options,
                  std::int64_t samples_left,
                  const std::string& source);

/// Tell `options.progress` if somebody listens.
void report_progress(const ImportOptions& options,
                     const char* step,
                     std::int64_t done,
                     std::int64_t total);

}  // namespace crossbow
