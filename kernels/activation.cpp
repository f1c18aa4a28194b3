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

template <class Exec>
void leaky_relu_forward(const Exec& exec, float slope, ConstSpan<Exec> x, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()) && slope >= 0);
  const float* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::leaky_relu_forward", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        const float value = in[i], small = slope * value;
        out[i] = value <= 0 ? small : value;
      });
}

template <class Exec>
void leaky_relu_backward(
    const Exec& exec, float slope, ConstSpan<Exec> y, ConstSpan<Exec> dy, Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(y, dx.size()) && has_size(dy, dx.size()));
  const float* const value = y.data();
  const float* const gradient = dy.data();
  float* const out = dx.data();
  for_each_element(
      exec, "crossbow::leaky_relu_backward", dx.size(), KOKKOS_LAMBDA(std::int64_t i) {
        const float whole = gradient[i], small = slope * whole;
        out[i] = value[i] <= 0 ? small : whole;
      });
}

template <class Exec>
void sigmoid_forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()));
  const float* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::sigmoid_forward", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = 1 / (1 + Kokkos::exp(-in[i]));  // exp may overflow: 1 / inf is 0
      });
}

template <class Exec>
void sigmoid_backward(const Exec& exec,
                      ConstSpan<Exec> y,
                      ConstSpan<Exec> dy,
                      Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(y, dx.size()) && has_size(dy, dx.size()));
  const float* const value = y.data();
  const float* const gradient = dy.data();
  float* const out = dx.data();
  for_each_element(
      exec, "crossbow::sigmoid_backward", dx.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = gradient[i] * value[i] * (1 - value[i]);
      });
}

#define CROSSBOW_INSTANTIATE(Exec)                                                   \
  template void relu_forward(const Exec&, ConstSpan<Exec>, Span<Exec>);              \
  template void relu_backward(                                                       \
      const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);                    \
  template void tanh_forward(const Exec&, ConstSpan<Exec>, Span<Exec>);              \
  template void tanh_backward(                                                       \
      const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);                    \
  template void leaky_relu_forward(const Exec&, float, ConstSpan<Exec>, Span<Exec>); \
  template void leaky_relu_backward(                                                 \
      const Exec&, float, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);             \
  template void sigmoid_forward(const Exec&, ConstSpan<Exec>, Span<Exec>);           \
  template void sigmoid_backward(                                                    \
      const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
