#include "kernels/shared_model.hpp"

#include <atomic>
#include <cstdint>

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {

template <class Exec>
void exchange_steps(const Exec& exec, Span<Exec> z, Span<Exec> w, Span<Exec> pulled) {
  CROSSBOW_EXPECT(has_size(w, z.size()) && has_size(pulled, z.size()));
  float* const model = z.data();
  float* const own = w.data();
  float* const before = pulled.data();
  for_each_element(
      exec,
      "crossbow::exchange_steps",
      static_cast<std::int64_t>(z.size()),
      KOKKOS_LAMBDA(const std::int64_t i) {
        const float sum = model[i] + (own[i] - before[i]);
        model[i] = sum;
        own[i] = sum;
        before[i] = sum;
      });
}

// std::atomic_ref is the host's: on a device there is no hogwild.
template <class Exec>
void load_relaxed(const Exec& exec, Span<Exec> z, Span<Exec> w) {
  if constexpr (is_host_space<Exec>) {
    float* const model = z.data();
    float* const own = w.data();
    launch(exec,
           "crossbow::load_relaxed",
           static_cast<std::int64_t>(z.size()),
           [=](std::int64_t i) {
             own[i] = std::atomic_ref<float>(model[i]).load(std::memory_order_relaxed);
           });
  } else {
    CROSSBOW_EXPECT(is_host_space<Exec>);
  }
}

template <class Exec>
void add_relaxed(const Exec& exec, ConstSpan<Exec> step, Span<Exec> z) {
  if constexpr (is_host_space<Exec>) {
    const float* const own = step.data();
    float* const model = z.data();
    launch(exec,
           "crossbow::add_relaxed",
           static_cast<std::int64_t>(z.size()),
           [=](std::int64_t i) {
             std::atomic_ref<float>(model[i]).fetch_add(own[i],
                                                        std::memory_order_relaxed);
           });
  } else {
    CROSSBOW_EXPECT(is_host_space<Exec>);
  }
}

#define CROSSBOW_INSTANTIATE(Exec)                                               \
  template void exchange_steps(const Exec&, Span<Exec>, Span<Exec>, Span<Exec>); \
  template void load_relaxed(const Exec&, Span<Exec>, Span<Exec>);               \
  template void add_relaxed(const Exec&, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
