#pragma once
// Where learners decide to stop. They run at different rounds, so a stop is a round
// number that nobody has passed: all finish it and none begins the next.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace crossbow {

class RoundGate {
 public:
  /// Learners have finished `round` rounds, and stop after `last` at the latest.
  RoundGate(int learners, std::int64_t round, std::int64_t last)
      : begun_(static_cast<std::size_t>(learners), round),
        finished_(begun_),
        last_(last) {}

  /// Learner j wants to begin round t: false if all stop before it.
  bool enter(int j, std::int64_t t) {
    const std::lock_guard lock(mutex_);
    if (t > last_) {
      return false;
    }
    begun_[static_cast<std::size_t>(j)] = t;
    return true;
  }

  /// Learner j has finished round t.
  void finish(int j, std::int64_t t) {
    const std::lock_guard lock(mutex_);
    finished_[static_cast<std::size_t>(j)] = t;
    if (waiting_ > 0) {
      changed_.notify_all();
    }
  }

  /// Learner j leaves early and finishes nothing more: nobody waits for it.
  void leave(int j) { finish(j, std::numeric_limits<std::int64_t>::max()); }

  /// Stop all as soon as they stand after the same round.
  void stop() {
    const std::lock_guard lock(mutex_);
    last_ = std::min(last_, *std::max_element(begun_.begin(), begun_.end()));
  }

  /// Learner j has failed in round t: stop, and block until all others have finished that
  /// round, so that everybody who failed in it has said so.
  void stop_and_wait_for(int j, std::int64_t t) {
    std::unique_lock lock(mutex_);
    last_ = std::min(last_, *std::max_element(begun_.begin(), begun_.end()));
    finished_[static_cast<std::size_t>(j)] = t;
    changed_.notify_all();
    ++waiting_;
    changed_.wait(
        lock, [&] { return *std::min_element(finished_.begin(), finished_.end()) >= t; });
    --waiting_;
  }

  /// The round that all stop after, as far as is known now.
  std::int64_t last() const {
    const std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> begun_, finished_;
  std::int64_t last_;
  int waiting_ = 0;
};

}  // namespace crossbow
