#pragma once
// A training whose number of learners is found while it runs: segments of training, each
// with a fixed number, which go on from each other's states in memory. A learner that the
// segment before did not have starts from z with zero velocity, and the stream of batches
// goes on where it stood (training_state.hpp).

#include <functional>

#include "training/auto_tuner.hpp"
#include "training/trainer.hpp"

namespace crossbow {

struct TuningSetup {
  TunerOptions tuner;
  int devices = 1;
  double window = 0.1;  // of time, that images/s are measured over [s]
  /// What a trainer with so many learners is made for; throws std::bad_alloc where there
  /// is not enough memory for them.
  std::function<TrainerOptions(const LearnerCounts&)> options_for;
};

/// Run training like train() in trainer.hpp, on the execution space of the threads that
/// are tried. What `observer` is told and asks for is that of one training; segments show
/// in tuned(), and as learners of a test or of the progress. Learners that there is no
/// memory for are an answer, unless there is nothing else to go on with.
TrainingEnd train_tuned(const TuningSetup& setup,
                        const SampleSet& training_set,
                        const SampleSet& test_set,
                        const TrainingState* state,
                        TrainingObserver& observer);

}  // namespace crossbow
