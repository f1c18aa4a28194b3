#include "kernels/gradient_clip.hpp"

#include <cstdint>

#include "kernels/update_block.hpp"

namespace crossbow {

namespace {

/// Sum of squares of a block, in lanes that vectorise without reordering.
KOKKOS_INLINE_FUNCTION double squares_of_block(const float* x, std::int64_t count) {
  constexpr int lanes = 8;
  double sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (int lane = 0; lane < lanes; ++lane) {
      const double value = x[i + lane];
      sums[lane] += value * value;
    }
  }
  for (; i < count; ++i) {
    const double value = x[i];
    sums[0] += value * value;
  }
  double total = 0;
  for (const double sum : sums) {
    total += sum;
  }
  return total;
}

}  // namespace

template <class Exec>
void clip_gradient(const Exec& exec,
                   float max_norm,
                   Span<Exec> g,
                   Span<Exec, double> squared_norm) {
  constexpr std::int64_t size = update::block_size<Exec>;
  const auto n = static_cast<std::int64_t>(g.extent(0));
  using Result = Kokkos::
      View<double, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  Kokkos::parallel_reduce(
      "crossbow::squared_norm",
      Kokkos::RangePolicy<Exec>(exec, 0, (n + size - 1) / size),
      KOKKOS_LAMBDA(const std::int64_t block, double& sum) {
        const std::int64_t first = block * size;
        sum += squares_of_block(g.data() + first, n - first < size ? n - first : size);
      },
      Result(squared_norm.data()));
  const double most = max_norm;
  update::for_each_block(
      exec,
      "crossbow::clip_gradient",
      n,
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        const double share = most / (Kokkos::sqrt(squared_norm.data()[0]) + 1e-6);
        if (share >= 1) {
          return;
        }
        const auto factor = static_cast<float>(share);
        float* __restrict values = g.data() + first;
        for (std::int64_t i = 0; i < count; ++i) {
          values[i] *= factor;
        }
      });
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template void clip_gradient(const Exec&, float, Span<Exec>, Span<Exec, double>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
