#pragma once
// A regression case's bands (check.toml) and whether runs keep them: what `crossbow
// compare` does, and with it the regression suite.

#include <optional>
#include <string>
#include <vector>

#include "io/history_file.hpp"

namespace crossbow {

/// How far a column of the history may be from the reference's.
struct Band {
  std::string column;           // of history.csv
  std::optional<double> epoch;  // the first row that reaches it; none: the last row
  double below = 0, above = 0;  // absolute, from the reference's value
  std::string reason;           // where the width comes from
};

/// Read the bands of `path`; throw Error(usage) with all complaints where it is not
/// valid.
std::vector<Band> read_case_check(const std::string& path);

/// Row by row the median of each column over several runs of one deck. Throws Error(data)
/// where their rows are not after the same samples.
std::vector<HistoryRow> median_history(const std::vector<std::vector<HistoryRow>>& runs);

/// A band and what came out.
struct BandResult {
  Band band;
  std::optional<double> measured, reference;  // none: the row or its value is missing
  bool good = false;
};

/// Compare a history with a reference. A row that the reference has and the history has
/// not is not good for any band on it.
std::vector<BandResult> check_bands(const std::vector<Band>& bands,
                                    const std::vector<HistoryRow>& measured,
                                    const std::vector<HistoryRow>& reference);

}  // namespace crossbow
