#pragma once
// tuner.csv of a run: one row for each decision of the auto-tuner, handed to the system
// when it is written.

#include <cstdint>
#include <string>
#include <string_view>

#include "io/row_file.hpp"

namespace crossbow {

struct TunerRow {
  std::int64_t rounds = 0;       // done so far
  std::int64_t samples = 0;      // taken so far
  double seconds = 0;            // of training, tests excluded [s]
  int per_device = 1;            // learners on each device that it is about
  int learners = 1;              // these in all
  int threads = 1;               // of each
  double images_per_second = 0;  // 0: not measured
  std::string decision;
  std::string reason;  // neither has commas
};

/// The first line of the file.
inline constexpr std::string_view tuner_header =
    "rounds,samples,seconds,learners_per_device,learners,threads,images_per_second,"
    "decision,reason";

/// The file of a run in progress.
class TunerFile {
 public:
  /// Begin a new file with the header; one that was there is replaced.
  static TunerFile fresh(const std::string& path);
  /// Go on with the file of an interrupted run: keep its rows up to `rounds`, drop later
  /// ones and a last line that was cut; without a file begin a new one. Throws
  /// Error(data) with path and line for what is no row.
  static TunerFile resume(const std::string& path, std::int64_t rounds);

  /// Write a row at once. Throws Error(data) with path and reason.
  void append(const TunerRow& row);

 private:
  TunerFile(const std::string& path, const std::string& text) : file_(path, text) {}

  RowFile file_;
};

}  // namespace crossbow
