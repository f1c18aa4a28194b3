#include "kernels/sgd_update.hpp"

#include "kernels/update_block.hpp"

namespace crossbow {
namespace {

KOKKOS_INLINE_FUNCTION std::uint32_t step_block(const StepRule& rule,
                                                std::int64_t count,
                                                const float* __restrict g,
                                                float* __restrict w,
                                                float* __restrict v) {
  std::uint32_t top = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const float weight = w[i] - rule.rate * update::direction(rule, g[i], w[i], v[i]);
    w[i] = weight;
    // A bad g or v is in the weight too.
    top = update::larger(top, update::magnitude(weight));
  }
  return top;
}

}  // namespace

template <class Exec>
void sgd_update(const Exec& exec,
                const StepRule& rule,
                ConstSpan<Exec> g,
                Span<Exec> w,
                Span<Exec> v,
                NotFiniteFlag<Exec> not_finite) {
  update::for_each_block(
      exec,
      "crossbow::sgd_update",
      static_cast<std::int64_t>(w.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        const std::uint32_t top =
            step_block(rule, count, g.data() + first, w.data() + first, v.data() + first);
        update::raise<Exec>(top, not_finite);
      });
}

template <class Exec>
void sgd_step_of(const Exec& exec,
                 const StepRule& rule,
                 Span<Exec> g,
                 ConstSpan<Exec> w,
                 Span<Exec> v,
                 NotFiniteFlag<Exec> not_finite) {
  update::for_each_block(
      exec,
      "crossbow::sgd_step_of",
      static_cast<std::int64_t>(w.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        float* __restrict step = g.data() + first;
        float* __restrict velocity = v.data() + first;
        const float* __restrict weight = w.data() + first;
        std::uint32_t top = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          step[i] = -rule.rate * update::direction(rule, step[i], weight[i], velocity[i]);
          top = update::larger(top, update::magnitude(weight[i] + step[i]));
        }
        update::raise<Exec>(top, not_finite);
      });
}

template <class Exec>
void check_finite(const Exec& exec, ConstSpan<Exec> x, NotFiniteFlag<Exec> not_finite) {
  update::for_each_block(
      exec,
      "crossbow::check_finite",
      static_cast<std::int64_t>(x.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        const float* __restrict in = x.data() + first;
        std::uint32_t top = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          top = update::larger(top, update::magnitude(in[i]));
        }
        update::raise<Exec>(top, not_finite);
      });
}

template <class Exec>
void scaled_sum(const Exec& exec,
                float scale,
                const Summands<Exec>& summands,
                Span<Exec> sum,
                NotFiniteFlag<Exec> not_finite) {
  update::for_each_block(
      exec,
      "crossbow::scaled_sum",
      static_cast<std::int64_t>(sum.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        float total[update::block_size<Exec>];
        update::sum_block(summands, first, count, -1, nullptr, total);
        float* __restrict out = sum.data() + first;
        std::uint32_t top = 0;
        for (std::int64_t i = 0; i < count; ++i) {
          out[i] = scale * total[i];
          top = update::larger(top, update::magnitude(out[i]));
        }
        update::raise<Exec>(top, not_finite);
      });
}

#define CROSSBOW_INSTANTIATE(Exec)                                               \
  template void sgd_update(const Exec&,                                          \
                           const StepRule&,                                      \
                           ConstSpan<Exec>,                                      \
                           Span<Exec>,                                           \
                           Span<Exec>,                                           \
                           NotFiniteFlag<Exec>);                                 \
  template void sgd_step_of(const Exec&,                                         \
                            const StepRule&,                                     \
                            Span<Exec>,                                          \
                            ConstSpan<Exec>,                                     \
                            Span<Exec>,                                          \
                            NotFiniteFlag<Exec>);                                \
  template void check_finite(const Exec&, ConstSpan<Exec>, NotFiniteFlag<Exec>); \
  template void scaled_sum(                                                      \
      const Exec&, float, const Summands<Exec>&, Span<Exec>, NotFiniteFlag<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
