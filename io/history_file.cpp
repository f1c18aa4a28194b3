#include "io/history_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

constexpr std::size_t column_count = 11;

// The fields of one line, taken in order.
class Fields {
 public:
  Fields(std::string_view line, const std::string& where)
      : names_(split(history_header, ',')), fields_(split(line, ',')), where_(where) {
    check(fields_.size() == column_count,
          std::to_string(fields_.size()) + " fields instead of " +
              std::to_string(column_count));
  }

  // The next field as a number from `least` to `most`; an unlimited loss may be nan or
  // inf.
  template <class T>
  T next(T least, T most) {
    const std::string_view text = fields_[at_++];
    T value{};
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = failed == std::errc() && end == text.data() + text.size();
    check(is_number, problem(text, "is not a number"));
    const bool unlimited = most == std::numeric_limits<T>::infinity() && least == -most;
    check(unlimited || (value >= least && value <= most),
          problem(text, fmt::format("is not from {} to {}", least, most)));
    return value;
  }
  std::optional<double> next_or_empty(double least, double most) {
    if (fields_[at_].empty()) {
      ++at_;
      return std::nullopt;
    }
    return next(least, most);
  }
  void check(bool good, const std::string& what) const {
    CROSSBOW_VALIDATE(good,
                      ExitCode::data,
                      {.what = what,
                       .why = "",
                       .where = where_,
                       .remedy = "Restore the file or let the run write a new one"});
  }

 private:
  std::string problem(std::string_view text, const std::string& what) const {
    return std::string(names_[at_ - 1]) + " '" + std::string(text) + "' " + what;
  }

  std::vector<std::string_view> names_;
  std::vector<std::string_view> fields_;
  const std::string& where_;
  std::size_t at_ = 0;
};

HistoryRow parse_row(std::string_view line,
                     const HistoryRow* before,
                     const std::string& where) {
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::int64_t most_integer = std::numeric_limits<std::int64_t>::max();
  Fields fields(line, where);
  HistoryRow row;
  row.epoch = fields.next(0.0, most);
  row.samples = fields.next<std::int64_t>(0, most_integer);
  row.rounds = fields.next<std::int64_t>(0, most_integer);
  row.seconds = fields.next(0.0, most);
  row.rate = fields.next(0.0, most);
  row.learners = fields.next(1, std::numeric_limits<int>::max());
  row.train_loss = fields.next(-infinity, infinity);
  row.test_loss = fields.next(-infinity, infinity);
  row.test_accuracy = fields.next(0.0, 1.0);
  row.median_of_five = fields.next_or_empty(0.0, 1.0);
  row.images_per_second = fields.next(0.0, most);
  fields.check(before == nullptr ||
                   (row.samples >= before->samples && row.rounds >= before->rounds),
               "samples or rounds are fewer than in the line before");
  return row;
}

std::vector<HistoryRow> parse(const std::vector<std::string>& lines,
                              const std::string& path) {
  CROSSBOW_VALIDATE(!lines.empty() && lines[0] == history_header,
                    ExitCode::data,
                    {.what = "the first line is not the header of a history file",
                     .why = "",
                     .where = path + ":1",
                     .remedy = "The header is " + std::string(history_header)});
  std::vector<HistoryRow> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const std::string where = path + ":" + std::to_string(i + 1);
    rows.push_back(parse_row(lines[i], rows.empty() ? nullptr : &rows.back(), where));
  }
  return rows;
}

}  // namespace

std::string to_csv(const HistoryRow& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{}",
                     row.epoch,
                     row.samples,
                     row.rounds,
                     row.seconds,
                     row.rate,
                     row.learners,
                     row.train_loss,
                     row.test_loss,
                     row.test_accuracy,
                     row.median_of_five ? fmt::format("{}", *row.median_of_five) : "",
                     row.images_per_second);
}

std::vector<HistoryRow> read_history(const std::string& path) {
  return parse(read_lines(path, false), path);
}

std::optional<double> median_of_last_five(const std::vector<HistoryRow>& rows) {
  constexpr std::ptrdiff_t five = 5;
  if (std::ssize(rows) < five) {
    return std::nullopt;
  }
  std::vector<double> accuracies;
  std::for_each(rows.end() - five, rows.end(), [&](const HistoryRow& row) {
    accuracies.push_back(row.test_accuracy);
  });
  std::sort(accuracies.begin(), accuracies.end());
  return accuracies[2];
}

HistoryFile HistoryFile::fresh(const std::string& path) {
  return {path, {}};
}

HistoryFile HistoryFile::resume(const std::string& path, std::int64_t rounds) {
  if (!std::filesystem::exists(path)) {
    return fresh(path);
  }
  std::vector<HistoryRow> rows = parse(read_lines(path, true), path);
  std::erase_if(rows, [rounds](const HistoryRow& row) { return row.rounds > rounds; });
  return {path, std::move(rows)};
}

namespace {

std::string text_of(const std::vector<HistoryRow>& rows) {
  std::string text = std::string(history_header) + "\n";
  for (const HistoryRow& row : rows) {
    text += to_csv(row) + "\n";
  }
  return text;
}

}  // namespace

HistoryFile::HistoryFile(const std::string& path, std::vector<HistoryRow> rows)
    : rows_(std::move(rows)), file_(path, text_of(rows_)) {}

void HistoryFile::append(const HistoryRow& row) {
  file_.append(to_csv(row));
  rows_.push_back(row);
}

}  // namespace crossbow
