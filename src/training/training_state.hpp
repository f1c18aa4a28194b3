#pragma once
// Everything that the future of a training run depends on, in exchange layout: what a
// checkpoint holds and what a run starts from.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/parameter_layout.hpp"
#include "training/learner_counts.hpp"

namespace crossbow {

/// Tensors are named
///   average/<tensor>             z
///   previous/<tensor>            z_prev, where the method has momentum of z
///   replica<j>/<tensor>          w_j; a learner without one starts from z
///   velocity<j>/<tensor>         v_j; without one: 0
///   statistics<j>/<tensor>       running ones of w_j (batch norm); without: z's
///   average_statistics/<tensor>  of z; without: mean 0, variance 1
struct TrainingState {
  std::int64_t round = 0;               // rounds done
  std::int64_t samples = 0;             // taken by all learners in them
  std::int64_t last_round_samples = 0;  // of these in the last round
  std::int64_t samples_per_epoch = 1;   // then: floor(N/b) b
  double seconds = 0;                   // of training, tests excluded
  bool restart_pending = false;         // see AveragingRestart
  NamedTensors tensors;
  PackedTensors packed;                // of these, what nobody has unpacked yet
  std::optional<TunedLearners> tuned;  // by the auto-tuner

  // Since the last row of the history: what the next row's means are taken over.
  std::int64_t row_samples = 0;
  double row_seconds = 0;
  std::int64_t losses = 0;        // batches that learners have had since
  std::vector<double> loss_sums;  // by learner: sum of the mean losses of its batches

  /// Have everything in `tensors`.
  void unpack() { packed.unpack(tensors); }
};

/// The state before the first round: weights as `seed` has them.
TrainingState initial_state(const ParameterLayout& parameters,
                            const ParameterLayout& statistics,
                            std::uint64_t seed);

/// Forget the replicas and what a method knows but z: a training by another method starts
/// from it, all w_j = z_prev = z, with zero velocities.
void keep_average_only(TrainingState& state);

}  // namespace crossbow
