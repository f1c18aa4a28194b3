#pragma once
// Between the memory of a running training and TrainingState: what goes into a checkpoint
// and how a learner starts from one.

#include "averaging/averaging_method.hpp"
#include "model/replica.hpp"
#include "training/training_state.hpp"

namespace crossbow {

/// Layouts of a replica's two vectors.
struct ReplicaLayouts {
  const ParameterLayout& parameters;
  const ParameterLayout& statistics;
};

/// Fill w_j, v_j and the statistics of learner j from `state`; a learner that it does not
/// know starts from z with zero velocity. Blocks. Throws Error(data) where a tensor is
/// missing or of another shape than the network's.
template <class Exec>
void place_replica(const Exec& exec,
                   const ReplicaLayouts& layouts,
                   const TrainingState& state,
                   int j,
                   const Replica<Exec>& replica);

/// Add copies of all vectors of a resting training to `state`, as they lie in memory.
/// Blocks.
template <class Exec>
void collect_tensors(const Exec& exec,
                     const ReplicaLayouts& layouts,
                     const ReplicaStore<Exec>& store,
                     const AveragingMethod<Exec>& method,
                     Span<Exec> average_statistics,
                     TrainingState& state);

}  // namespace crossbow
