#pragma once
// Dropout as plain loops: what the other implementations are tested on.

#include <cstdint>

#include "base/random.hpp"

#include "kernels/dropout.hpp"

namespace crossbow::reference {

/// Whether value `index` of a sample is kept. (seed, tensor, epoch) make the seed of
/// (sample, index); four values share a block of random numbers.
inline bool dropout_keeps(const DropoutKey& key,
                          std::int64_t sample_id,
                          std::int64_t epoch,
                          std::int64_t index) {
  const std::uint64_t seed = random_u64(
      key.seed, RandomPurpose::dropout, key.tensor, static_cast<std::uint64_t>(epoch));
  const RandomBlock block = random_block(seed,
                                         RandomPurpose::dropout,
                                         static_cast<std::uint64_t>(sample_id),
                                         static_cast<std::uint64_t>(index / 4));
  return to_unit_float(block.word[index % 4]) >= key.probability;
}

/// The same as crossbow::dropout.
template <class Real>
void dropout(const DropoutKey& key,
             const std::int64_t* sample_ids,
             const std::int64_t* epochs,
             const Real* x,
             Real* y) {
  for (std::int64_t n = 0; n < key.n; ++n) {
    for (std::int64_t i = 0; i < key.size; ++i) {
      const bool kept = dropout_keeps(key, sample_ids[n], epochs[n], i);
      const Real value = x[n * key.size + i];
      y[n * key.size + i] =
          static_cast<Real>(kept ? value / (1 - static_cast<Real>(key.probability)) : 0);
    }
  }
}

}  // namespace crossbow::reference
