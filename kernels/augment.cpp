#include "kernels/augment.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {

template <class Exec>
void normalise(const Exec& exec,
               ConstSpan<Exec, std::uint8_t> x,
               float scale,
               float shift,
               Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()));
  const std::uint8_t* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::normalise", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = scale * static_cast<float>(in[i]) + shift;
      });
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template void normalise(         \
      const Exec&, ConstSpan<Exec, std::uint8_t>, float, float, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
