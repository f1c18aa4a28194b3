#pragma once
// What a trainer tells while it runs, and what it is told: tests, progress, checkpoints,
// stops.

#include <cstdint>

#include "training/auto_tuner.hpp"
#include "training/training_state.hpp"

namespace crossbow {

/// One test of z: a row of history.csv.
struct TestResult {
  double epoch = 0;
  std::int64_t samples = 0, rounds = 0;
  double seconds = 0;  // training since the start, tests excluded [s]
  double rate = 0;     // of the last round
  int learners = 1;
  double train_loss = 0;  // mean over all batches since the row before
  double test_loss = 0;
  double test_accuracy = 0;  // share of the test set
  double images_per_second = 0;
};

/// What is to be done after a test.
struct TestVerdict {
  bool reached = false;  // the goal: stop
  bool save = false;     // a checkpoint of what was tested
};

/// A glance at a run.
struct TrainingProgress {
  double epoch = 0, epochs = 0;
  double images_per_second = 0;
  int learners = 1;
  double loss = 0;          // of learner 0's last batch
  double seconds_left = 0;  // at this speed [s]
};

/// A decision of the auto-tuner: a row of tuner.csv.
struct TuningEvent {
  std::int64_t round = 0, samples = 0;  // done by then
  double seconds = 0;                   // of training [s]
  double searched = 0;                  // of these by searches [s]
  int learners = 1;                     // in all, that it is about
  TunerDecision decision;
};

/// Functions with an empty body need not be overridden. Except for round_done they are
/// called by one thread at a time.
class TrainingObserver {
 public:
  virtual ~TrainingObserver() = default;

  /// Before the first round, if learners could not be bound to their cores.
  virtual void not_bound() {}
  /// Learner j has done round t; mean loss of its batch before its step. Called by each
  /// learner's own thread.
  virtual void round_done(int /*j*/, std::int64_t /*t*/, double /*loss*/) {}
  /// A few times a second.
  virtual void progress(const TrainingProgress& /*progress*/) {}
  /// Between rounds: whether to stop soon, with a checkpoint.
  virtual bool stop_requested() { return false; }
  /// Between rounds: whether to save soon, whatever the schedule says; once true it stays
  /// true until checkpoint().
  virtual bool checkpoint_requested() { return false; }
  /// After each test.
  virtual TestVerdict tested(const TestResult& /*result*/) { return {}; }
  /// The auto-tuner has decided something.
  virtual void tuned(const TuningEvent& /*event*/) {}
  /// All learners rest: save this. The state is the callee's, not unpacked yet.
  virtual void checkpoint(TrainingState&& /*state*/) {}
};

}  // namespace crossbow
