#pragma once
// The arithmetic of the update kernels, a block of elements at a time. On the host a work
// item is a block whose loops vectorise; on CUDA it is one element. The files that
// include this are compiled without contraction to fused multiply-adds: which code path
// computes a value must not change it.

#include <cstdint>

#include "kernels/sgd_update.hpp"
#include "kernels/spaces.hpp"

namespace crossbow::update {

/// Elements of a work item: eight arrays of a block fit a 32 KiB first-level cache.
template <class Exec>
inline constexpr std::int64_t block_size =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace> ? 1024 : 1;

inline constexpr std::uint32_t infinity_bits = 0x7F800000U;

/// |x| as bits: at least infinity_bits for Inf and NaN. Integers, so that loops over it
/// vectorise.
KOKKOS_INLINE_FUNCTION std::uint32_t magnitude(float x) {
  return Kokkos::bit_cast<std::uint32_t>(x) & 0x7FFFFFFFU;
}

KOKKOS_INLINE_FUNCTION std::uint32_t larger(std::uint32_t a, std::uint32_t b) {
  return a > b ? a : b;
}

/// Set the flag if `top`, the largest magnitude of a block, is not finite. Several
/// learners may set the same one (Kokkos::atomic_store reads the value before it, not
/// atomically).
template <class Exec>
KOKKOS_INLINE_FUNCTION void raise(std::uint32_t top, const NotFiniteFlag<Exec>& flag) {
  if (top >= infinity_bits) {
    KOKKOS_IF_ON_HOST((__atomic_store_n(flag.data(), 1U, __ATOMIC_RELAXED);))
    KOKKOS_IF_ON_DEVICE((Kokkos::atomic_store(flag.data(), 1U);))
  }
}

/// Make the velocity `v` of an element with gradient g and weight w the new one; give
/// what the rate is to be multiplied by.
KOKKOS_INLINE_FUNCTION float direction(const StepRule& rule, float g, float w, float& v) {
  const float decayed = g + rule.lambda * w;
  const float velocity = rule.eta * v + decayed;
  v = velocity;
  return rule.nesterov ? decayed + rule.eta * velocity : velocity;
}

/// Run body(first, count) over the blocks of n elements.
template <class Exec, class Body>
void for_each_block(const Exec& exec, const char* label, std::int64_t n, Body body) {
  constexpr std::int64_t size = block_size<Exec>;
  Kokkos::parallel_for(
      label,
      Kokkos::RangePolicy<Exec>(exec, 0, (n + size - 1) / size),
      KOKKOS_LAMBDA(const std::int64_t block) {
        const std::int64_t first = block * size;
        body(first, n - first < size ? n - first : size);
      });
}

/// out = a_0 + a_1 + ... over `count` elements from `first`, in this order; a_own is
/// taken from `own` instead where own is given (own has the block alone).
template <class Exec>
KOKKOS_INLINE_FUNCTION void sum_block(const Summands<Exec>& a,
                                      std::int64_t first,
                                      std::int64_t count,
                                      int own_index,
                                      const float* own,
                                      float* __restrict out) {
  for (int j = 0; j < a.count; ++j) {
    const float* __restrict part = j == own_index ? own : a.first + j * a.stride + first;
    if (j == 0) {
      for (std::int64_t i = 0; i < count; ++i) {
        out[i] = part[i];
      }
    } else {
      for (std::int64_t i = 0; i < count; ++i) {
        out[i] += part[i];
      }
    }
  }
}

}  // namespace crossbow::update
