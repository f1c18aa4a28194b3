#pragma once
// Where learners decide to stop, or to rest. They run at different rounds, so either is a
// round number that nobody has passed: all finish it and none begins the next before.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

namespace crossbow {

/// What a learner that wants to begin a round does first.
struct GateAnswer {
  enum class Kind { go, rest, stop };
  Kind kind = Kind::go;
  std::int64_t round = 0;  // rest: after this round

  bool operator==(const GateAnswer&) const = default;
};

class RoundGate {
 public:
  /// Learners have finished `round` rounds, and stop after `last` at the latest.
  RoundGate(int learners, std::int64_t round, std::int64_t last)
      : begun_(static_cast<std::size_t>(learners), round),
        finished_(begun_),
        last_(last),
        rested_(round) {}

  /// Learner j wants to begin round t. It rests before, if `scheduled` (none: 0) or a
  /// rest asked for is the next round that all rest after; to be called again then.
  /// Whoever rests has passed that round, as far as later stops and rests are concerned.
  GateAnswer enter(int j, std::int64_t t, std::int64_t scheduled = 0) {
    const std::lock_guard lock(mutex_);
    std::int64_t rest = scheduled > 0 ? scheduled : t;
    if (rest_ > 0) {
      rest = std::min(rest, rest_);
    }
    std::int64_t& begun = begun_[static_cast<std::size_t>(j)];
    const std::int64_t next = std::min(rest, t);
    if (next > last_) {
      return {GateAnswer::Kind::stop};
    }
    begun = std::max(begun, next);
    return rest < t ? GateAnswer{GateAnswer::Kind::rest, rest} : GateAnswer{};
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
    last_ = std::min(last_, furthest());
  }

  /// Have all rest as soon as they stand after the same round. A rest that is asked for
  /// already stays where it is; nobody rests twice after a round.
  void ask_for_rest() {
    const std::lock_guard lock(mutex_);
    const std::int64_t next = std::min(last_, furthest());
    if (rest_ == 0 && next > rested_) {
      rest_ = next;
    }
  }

  /// All rest after round t: return whether that was asked for, and forget it.
  bool take_rest(std::int64_t t) {
    const std::lock_guard lock(mutex_);
    const bool asked = rest_ == t;
    rested_ = t;
    if (asked) {
      rest_ = 0;
    }
    return asked;
  }

  /// Learner j has failed in round t: stop, and block until all others have finished that
  /// round, so that everybody who failed in it has said so.
  void stop_and_wait_for(int j, std::int64_t t) {
    std::unique_lock lock(mutex_);
    last_ = std::min(last_, furthest());
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
  std::int64_t furthest() const {
    return *std::max_element(begun_.begin(), begun_.end());
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::int64_t> begun_, finished_;
  std::int64_t last_;
  std::int64_t rested_;    // the last round after which all have rested
  std::int64_t rest_ = 0;  // the round after which all rest as asked for; 0: none
  int waiting_ = 0;
};

}  // namespace crossbow
