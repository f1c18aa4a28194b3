#pragma once
// What happens in which round, as a pure function of its number: rate, averaging, tests,
// checkpoints and the end. All learners ask for themselves and get the same answer.

#include <cstdint>

#include "averaging/averaging_method.hpp"
#include "training/learning_rate.hpp"
#include "training/restart.hpp"
#include "training/training_options.hpp"

namespace crossbow {

/// What the schedule depends on.
struct ScheduleInput {
  TrainingOptions training;
  OptimizerOptions optimizer;
  AveragingOptions averaging;
  double checkpoint_epochs = 0;        // 0: none but at the end
  int learners = 1;                    // k
  std::int64_t samples_per_epoch = 1;  // floor(N/b) b
};

/// One round.
struct RoundPlan {
  RoundRule rule;
  double rate = 0;          // of rule.step, before rounding to float
  RestartRound restart;     // what decides about a restart of averaging
  bool test = false;        // after the round; the last round always tests
  bool checkpoint = false;  // after the round
};

class RoundSchedule {
 public:
  explicit RoundSchedule(const ScheduleInput& input);

  /// Rounds of the whole training: the last is the first to reach `epochs`.
  std::int64_t rounds() const { return rounds_; }
  /// Samples that all learners have taken after `round` rounds.
  std::int64_t samples_after(std::int64_t round) const {
    return round * samples_per_round_;
  }
  double epochs_after(std::int64_t round) const;
  /// The first round that at least so many epochs precede.
  std::int64_t first_round_after(double epochs) const;
  /// Whether all learners rest after round t, for a test or a checkpoint.
  bool rests_after(std::int64_t t) const { return tests_after(t) || saves_after(t); }
  /// Round t, from 1.
  RoundPlan plan(std::int64_t t) const;

 private:
  bool tests_after(std::int64_t t) const {
    return t == rounds_ || reaches(test_every_, t);
  }
  bool saves_after(std::int64_t t) const {
    return t == rounds_ || reaches(checkpoint_every_, t);
  }
  bool reaches(std::int64_t every, std::int64_t t) const;

  ScheduleInput input_;
  LearningRate rate_;
  std::int64_t samples_per_round_, rounds_, test_every_, checkpoint_every_;
};

}  // namespace crossbow
