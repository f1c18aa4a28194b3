#include "driver/case_bands.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/input_deck.hpp"

namespace crossbow {
namespace {

using Value = std::function<std::optional<double>(const HistoryRow&)>;

/// The columns that a band may be on, in the file's order.
const std::vector<std::pair<std::string, Value>>& columns() {
  static const std::vector<std::pair<std::string, Value>> all = {
      {"epoch", [](const HistoryRow& r) { return r.epoch; }},
      {"samples", [](const HistoryRow& r) { return static_cast<double>(r.samples); }},
      {"rounds", [](const HistoryRow& r) { return static_cast<double>(r.rounds); }},
      {"seconds", [](const HistoryRow& r) { return r.seconds; }},
      {"rate", [](const HistoryRow& r) { return r.rate; }},
      {"learners", [](const HistoryRow& r) { return r.learners; }},
      {"train_loss", [](const HistoryRow& r) { return r.train_loss; }},
      {"test_loss", [](const HistoryRow& r) { return r.test_loss; }},
      {"test_accuracy", [](const HistoryRow& r) { return r.test_accuracy; }},
      {"median_of_five", [](const HistoryRow& r) { return r.median_of_five; }},
      {"images_per_second", [](const HistoryRow& r) { return r.images_per_second; }}};
  return all;
}

DeckSchema case_schema() {
  KeySpec column{.key = "column", .required = true, .help = "Column of history.csv."};
  for (const auto& [name, value] : columns()) {
    column.words.push_back(name);
  }
  const auto width = [](const char* key) {
    return KeySpec{.key = key,
                   .type = KeyType::number,
                   .range = {0, {}},
                   .required = true,
                   .help = "Distance from the reference that is still good."};
  };
  DeckSchema schema;
  schema.keys = {{.section = "check",
                  .key = "seeds",
                  .type = KeyType::integer_list,
                  .range = {0, {}},
                  .least_size = 1,
                  .required = true,
                  .help = "A run for each; the median over them counts."}};
  schema.lists = {
      {"band",
       "column",
       {column,
        {.key = "epoch", .type = KeyType::number, .range = {0, {}}, .help = "Row."},
        width("below"),
        width("above"),
        {.key = "reason", .least_size = 1, .required = true, .help = "Of the width."}}}};
  for (KeySpec& key : schema.lists.front().keys) {
    key.section = "band";
  }
  return schema;
}

std::optional<double> number(const DeckTable& table, std::string_view key) {
  const DeckValue* value = table.find(key);
  return value == nullptr ? std::nullopt : std::optional(std::get<double>(*value));
}

std::string text(const DeckTable& table, std::string_view key) {
  const DeckValue* value = table.find(key);
  return value == nullptr ? "" : std::get<std::string>(*value);
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) {
    return *middle;
  }
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

double median_of(const std::vector<const HistoryRow*>& rows, double HistoryRow::*member) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const HistoryRow* row : rows) {
    values.push_back(row->*member);
  }
  return median(std::move(values));
}

HistoryRow median_row(const std::vector<const HistoryRow*>& rows) {
  HistoryRow row = *rows.front();
  row.seconds = median_of(rows, &HistoryRow::seconds);
  row.train_loss = median_of(rows, &HistoryRow::train_loss);
  row.test_loss = median_of(rows, &HistoryRow::test_loss);
  row.test_accuracy = median_of(rows, &HistoryRow::test_accuracy);
  row.images_per_second = median_of(rows, &HistoryRow::images_per_second);
  std::vector<double> medians;
  for (const HistoryRow* each : rows) {
    if (each->median_of_five.has_value()) {
      medians.push_back(*each->median_of_five);
    }
  }
  row.median_of_five.reset();
  if (medians.size() == rows.size()) {
    row.median_of_five = median(std::move(medians));
  }
  return row;
}

/// The value of a band's row; none where the history does not get there.
std::optional<double> value_of(const Band& band,
                               const std::vector<HistoryRow>& history,
                               std::size_t rows) {
  auto row = history.begin();
  if (band.epoch.has_value()) {
    constexpr double rounding = 1e-9;
    row = std::find_if(history.begin(), history.end(), [&](const HistoryRow& each) {
      return each.epoch >= *band.epoch - rounding;
    });
  } else if (history.size() >= rows && rows > 0) {
    row = history.begin() + static_cast<std::ptrdiff_t>(rows) - 1;
  } else {
    row = history.end();
  }
  if (row == history.end()) {
    return std::nullopt;
  }
  const auto found = std::find_if(columns().begin(), columns().end(), [&](const auto& c) {
    return c.first == band.column;
  });
  return found->second(*row);
}

}  // namespace

std::vector<Band> read_case_check(const std::string& path) {
  InputDeck deck = InputDeck::from_file(path);
  deck.check(case_schema());
  deck.throw_complaints();
  std::vector<Band> bands;
  for (const DeckTable& table : deck.tables("band")) {
    bands.push_back({text(table, "column"),
                     number(table, "epoch"),
                     number(table, "below").value_or(0),
                     number(table, "above").value_or(0),
                     text(table, "reason")});
  }
  CROSSBOW_VALIDATE(
      !bands.empty(),
      ExitCode::usage,
      {"the case has no band", "it could not fail", path, "Add at least one [[band]]"});
  return bands;
}

std::vector<HistoryRow> median_history(const std::vector<std::vector<HistoryRow>>& runs) {
  std::size_t rows = runs.empty() ? 0 : runs.front().size();
  for (const std::vector<HistoryRow>& run : runs) {
    rows = std::min(rows, run.size());
  }
  std::vector<HistoryRow> medians;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<const HistoryRow*> row;
    for (const std::vector<HistoryRow>& run : runs) {
      row.push_back(&run[i]);
      CROSSBOW_VALIDATE(
          run[i].samples == runs.front()[i].samples,
          ExitCode::data,
          {"the runs cannot be compared",
           fmt::format("row {} is after {} samples in one and {} in another",
                       i + 1,
                       runs.front()[i].samples,
                       run[i].samples),
           "",
           "Name runs of one deck that differ in their seeds only"});
    }
    medians.push_back(median_row(row));
  }
  return medians;
}

std::vector<BandResult> check_bands(const std::vector<Band>& bands,
                                    const std::vector<HistoryRow>& measured,
                                    const std::vector<HistoryRow>& reference) {
  std::vector<BandResult> results;
  for (const Band& band : bands) {
    BandResult result;
    result.band = band;
    result.reference = value_of(band, reference, reference.size());
    result.measured = value_of(band, measured, reference.size());
    // Written so that a NaN is not good.
    result.good = result.measured.has_value() && result.reference.has_value() &&
                  *result.measured >= *result.reference - band.below &&
                  *result.measured <= *result.reference + band.above;
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace crossbow
