#pragma once
// The folder that a run writes into: one run at a time, and nothing of an earlier run is
// lost.

#include <optional>
#include <string>

#include "base/notice.hpp"

#include "driver/run_lock.hpp"

namespace crossbow {

/// Make `path` with all folders above it, unless it is there. Throws Error(data).
void make_folder(const std::string& path);

/// Holds the folder for this process until it ends.
class OutputFolder {
 public:
  /// Create `path`, or take it over as it is. Throws Error(data) where it cannot be made
  /// or another run writes into it.
  OutputFolder(const std::string& path, const Notice& notice);
  ~OutputFolder() = default;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  OutputFolder(OutputFolder&&) = delete;
  OutputFolder& operator=(OutputFolder&&) = delete;

  /// Rename the folder to <path>.1, .2, ... and make a new one if an earlier run left its
  /// history or checkpoints there. Throws Error(data) where that cannot be.
  void move_earlier_run_aside(const Notice& notice);

  /// Whether another run has taken the folder over.
  bool is_lost() const { return lock_->is_lost(); }

  /// Path of `name` inside.
  std::string file(const std::string& name) const;

 private:
  void check_file(const std::string& name) const;
  void lock(const Notice& notice);

  std::string path_;
  std::optional<RunLock> lock_;
};

}  // namespace crossbow
