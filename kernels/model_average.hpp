#pragma once
// Synchronous model averaging (DESIGN 2.1), fused with the learner's step so that each of
// the large vectors goes through the caches once:
//
//   v_j = eta v_j + g_j + lambda s_j
//   c_j = alpha (s_j - z)
//   w_j = s_j - rate v_j - c_j              (or Nesterov's step, see sgd_update.hpp)
//   z'  = z + (c_0 + c_1 + ...) + mu (z - z_prev)

#include <cstdint>

#include "kernels/sgd_update.hpp"
#include "kernels/spaces.hpp"

namespace crossbow {

/// Arrays of one learner and z, all of the same n elements.
template <class Exec>
struct SmaStep {
  StepRule rule;
  float alpha = 0;
  ConstSpan<Exec> g, z;
  Span<Exec> w, v;  // in: s_j and the old velocity; out: w_j and the new one
};

/// Arrays of the average model, n elements each; c_j are given as Summands from the same
/// element on.
template <class Exec>
struct AverageUpdate {
  float mu = 0;
  Summands<Exec> corrections;
  ConstSpan<Exec> z, z_prev;
  Span<Exec> z_next;  // may be z_prev or z
};

/// The learner's step, leaving c_j in `c` (n). The flag is set if w_j, and so g or c, has
/// a NaN or Inf.
template <class Exec>
void sma_step(const Exec& exec,
              const SmaStep<Exec>& step,
              Span<Exec> c,
              NotFiniteFlag<Exec> not_finite);

/// sum = ((sum + a_0) + a_1) + ..., of sum's size each: corrections on their way to the
/// average model.
template <class Exec>
void add_in_order(const Exec& exec, const Summands<Exec>& summands, Span<Exec> sum);

/// z_next from z, z_prev and all corrections.
template <class Exec>
void average_update(const Exec& exec, const AverageUpdate<Exec>& update);

/// Both, for the learner `own` that comes last: its corrections stay in the cache and are
/// not stored. Bitwise the same as sma_step, then average_update.
template <class Exec>
void sma_step_and_average(const Exec& exec,
                          const SmaStep<Exec>& step,
                          const AverageUpdate<Exec>& update,
                          int own,
                          NotFiniteFlag<Exec> not_finite);

}  // namespace crossbow
