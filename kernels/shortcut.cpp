#include "kernels/shortcut.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {

template <class Exec>
void shortcut_forward(const Exec& exec,
                      const ShortcutShape& s,
                      ConstSpan<Exec> x,
                      Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, s.n * s.h * s.w * s.c));
  CROSSBOW_EXPECT(has_size(y, s.n * s.out_h() * s.out_w() * s.filters));
  const float* const in = x.data();
  float* const out = y.data();
  const std::int64_t begin = s.begin();
  for_each_pixel(
      exec,
      "crossbow::shortcut_forward",
      {s.n * s.out_h(), s.out_w(), s.filters},
      KOKKOS_LAMBDA(
          std::int64_t row, std::int64_t column, std::int64_t first, std::int64_t last) {
        const std::int64_t image = row / s.out_h(), from = row % s.out_h() * s.stride;
        const float* const pixel =
            in + ((image * s.h + from) * s.w + column * s.stride) * s.c;
        float* const result = out + (row * s.out_w() + column) * s.filters;
        for (std::int64_t f = first; f < last; ++f) {
          const bool is_copied = f >= begin && f < begin + s.c;
          result[f] = is_copied ? pixel[f - begin] : 0;
        }
      });
}

template <class Exec>
void shortcut_backward(const Exec& exec,
                       const ShortcutShape& s,
                       ConstSpan<Exec> dy,
                       Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(dy, s.n * s.out_h() * s.out_w() * s.filters));
  CROSSBOW_EXPECT(has_size(dx, s.n * s.h * s.w * s.c));
  const float* const in = dy.data();
  float* const out = dx.data();
  for_each_pixel(
      exec,
      "crossbow::shortcut_backward",
      {s.n * s.h, s.w, s.c},
      KOKKOS_LAMBDA(
          std::int64_t row, std::int64_t column, std::int64_t first, std::int64_t last) {
        const std::int64_t image = row / s.h, line = row % s.h;
        const bool is_used = line % s.stride == 0 && column % s.stride == 0;
        const std::int64_t to = image * s.out_h() + line / s.stride;
        const float* const gradient =
            in + (to * s.out_w() + column / s.stride) * s.filters + s.begin();
        float* const result = out + (row * s.w + column) * s.c;
        for (std::int64_t c = first; c < last; ++c) {
          result[c] = is_used ? gradient[c] : 0;
        }
      });
}

#define CROSSBOW_INSTANTIATE(Exec)                                     \
  template void shortcut_forward(                                      \
      const Exec&, const ShortcutShape&, ConstSpan<Exec>, Span<Exec>); \
  template void shortcut_backward(                                     \
      const Exec&, const ShortcutShape&, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
