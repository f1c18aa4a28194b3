#pragma once
// Dropout (inverted: kept values are scaled by 1/(1 - p), so that evaluation does
// nothing).

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// Which numbers decide: a value of a sample is dropped by (seed, tensor, epoch, sample
/// id, its index in the sample) alone, never by the learner or the slot that the sample
/// came to.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint64_t tensor = 0;  // hash of the layer's name
  std::int64_t n = 1;        // samples
  std::int64_t size = 1;     // values per sample
  float probability = 0.5F;  // share of values set to zero, 0 <= p < 1
};

/// y = x / (1 - p) or 0; x and y may be the same array. The backward pass is the same
/// call with dy and dx: the mask is computed again. sample_ids and epochs (n): of the
/// batch.
template <class Exec>
void dropout(const Exec& exec,
             const DropoutKey& key,
             ConstSpan<Exec, std::int64_t> sample_ids,
             ConstSpan<Exec, std::int64_t> epochs,
             ConstSpan<Exec> x,
             Span<Exec> y);

}  // namespace crossbow
