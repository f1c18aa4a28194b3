#pragma once
// The step of stochastic gradient descent with momentum and coupled weight decay (DESIGN
// 2, PyTorch's convention): g' = g + lambda w, v = eta v + g', w -= rate v; with
// Nesterov's momentum w -= rate (g' + eta v).

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

struct StepRule {
  float rate = 0;    // gamma
  float eta = 0;     // momentum of the learner
  float lambda = 0;  // weight decay
  bool nesterov = false;
};

/// One element that a kernel sets to 1 when it meets a NaN or Inf, and never sets back.
template <class Exec>
using NotFiniteFlag = Span<Exec, std::uint32_t>;

/// w and v (n) after the step with gradient g (n); the flag is set if w, and so g or v,
/// has a NaN or Inf.
template <class Exec>
void sgd_update(const Exec& exec,
                const StepRule& rule,
                ConstSpan<Exec> g,
                Span<Exec> w,
                Span<Exec> v,
                NotFiniteFlag<Exec> not_finite);

/// The same step, left in `g` (n) in place of the gradient instead of being added to w:
/// what is to be added to a model that others write to, too.
template <class Exec>
void sgd_step_of(const Exec& exec,
                 const StepRule& rule,
                 Span<Exec> g,
                 ConstSpan<Exec> w,
                 Span<Exec> v,
                 NotFiniteFlag<Exec> not_finite);

/// Set the flag if x has a NaN or Inf.
template <class Exec>
void check_finite(const Exec& exec, ConstSpan<Exec> x, NotFiniteFlag<Exec> not_finite);

/// sum = scale * (a_0 + a_1 + ... in this order), a_j = first + j stride, each of sum's
/// size; the flag is set if the result has a NaN or Inf. `sum` may be a_0.
template <class Exec>
struct Summands {
  const float* first = nullptr;
  std::int64_t stride = 0;
  int count = 0;
};

template <class Exec>
void scaled_sum(const Exec& exec,
                float scale,
                const Summands<Exec>& summands,
                Span<Exec> sum,
                NotFiniteFlag<Exec> not_finite);

}  // namespace crossbow
