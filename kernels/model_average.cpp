#include "kernels/model_average.hpp"

#include "kernels/update_block.hpp"

namespace crossbow {
namespace {

/// The learner's step on a block; returns the largest magnitude of the new weights.
template <class Exec>
KOKKOS_INLINE_FUNCTION std::uint32_t step_block(const SmaStep<Exec>& step,
                                                std::int64_t first,
                                                std::int64_t count,
                                                float* __restrict c) {
  const StepRule rule = step.rule;
  const float alpha = step.alpha;
  const float* __restrict g = step.g.data() + first;
  const float* __restrict z = step.z.data() + first;
  float* __restrict w = step.w.data() + first;
  float* __restrict v = step.v.data() + first;
  std::uint32_t top = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float s = w[i];
    const float correction = alpha * (s - z[i]);
    c[i] = correction;
    const float weight =
        (s - rule.rate * update::direction(rule, g[i], s, v[i])) - correction;
    w[i] = weight;
    // A bad g, v or c is in the weight too.
    top = update::larger(top, update::magnitude(weight));
  }
  return top;
}

/// z_next on a block; `own` replaces corrections own_index where given.
template <class Exec>
KOKKOS_INLINE_FUNCTION void average_block(const AverageUpdate<Exec>& u,
                                          std::int64_t first,
                                          std::int64_t count,
                                          int own_index,
                                          const float* own) {
  float sum[update::block_size<Exec>];
  update::sum_block(u.corrections, first, count, own_index, own, sum);
  const float mu = u.mu;
  const float* z = u.z.data() + first;
  const float* z_prev = u.z_prev.data() + first;
  float* z_next = u.z_next.data() + first;
#if defined(__GNUC__) && !defined(__CUDA_ARCH__)
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) {
    z_next[i] = (z[i] + sum[i]) + mu * (z[i] - z_prev[i]);
  }
}

}  // namespace

template <class Exec>
void sma_step(const Exec& exec,
              const SmaStep<Exec>& step,
              Span<Exec> c,
              NotFiniteFlag<Exec> not_finite) {
  update::for_each_block(
      exec,
      "crossbow::sma_step",
      static_cast<std::int64_t>(step.w.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        update::raise<Exec>(step_block(step, first, count, c.data() + first), not_finite);
      });
}

template <class Exec>
void add_in_order(const Exec& exec, const Summands<Exec>& summands, Span<Exec> sum) {
  update::for_each_block(
      exec,
      "crossbow::add_in_order",
      static_cast<std::int64_t>(sum.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        float* __restrict out = sum.data() + first;
        for (int j = 0; j < summands.count; ++j) {
          const float* __restrict part = summands.first + j * summands.stride + first;
          for (std::int64_t i = 0; i < count; ++i) {
            out[i] += part[i];
          }
        }
      });
}

template <class Exec>
void average_update(const Exec& exec, const AverageUpdate<Exec>& average) {
  update::for_each_block(
      exec,
      "crossbow::average_update",
      static_cast<std::int64_t>(average.z_next.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        average_block(average, first, count, -1, nullptr);
      });
}

template <class Exec>
void sma_step_and_average(const Exec& exec,
                          const SmaStep<Exec>& step,
                          const AverageUpdate<Exec>& average,
                          int own,
                          NotFiniteFlag<Exec> not_finite) {
  update::for_each_block(
      exec,
      "crossbow::sma_step_and_average",
      static_cast<std::int64_t>(step.w.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        float c[update::block_size<Exec>];
        update::raise<Exec>(step_block(step, first, count, c), not_finite);
        average_block(average, first, count, own, c);
      });
}

#define CROSSBOW_INSTANTIATE(Exec)                                            \
  template void sma_step(                                                     \
      const Exec&, const SmaStep<Exec>&, Span<Exec>, NotFiniteFlag<Exec>);    \
  template void add_in_order(const Exec&, const Summands<Exec>&, Span<Exec>); \
  template void average_update(const Exec&, const AverageUpdate<Exec>&);      \
  template void sma_step_and_average(const Exec&,                             \
                                     const SmaStep<Exec>&,                    \
                                     const AverageUpdate<Exec>&,              \
                                     int,                                     \
                                     NotFiniteFlag<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
