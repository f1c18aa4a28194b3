#pragma once
// What happens in which round, as a pure function of its number: rate, averaging, tests,
// checkpoints and the end. All learners ask for themselves and get the same answer.
// Rounds are those from the start on: what was before is known as far as the last one
// needs it.

#include <cstdint>

#include "averaging/averaging_method.hpp"
#include "training/learning_rate.hpp"
#include "training/restart.hpp"
#include "training/training_options.hpp"

namespace crossbow {

/// Where a training goes on: perhaps with more or fewer learners than before.
struct TrainingStart {
  std::int64_t round = 0;               // rounds done
  std::int64_t samples = 0;             // taken in them
  std::int64_t last_round_samples = 0;  // of these in the last round
};

/// What the schedule depends on.
struct ScheduleInput {
  TrainingOptions training;
  OptimizerOptions optimizer;
  AveragingOptions averaging;
  double checkpoint_epochs = 0;        // 0: none but at the end
  int learners = 1;                    // k
  std::int64_t samples_per_epoch = 1;  // floor(N/b) b
  TrainingStart start;
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
  /// Samples that all learners have taken after `round` rounds; start.round - 1 or later.
  std::int64_t samples_after(std::int64_t round) const {
    const TrainingStart& start = input_.start;
    return round < start.round
               ? start.samples - start.last_round_samples
               : start.samples + (round - start.round) * samples_per_round_;
  }
  double epochs_after(std::int64_t round) const;
  /// The first round that at least so many epochs precede; start.round if it is past.
  std::int64_t first_round_after(double epochs) const;
  /// Whether all learners rest after round t, for a test or a checkpoint.
  bool rests_after(std::int64_t t) const { return tests_after(t) || saves_after(t); }
  /// The first round after `round` and before t after which all learners rest; none: 0.
  std::int64_t next_rest(std::int64_t round, std::int64_t t) const {
    for (std::int64_t r = round + 1; r < t; ++r) {
      if (rests_after(r)) {
        return r;
      }
    }
    return 0;
  }
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
  std::int64_t rounds_to(std::int64_t samples) const;

  ScheduleInput input_;
  LearningRate rate_;
  std::int64_t samples_per_round_, rounds_, test_every_, checkpoint_every_;
};

}  // namespace crossbow
