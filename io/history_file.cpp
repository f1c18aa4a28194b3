#include "io/history_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/file_bytes.hpp"

namespace crossbow {
namespace {

constexpr std::size_t column_count = 11;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string_view::npos; begin = end + 1) {
    end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
  }
  return parts;
}

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

// `cut_is_fine`: leave out a last line without its end, which a killed job may leave.
std::vector<HistoryRow> parse(std::string text,
                              const std::string& path,
                              bool cut_is_fine) {
  if (cut_is_fine) {
    text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1);
  }
  std::vector<std::string_view> lines = split(text, '\n');
  if (lines.back().empty()) {
    lines.pop_back();
  }
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

std::string read_text_file(const std::string& path) {
  const std::vector<std::uint8_t> bytes = read_file(path);
  return {bytes.begin(), bytes.end()};
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
  return parse(read_text_file(path), path, false);
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
  std::vector<HistoryRow> rows = parse(read_text_file(path), path, true);
  std::erase_if(rows, [rounds](const HistoryRow& row) { return row.rounds > rounds; });
  return {path, std::move(rows)};
}

HistoryFile::HistoryFile(std::string path, std::vector<HistoryRow> rows)
    : path_(std::move(path)), rows_(std::move(rows)) {
  std::string text = std::string(history_header) + "\n";
  for (const HistoryRow& row : rows_) {
    text += to_csv(row) + "\n";
  }
  write_atomically(path_, text);
  descriptor_ = open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) {
    throw write_error(path_, errno_text(errno), 0);
  }
}

HistoryFile::~HistoryFile() {
  if (descriptor_ >= 0) {
    close(descriptor_);
  }
}

HistoryFile::HistoryFile(HistoryFile&& other) noexcept
    : path_(std::move(other.path_)),
      rows_(std::move(other.rows_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void HistoryFile::append(const HistoryRow& row) {
  const std::string line = to_csv(row) + "\n";
  const off_t end = lseek(descriptor_, 0, SEEK_END);
  const int failure = end < 0 ? errno : write_all(descriptor_, line);
  if (failure != 0) {
    // Half a line would spoil the file for every reader.
    const bool whole = end >= 0 && ftruncate(descriptor_, end) == 0;
    const std::string why = errno_text(failure) + (whole ? "" : ", its last line is cut");
    throw write_error(path_, why, static_cast<std::int64_t>(line.size()));
  }
  rows_.push_back(row);
}

}  // namespace crossbow
