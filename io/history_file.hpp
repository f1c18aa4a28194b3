#pragma once
// history.csv of a run: one row for each test, handed to the system when it is written. A
// regression reference has the same form.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/row_file.hpp"

namespace crossbow {

struct HistoryRow {
  double epoch = 0;          // epochs trained, with fractions
  std::int64_t samples = 0;  // taken so far
  std::int64_t rounds = 0;   // done so far
  double seconds = 0;        // of training, tests excluded [s]
  double rate = 0;           // learning rate of the last round
  int learners = 0;
  double train_loss = 0;  // mean over all batches since the row before
  double test_loss = 0;
  double test_accuracy = 0;              // 0 ... 1
  std::optional<double> median_of_five;  // of the last five test accuracies
  double images_per_second = 0;          // of training, since the row before

  bool operator==(const HistoryRow&) const = default;
};

/// The first line of the file.
inline constexpr std::string_view history_header =
    "epoch,samples,rounds,seconds,rate,learners,train_loss,test_loss,test_accuracy,"
    "median_of_five,images_per_second";

/// Return the row as a line without its end; numbers read back bit by bit.
std::string to_csv(const HistoryRow& row);

/// Read all rows; throw Error(data) with path, line and value for whatever is not right:
/// header, number of fields, numbers, ranges, samples or rounds that go back.
std::vector<HistoryRow> read_history(const std::string& path);

/// Return the median of the last five test accuracies; none if there are fewer.
std::optional<double> median_of_last_five(const std::vector<HistoryRow>& rows);

/// The file of a run in progress.
class HistoryFile {
 public:
  /// Begin a new file with the header; one that was there is replaced.
  static HistoryFile fresh(const std::string& path);
  /// Go on with the file of an interrupted run: keep its rows up to `rounds`, drop later
  /// ones and a last line that was cut; without a file begin a new one.
  static HistoryFile resume(const std::string& path, std::int64_t rounds);

  /// Write a row at once. Throws Error(data) with path and reason; then the file is as
  /// before.
  void append(const HistoryRow& row);
  /// Return all rows so far, also those of before a resume.
  const std::vector<HistoryRow>& rows() const { return rows_; }

 private:
  HistoryFile(const std::string& path, std::vector<HistoryRow> rows);

  std::vector<HistoryRow> rows_;
  RowFile file_;
};

}  // namespace crossbow
