#include "kernels/activation.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {

template <class Exec>
void relu_forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()));
  const float* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::relu_forward", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        const float value = in[i];
        out[i] = value <= 0 ? 0 : value;
      });
}

template <class Exec>
void relu_backward(const Exec& exec,
                   ConstSpan<Exec> y,
                   ConstSpan<Exec> dy,
                   Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(y, dx.size()) && has_size(dy, dx.size()));
  const float* const value = y.data();
  const float* const gradient = dy.data();
  float* const out = dx.data();
  for_each_element(
      exec, "crossbow::relu_backward", dx.size(), KOKKOS_LAMBDA(std::int64_t i) {
        const float passed = gradient[i];  // read also where not used: no branch
        out[i] = value[i] <= 0 ? 0 : passed;
      });
}

template <class Exec>
void tanh_forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()));
  const float* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::tanh_forward", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = Kokkos::tanh(in[i]);
      });
}

template <class Exec>
void tanh_backward(const Exec& exec,
                   ConstSpan<Exec> y,
                   ConstSpan<Exec> dy,
                   Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(y, dx.size()) && has_size(dy, dx.size()));
  const float* const value = y.data();
  const float* const gradient = dy.data();
  float* const out = dx.data();
  for_each_element(
      exec, "crossbow::tanh_backward", dx.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = gradient[i] * (1 - value[i] * value[i]);
      });
}

#define CROSSBOW_INSTANTIATE(Exec)                                      \
  template void relu_forward(const Exec&, ConstSpan<Exec>, Span<Exec>); \
  template void relu_backward(                                          \
      const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);       \
  template void tanh_forward(const Exec&, ConstSpan<Exec>, Span<Exec>); \
  template void tanh_backward(const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
