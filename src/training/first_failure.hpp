#pragma once
// Which of several learners' failures a run reports: the same one whatever the timing.

#include <cstdint>
#include <exception>
#include <mutex>
#include <string>

#include "base/error.hpp"

#include "training/round_schedule.hpp"

namespace crossbow {

/// Of all that went wrong the earliest round counts, then the lowest learner. Any thread
/// may add to it.
class FirstFailure {
 public:
  void add(int learner, std::int64_t round, std::exception_ptr error);
  /// Throw it, if there is one.
  void rethrow() const;

 private:
  mutable std::mutex mutex_;
  std::int64_t round_ = 0;
  int learner_ = 0;
  std::exception_ptr error_;
};

/// The Error(numbers) of a round in which `what`, of `whose`, has a NaN or Inf.
std::exception_ptr bad_number(const std::string& what,
                              const std::string& whose,
                              const RoundPlan& round);

/// The Error(usage) of a system that gives no thread to a learner.
class NoThread : public Error {
 public:
  using Error::Error;
};

/// The NoThread of learner j.
std::exception_ptr no_thread(int j, const std::string& why);

}  // namespace crossbow
