#pragma once
// How many learners a device has, and how many threads each of them: what the auto-tuner
// looks for, and what a checkpoint keeps of its answer.

#include <compare>

namespace crossbow {

struct LearnerCounts {
  int per_device = 1;
  int threads = 1;  // of each learner

  auto operator<=>(const LearnerCounts&) const = default;
};

/// What the auto-tuner has settled on, and where.
struct TunedLearners {
  LearnerCounts counts;
  double images_per_second = 0;
  int cores = 1;  // of the device with the fewest

  bool operator==(const TunedLearners&) const = default;
};

}  // namespace crossbow
