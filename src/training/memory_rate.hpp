#pragma once
// What the learners get of memory while all of them stream at once: the rate that the
// counted bytes of averaging are held against (averaging/averaging_traffic.hpp).

#include "training/trainer.hpp"

namespace crossbow {

/// Measure the rate at which `options.learners` instances of Exec together add two arrays
/// into a third, each in a thread on its learner's cores [GB/s]. As STREAM does, counts
/// two arrays read and one written, larger in all than the caches; gives the median of a
/// few turns. Blocks for about a second. Throws Error(usage) where the system gives no
/// thread.
template <class Exec>
double memory_rate(const TrainerOptions& options);

}  // namespace crossbow
