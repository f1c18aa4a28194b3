#include "training/learning_rate.hpp"

#include <algorithm>
#include <cmath>

#include "base/contract.hpp"

namespace crossbow {
namespace {

bool is_step_policy(SchedulePolicy policy) {
  switch (policy) {
    case SchedulePolicy::multistep:
      return true;
    case SchedulePolicy::fixed:
      break;
  }
  return false;
}

}  // namespace

std::int64_t to_samples(double epochs, std::int64_t samples_per_epoch) {
  CROSSBOW_EXPECT(epochs >= 0 && samples_per_epoch > 0);
  return std::llround(epochs * static_cast<double>(samples_per_epoch));
}

std::vector<std::int64_t> rate_boundaries(const ScheduleOptions& schedule,
                                          std::int64_t samples_per_epoch) {
  std::vector<std::int64_t> boundaries;
  if (schedule.policy == SchedulePolicy::multistep) {
    for (const double step : schedule.steps) {
      boundaries.push_back(to_samples(step, samples_per_epoch));
    }
    std::sort(boundaries.begin(), boundaries.end());
  }
  return boundaries;
}

double learning_rate(const OptimizerOptions& options,
                     std::int64_t samples_before_round,
                     std::int64_t samples_per_epoch) {
  double rate = options.learning_rate;
  for (const std::int64_t boundary :
       rate_boundaries(options.schedule, samples_per_epoch)) {
    if (boundary <= samples_before_round) {
      rate *= options.schedule.gamma;  // one after the other, to round as PyTorch does
    }
  }
  return rate;
}

bool rate_changed_between(const OptimizerOptions& options,
                          std::int64_t samples_before_previous,
                          std::int64_t samples_before_round,
                          std::int64_t samples_per_epoch) {
  return is_step_policy(options.schedule.policy) &&
         learning_rate(options, samples_before_previous, samples_per_epoch) !=
             learning_rate(options, samples_before_round, samples_per_epoch);
}

}  // namespace crossbow
