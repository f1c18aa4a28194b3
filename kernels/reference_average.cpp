#include "kernels/reference_average.hpp"

#include <cstdint>

#include "kernels/update_block.hpp"

namespace crossbow {

template <class Exec>
void reference_average(const Exec& exec, const ReferenceAverage<Exec>& average) {
  update::for_each_block(
      exec,
      "crossbow::reference_average",
      static_cast<std::int64_t>(average.z.extent(0)),
      KOKKOS_LAMBDA(const std::int64_t first, const std::int64_t count) {
        float sum[update::block_size<Exec>];
        float* __restrict z = average.z.data() + first;
        float* __restrict z_prev = average.z_prev.data() + first;
        for (int d = 0; d < average.devices; ++d) {
          float* __restrict q = average.q.data() + d * average.stride + first;
          for (std::int64_t i = 0; i < count; ++i) {
            const float correction = average.alpha * (q[i] - z[i]);
            q[i] -= correction;
            sum[i] = d == 0 ? correction : sum[i] + correction;
          }
        }
        for (std::int64_t i = 0; i < count; ++i) {
          const float before = z[i];
          z[i] = (before + sum[i]) + average.mu * (before - z_prev[i]);
          z_prev[i] = before;
        }
      });
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template void reference_average(const Exec&, const ReferenceAverage<Exec>&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
