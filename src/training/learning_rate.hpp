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

/// Give the sample counts, ascending, at which a step policy steps; none for other
/// policies. The first round with so many samples, or more, before it has the new rate.
std::vector<std::int64_t> rate_boundaries(const ScheduleOptions& schedule,
                                          std::int64_t samples_per_epoch);

/// Give the rate gamma of the round that `samples_before_round` samples precede.
double learning_rate(const OptimizerOptions& options,
                     std::int64_t samples_before_round,
                     std::int64_t samples_per_epoch);

/// Tell whether a step policy changes the rate from the round that
/// `samples_before_previous` samples precede to the one that `samples_before_round`
/// precede: what restarts averaging. Always false for smooth policies.
bool rate_changed_between(const OptimizerOptions& options,
                          std::int64_t samples_before_previous,
                          std::int64_t samples_before_round,
                          std::int64_t samples_per_epoch);

}  // namespace crossbow
