#pragma once
// Checkpoints as HDF5 files (io/README.md has the format): any tensors and any values, by
// name. What must be in one is the driver's business; this file sees that it comes back
// bit by bit, or not at all. Every data set has a checksum and the whole a SHA-256.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/notice.hpp"

namespace crossbow {

struct Checkpoint {
  /// Values in the exchange layout, row-major; names may have '/', e.g.
  /// "average/conv1.weight".
  std::map<std::string, std::vector<float>> tensors;
  /// Shape of each tensor: the same names.
  std::map<std::string, std::vector<std::int64_t>> shapes;
  /// Values by name; a name is used in one of the three only, and not "format",
  /// "version", "sha256".
  std::map<std::string, std::int64_t> integers;
  std::map<std::string, double> numbers;
  std::map<std::string, std::string> texts;
};

/// Write atomically: the file appears whole, on the disk, or not at all, and one that was
/// there stays. Throws Error(data) with path, reason, bytes needed and bytes free;
/// Error(numbers) if a tensor has a NaN or Inf (a bad state is never saved);
/// Error(internal_error) for names or shapes that do not fit.
void write_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// Read and verify everything; throw Error(data) with path and reason.
Checkpoint read_checkpoint(const std::string& path);

/// Return "folder/round-000000042.h5" for round 42.
std::string checkpoint_path(const std::string& folder, std::int64_t round);

/// Return path and content of the file with the highest round that is whole; none if the
/// folder has no checkpoint or does not exist. A damaged one is told to `notice` and the
/// one before is taken. Throws Error(data) if there are files but none is whole: starting
/// afresh over them must be the user's own decision.
std::optional<std::pair<std::string, Checkpoint>> newest_checkpoint(
    const std::string& folder, const Notice& notice);

/// Remove all but the `keep` newest checkpoints up to that of `round`, the one just
/// written; those of later rounds, which a resumed run left out as damaged; and what
/// interrupted writes left behind more than ten minutes ago. A file that cannot be
/// removed is left.
void prune_checkpoints(const std::string& folder, int keep, std::int64_t round);

}  // namespace crossbow
