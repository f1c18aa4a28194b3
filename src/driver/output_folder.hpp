#pragma once
// The folder that a run writes into: one run at a time, and nothing of an earlier run is
// lost.

#include <string>

#include "base/notice.hpp"

namespace crossbow {

/// Make `path` with all folders above it, unless it is there. Throws Error(data).
void make_folder(const std::string& path);

/// Holds the folder for this process until it ends.
class OutputFolder {
 public:
  /// Create `path`, or take it over: on `resume` as it is, else what an earlier run left
  /// there is moved aside to <path>.1, .2, ... Throws Error(data) where it cannot be made
  /// or another process writes into it.
  OutputFolder(const std::string& path, bool resume, const Notice& notice);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  OutputFolder(OutputFolder&&) = delete;
  OutputFolder& operator=(OutputFolder&&) = delete;

  /// Path of `name` inside.
  std::string file(const std::string& name) const;

 private:
  void lock();

  std::string path_;
  int lock_ = -1;
};

}  // namespace crossbow
