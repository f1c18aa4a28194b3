#pragma once
// Measures the seconds a scope takes, on the clock that nobody sets back.

#include <chrono>

namespace crossbow {

/// Count seconds from its making on.
class Stopwatch {
 public:
  /// Return the time since the making or the last restart [s].
  double seconds() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
  }
  /// Count from zero again; return what was counted before [s].
  double restart() {
    const Clock::time_point now = Clock::now();
    const double counted = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return counted;
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

/// Add the time between its making and its end to `total` [s].
class ScopedTimer {
 public:
  explicit ScopedTimer(double& total) : total_(total) {}
  ~ScopedTimer() { total_ += watch_.seconds(); }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;
  ScopedTimer(ScopedTimer&&) = delete;
  ScopedTimer& operator=(ScopedTimer&&) = delete;

  /// Return the time since the making [s].
  double seconds() const { return watch_.seconds(); }

 private:
  double& total_;
  Stopwatch watch_;
};

}  // namespace crossbow
