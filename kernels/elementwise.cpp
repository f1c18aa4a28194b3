#include "kernels/elementwise.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {

template <class Exec>
void add(const Exec& exec, ConstSpan<Exec> a, ConstSpan<Exec> b, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(a, y.size()) && has_size(b, y.size()));
  const float* const left = a.data();
  const float* const right = b.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::add", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = left[i] + right[i];
      });
}

template <class Exec>
void add_relu(const Exec& exec, ConstSpan<Exec> a, ConstSpan<Exec> b, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(a, y.size()) && has_size(b, y.size()));
  const float* const left = a.data();
  const float* const right = b.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::add_relu", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        const float sum = left[i] + right[i];
        out[i] = sum <= 0 ? 0 : sum;
      });
}

template <class Exec>
void move_towards(const Exec& exec, float share, ConstSpan<Exec> x, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()));
  const float* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::move_towards", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] += share * (in[i] - out[i]);
      });
}

template <class Exec>
void copy(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, y.size()));
  const float* const in = x.data();
  float* const out = y.data();
  for_each_element(
      exec, "crossbow::copy", y.size(), KOKKOS_LAMBDA(std::int64_t i) {
        out[i] = in[i];
      });
}

#define CROSSBOW_INSTANTIATE(Exec)                                                   \
  template void add(const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>);      \
  template void add_relu(const Exec&, ConstSpan<Exec>, ConstSpan<Exec>, Span<Exec>); \
  template void move_towards(const Exec&, float, ConstSpan<Exec>, Span<Exec>);       \
  template void copy(const Exec&, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
