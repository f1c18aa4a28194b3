#pragma once
// Where the time of a round goes: each layer forward and backward, data, loss, update.
// For one learner by itself, since only then is a layer's time its own.

#include <cstdint>
#include <vector>

#include "training/trainer.hpp"

namespace crossbow {

/// Times of a layer in a round [s].
struct LayerTime {
  double forward = 0, backward = 0;
};

/// Medians over the rounds that were measured [s]. What overlaps in a round that nobody
/// watches does not here: after each part the instance is waited for.
struct StepProfile {
  std::vector<LayerTime> layers;  // in the order of the network's plan
  double fill = 0;                // samples into the batch
  double loss = 0;                // softmax, loss and its gradient
  double check = 0;   // bad numbers looked for, the loss brought to the host, clipping
  double update = 0;  // the method's round: step, correction, average
  double round = 0;   // whole ones without such waits
  std::int64_t rounds = 0;  // of each kind

  /// All parts together.
  double sum() const;
};

/// Measure rounds of learner 0 of `options` alone, watched and unwatched by turns, for
/// about `seconds`. Blocks. Throws Error(numbers) where a round meets a NaN or Inf.
template <class Exec>
StepProfile profile_step(const TrainerOptions& options,
                         const SampleSet& samples,
                         double seconds);

}  // namespace crossbow
