#pragma once
// The learning rate as a pure function of the samples taken before a round (DESIGN 2,
// "Learning rate"): no counter that a restart could lose, no dependence on learners or
// batch. A length given in epochs becomes a sample count once, here, rounded to nearest.

#include <cstdint>
#include <vector>

#include "training/training_options.hpp"

namespace crossbow {

/// Turn a length in epochs into samples, rounded to nearest.
std::int64_t to_samples(double epochs, std::int64_t samples_per_epoch);

/// The rate of a whole training. With e epochs done, E in all, W of them warm-up, r the
/// deck's learning rate and p = (e - W)/(E - W):
///   fixed        r
///   multistep    r gamma^n, n of `steps` (from the start) reached
///   step         r gamma^floor((e - W)/size)
///   exponential  r gamma^(e - W)
///   inverse      r (1 + gamma (e - W))^-power
///   polynomial   r (1 - p)^power
///   cosine       minimum + (r - minimum) (1 + cos(pi p))/2
/// Before W it is the policy's first value times a factor that rises linearly from
/// warmup_factor to 1.
class LearningRate {
 public:
  LearningRate(const OptimizerOptions& options,
               double epochs,
               std::int64_t samples_per_epoch);

  /// Give the rate of the round that `samples_before_round` samples precede.
  double at(std::int64_t samples_before_round) const;

  /// Tell whether a step policy (multistep, step) changes the rate from the round that
  /// `samples_before_previous` samples precede to the one that `samples_before_round`
  /// precede: what restarts averaging. Always false for smooth policies and warm-up.
  bool steps_between(std::int64_t samples_before_previous,
                     std::int64_t samples_before_round) const;

 private:
  /// How often a step policy has stepped.
  std::int64_t steps_done(std::int64_t samples) const;
  /// The rate but for the warm-up's factor; W and later.
  double policy_rate(std::int64_t samples) const;

  double rate_;
  ScheduleOptions schedule_;
  std::int64_t samples_per_epoch_;
  std::int64_t warmup_, end_;             // [samples]
  std::vector<std::int64_t> multisteps_;  // [samples], ascending
};

}  // namespace crossbow
