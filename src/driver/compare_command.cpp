#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.hpp"

#include "driver/case_bands.hpp"
#include "driver/commands.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

constexpr int bands_not_kept = 1;

/// A run's folder, or a history itself.
std::vector<HistoryRow> history_of(const std::string& run) {
  return read_history(fs::is_directory(run) ? run + "/history.csv" : run);
}

std::string shown(const std::optional<double>& value) {
  return value.has_value() ? fmt::format("{:.6g}", *value) : "missing";
}

void print_results(const std::vector<BandResult>& results) {
  fmt::print("{:<18} {:>8} {:>12} {:>12} {:>24}  {}\n",
             "column",
             "epoch",
             "measured",
             "reference",
             "band",
             "verdict");
  for (const BandResult& result : results) {
    const Band& band = result.band;
    const double reference = result.reference.value_or(0);
    fmt::print("{:<18} {:>8} {:>12} {:>12} {:>24}  {}\n",
               band.column,
               band.epoch ? fmt::format("{:g}", *band.epoch) : "last",
               shown(result.measured),
               shown(result.reference),
               result.reference ? fmt::format("{:.6g} ... {:.6g}",
                                              reference - band.below,
                                              reference + band.above)
                                : "-",
               result.good ? "good" : "NOT KEPT (" + band.reason + ")");
  }
}

void write_reference(const std::string& path, const std::vector<HistoryRow>& rows) {
  HistoryFile file = HistoryFile::fresh(path);
  for (const HistoryRow& row : rows) {
    file.append(row);
  }
}

/// The medians become the reference; the reason stands in the case's README.
void renew(const CompareRequest& request, const std::vector<HistoryRow>& medians) {
  CROSSBOW_VALIDATE(!medians.empty(),
                    ExitCode::data,
                    {"a run has no row", "it is no reference", request.runs.front(), ""});
  const std::string readme = request.reference + "/README.md";
  CROSSBOW_VALIDATE(fs::exists(readme),
                    ExitCode::data,
                    {"the case has no README.md",
                     "the reason of a new reference is written into it",
                     request.reference,
                     "Write one that says what the case is for"});
  std::ofstream file(readme, std::ios::app);
  file << fmt::format("* {:%Y-%m-%d}, {} run(s): {}\n",
                      fmt::gmtime(std::chrono::system_clock::now()),
                      request.runs.size(),
                      request.renew);
  file.close();
  CROSSBOW_VALIDATE(
      file.good(),
      ExitCode::data,
      {"the reason cannot be written", "", readme, "Check its permissions"});
  write_reference(request.reference + "/reference.csv", medians);
  fmt::print("{}: reference renewed\n", request.reference);
}

}  // namespace

int compare_command(const CompareRequest& request) {
  std::vector<std::vector<HistoryRow>> runs;
  for (const std::string& run : request.runs) {
    runs.push_back(history_of(run));
  }
  const std::vector<HistoryRow> medians = median_history(runs);
  if (!request.renew.empty()) {
    renew(request, medians);
    return 0;
  }
  const std::vector<BandResult> results =
      check_bands(read_case_check(request.reference + "/check.toml"),
                  medians,
                  read_history(request.reference + "/reference.csv"));
  print_results(results);
  const auto bad = std::count_if(
      results.begin(), results.end(), [](const BandResult& r) { return !r.good; });
  fmt::print("{}: {} of {} bands kept\n",
             request.reference,
             std::ssize(results) - bad,
             results.size());
  return bad == 0 ? 0 : bands_not_kept;
}

}  // namespace crossbow
