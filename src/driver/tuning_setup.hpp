#pragma once
// From a deck with learners.per_device = "auto" to what the auto-tuner needs.

#include "driver/prepared_run.hpp"
#include "training/tuned_training.hpp"

namespace crossbow {

/// The most learners that the auto-tuner may have on each device.
int most_learners_per_device(const PreparedRun& run);

/// What to tune `run` by. Whenever other numbers of learners are tried, its devices and
/// trainer's options become theirs, so that records and checkpoints tell of these; `run`
/// outlives the result.
TuningSetup tuning_setup(PreparedRun& run);

}  // namespace crossbow
