#pragma once
// How fast a training goes, a few times a second, between one rest and the next.

#include <cstdint>

#include "base/scoped_timer.hpp"

#include "training/round_schedule.hpp"
#include "training/training_observer.hpp"

namespace crossbow {

class ProgressMeter {
 public:
  /// `schedule` outlives it.
  ProgressMeter(const RoundSchedule& schedule, int learners, std::int64_t round)
      : schedule_(schedule), learners_(learners), round_(round) {}

  /// Measure from here on: `round` rounds are done.
  void restart(std::int64_t round) {
    round_ = round;
    watch_.restart();
  }
  /// Whether after round t it is long enough ago that it was looked at [0.25 s]. A
  /// learner that goes at its own pace may take several batches of one round.
  bool is_due(std::int64_t t) const { return t > round_ && watch_.seconds() >= 0.25; }
  /// The speed since then, after round t with this loss; measures from here on.
  TrainingProgress look(std::int64_t t, double loss) {
    const auto samples_between = [&](std::int64_t from, std::int64_t to) {
      return static_cast<double>(schedule_.samples_after(to) -
                                 schedule_.samples_after(from));
    };
    TrainingProgress progress;
    progress.epoch = schedule_.epochs_after(t);
    progress.epochs = schedule_.epochs_after(schedule_.rounds());
    progress.learners = learners_;
    progress.loss = loss;
    progress.images_per_second = samples_between(round_, t) / watch_.seconds();
    progress.seconds_left =
        samples_between(t, schedule_.rounds()) / progress.images_per_second;
    restart(t);
    return progress;
  }

 private:
  const RoundSchedule& schedule_;
  int learners_;
  std::int64_t round_;
  Stopwatch watch_;
};

}  // namespace crossbow
