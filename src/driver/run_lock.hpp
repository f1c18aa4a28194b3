#pragma once
// One run at a time in an output folder, on whatever machine. The lock is a file that
// names its owner. flock() tells whether the owner lives where the file system can; where
// it cannot (no locks, or locks that other machines do not see) the owner's pulse does:
// the file's time, which it sets again and again.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/notice.hpp"

namespace crossbow {

/// How often an owner shows that it lives, and how long it is listened for.
struct LockPulse {
  std::chrono::milliseconds beat = std::chrono::seconds(2);
  std::chrono::milliseconds patience = std::chrono::seconds(10);
};

class RunLock {
 public:
  /// Take the lock at `path`. Throws Error(data) naming host and process of the owner
  /// where it is held, and where the file cannot be written. A lock that a killed run has
  /// left is taken over, and `notice` told; blocks for pulse.patience if only silence
  /// shows it.
  RunLock(const std::string& path, const Notice& notice, const LockPulse& pulse = {});
  /// Give it back.
  ~RunLock();

  /// Whether another run has taken it over, having felt no pulse (a suspended process),
  /// or having come at the same moment where flock() tells nothing.
  bool is_lost() const { return is_lost_.load(); }
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;
  RunLock(RunLock&&) = delete;
  RunLock& operator=(RunLock&&) = delete;

 private:
  void open_file();
  void take(const Notice& notice);
  void beat();

  std::string path_;
  LockPulse pulse_;
  int file_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ends_ = false;
  std::atomic<bool> is_lost_{false};
  std::thread heart_;
};

}  // namespace crossbow
