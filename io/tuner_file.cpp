#include "io/tuner_file.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

void check(bool good,
           const std::string& what,
           const std::string& path,
           std::size_t line) {
  CROSSBOW_VALIDATE(good,
                    ExitCode::data,
                    {.what = what,
                     .why = "",
                     .where = fmt::format("{}:{}", path, line),
                     .remedy = "Restore the file or remove it"});
}

/// The rounds of a row, its first field.
std::int64_t rounds_of(const std::string& row,
                       const std::string& path,
                       std::size_t line) {
  const std::vector<std::string_view> fields = split(row, ',');
  const auto columns = std::count(tuner_header.begin(), tuner_header.end(), ',') + 1;
  check(std::ssize(fields) == columns,
        fmt::format("{} fields instead of {}", fields.size(), columns),
        path,
        line);
  const std::string_view text = fields.front();
  std::int64_t rounds = 0;
  const auto [end, failed] =
      std::from_chars(text.data(), text.data() + text.size(), rounds);
  check(failed == std::errc() && end == text.data() + text.size(),
        fmt::format("rounds '{}' is not a number", text),
        path,
        line);
  return rounds;
}

}  // namespace

TunerFile TunerFile::fresh(const std::string& path) {
  return {path, std::string(tuner_header) + "\n"};
}

TunerFile TunerFile::resume(const std::string& path, std::int64_t rounds) {
  if (!std::filesystem::exists(path)) {
    return fresh(path);
  }
  const std::vector<std::string> lines = read_lines(path, true);
  check(!lines.empty() && lines.front() == tuner_header,
        "the first line is not the header of a tuner's file",
        path,
        1);
  std::string text = lines.front() + "\n";
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (rounds_of(lines[i], path, i + 1) <= rounds) {
      text += lines[i] + "\n";
    }
  }
  return {path, text};
}

void TunerFile::append(const TunerRow& row) {
  file_.append(fmt::format("{},{},{:.3f},{},{},{},{:.1f},{},{}",
                           row.rounds,
                           row.samples,
                           row.seconds,
                           row.per_device,
                           row.learners,
                           row.threads,
                           row.images_per_second,
                           row.decision,
                           row.reason));
}

}  // namespace crossbow
