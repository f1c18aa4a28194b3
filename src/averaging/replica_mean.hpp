#pragma once
// Means over the learners' replicas, whole or each learner its share.

#include "averaging/reduction_executor.hpp"
#include "model/parameter_layout.hpp"
#include "model/replica.hpp"

namespace crossbow {

/// The part of a vector of `elements` that learner j of k works on where each does a
/// share: whole cache lines, none with more learners than lines.
inline Chunk share_of_learner(std::int64_t elements, int j, int k) {
  const std::int64_t lines = elements / parameter_alignment;
  const std::int64_t first = j * lines / k * parameter_alignment;
  const std::int64_t last = (j + 1) * lines / k * parameter_alignment;
  return {j, first, last - first};
}

/// At rest: z = mean of w_j, touching no replica; done on return.
template <class Exec>
void mean_of_replicas(const Exec& exec, const ReplicaStore<Exec>& store, Span<Exec> z) {
  scaled_sum<Exec>(exec,
                   1.0F / static_cast<float>(store.learners()),
                   store.all_weights(),
                   z,
                   store.average_not_finite());
  exec.fence("crossbow::mean_of_replicas");
}

}  // namespace crossbow
