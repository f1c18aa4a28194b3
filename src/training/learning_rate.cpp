#include "training/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/contract.hpp"

namespace crossbow {

std::int64_t to_samples(double epochs, std::int64_t samples_per_epoch) {
  CROSSBOW_EXPECT(epochs >= 0 && samples_per_epoch > 0);
  return std::llround(epochs * static_cast<double>(samples_per_epoch));
}

LearningRate::LearningRate(const OptimizerOptions& options,
                           double epochs,
                           std::int64_t samples_per_epoch)
    : rate_(options.learning_rate),
      schedule_(options.schedule),
      samples_per_epoch_(samples_per_epoch),
      warmup_(to_samples(options.schedule.warmup_epochs, samples_per_epoch)),
      end_(to_samples(epochs, samples_per_epoch)) {
  for (const double step : schedule_.steps) {
    multisteps_.push_back(to_samples(step, samples_per_epoch));
  }
  std::sort(multisteps_.begin(), multisteps_.end());
}

std::int64_t LearningRate::steps_done(std::int64_t samples) const {
  if (schedule_.policy == SchedulePolicy::multistep) {
    return std::upper_bound(multisteps_.begin(), multisteps_.end(), samples) -
           multisteps_.begin();
  }
  if (schedule_.policy != SchedulePolicy::step) {
    return 0;
  }
  // The i-th step is at W + i size, rounded once: the estimate may be one too low or
  // high.
  const auto boundary = [&](std::int64_t i) {
    return to_samples(schedule_.warmup_epochs + static_cast<double>(i) * schedule_.size,
                      samples_per_epoch_);
  };
  const double epochs =
      static_cast<double>(samples - warmup_) / static_cast<double>(samples_per_epoch_);
  auto i = std::max<std::int64_t>(0, std::llround(epochs / schedule_.size));
  while (i > 0 && boundary(i) > samples) {
    --i;
  }
  while (boundary(i + 1) <= samples) {
    ++i;
  }
  return i;
}

double LearningRate::policy_rate(std::int64_t samples) const {
  const double since_warmup =
      static_cast<double>(std::max<std::int64_t>(0, samples - warmup_));
  const double epochs = since_warmup / static_cast<double>(samples_per_epoch_);
  const double share =
      end_ > warmup_ ? std::min(1.0, since_warmup / static_cast<double>(end_ - warmup_))
                     : 0.0;
  const ScheduleOptions& s = schedule_;
  switch (s.policy) {
    case SchedulePolicy::fixed:
      break;
    case SchedulePolicy::multistep:
    case SchedulePolicy::step:
      return rate_ * std::pow(s.gamma, static_cast<double>(steps_done(samples)));
    case SchedulePolicy::exponential:
      return rate_ * std::pow(s.gamma, epochs);
    case SchedulePolicy::inverse:
      return rate_ * std::pow(1 + s.gamma * epochs, -s.power);
    case SchedulePolicy::polynomial:
      return rate_ * std::pow(1 - share, s.power);
    case SchedulePolicy::cosine:
      return s.minimum +
             (rate_ - s.minimum) * (1 + std::cos(std::numbers::pi * share)) / 2;
  }
  return rate_;
}

double LearningRate::at(std::int64_t samples_before_round) const {
  const double rate = policy_rate(samples_before_round);
  if (samples_before_round >= warmup_) {
    return rate;
  }
  const double done =
      static_cast<double>(samples_before_round) / static_cast<double>(warmup_);
  return rate * (schedule_.warmup_factor + (1 - schedule_.warmup_factor) * done);
}

bool LearningRate::steps_between(std::int64_t samples_before_previous,
                                 std::int64_t samples_before_round) const {
  return schedule_.gamma != 1 &&
         steps_done(samples_before_previous) != steps_done(samples_before_round);
}

}  // namespace crossbow
