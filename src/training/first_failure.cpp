#include "training/first_failure.hpp"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace crossbow {

void FirstFailure::add(int learner, std::int64_t round, std::exception_ptr error) {
  const std::lock_guard lock(mutex_);
  if (error_ == nullptr || std::tie(round, learner) < std::tie(round_, learner_)) {
    round_ = round;
    learner_ = learner;
    error_ = std::move(error);
  }
}

void FirstFailure::rethrow() const {
  const std::lock_guard lock(mutex_);
  if (error_ != nullptr) {
    std::rethrow_exception(error_);
  }
}

std::exception_ptr bad_number(const std::string& what,
                              const std::string& whose,
                              const RoundPlan& round) {
  const ErrorText text = {
      what + " is not finite",
      fmt::format(
          "{}, round {}, learning rate {:g}", whose, round.rule.number, round.rate),
      "",
      "Lower optimizer.learning_rate; z and the last checkpoint are as they were before"};
  return std::make_exception_ptr(Error(ExitCode::numbers, text));
}

std::exception_ptr no_thread(int j, const std::string& why) {
  return std::make_exception_ptr(
      NoThread(ExitCode::usage,
               {fmt::format("the thread of learner {} cannot be started", j),
                why,
                "",
                "Lower learners.per_device, or ask for a higher limit of processes"}));
}

}  // namespace crossbow
