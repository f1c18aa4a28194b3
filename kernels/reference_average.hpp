#pragma once
// The upper level of averaging in two levels (DESIGN 2.8): the devices' reference models
// q_d are pulled towards z, and z goes where they pull, with momentum.

#include "kernels/sgd_update.hpp"
#include "kernels/spaces.hpp"

namespace crossbow {

/// Arrays of n elements each: q_d = q + d stride for `devices` devices, z and z_prev.
template <class Exec>
struct ReferenceAverage {
  float alpha = 0, mu = 0;
  int devices = 1;
  std::int64_t stride = 0;
  Span<Exec> q;  // of the first device
  Span<Exec> z, z_prev;
};

/// C_d = alpha (q_d - z); q_d -= C_d; z' = z + (C_0 + C_1 + ...) + mu (z - z_prev),
/// summed in this order; z_prev = z.
template <class Exec>
void reference_average(const Exec& exec, const ReferenceAverage<Exec>& average);

}  // namespace crossbow
