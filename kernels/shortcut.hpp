#pragma once
// The identity shortcut of a residual network where the shape changes: every stride-th
// pixel, with channels of zeros added on both sides (He et al. 2016, 3.3, option A).

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// x (n, h, w, c) to y (n, ceil(h / stride), ceil(w / stride), filters), filters >= c.
/// Channels are added (filters - c) / 2 before and the rest after.
struct ShortcutShape {
  std::int64_t n = 1, h = 1, w = 1, c = 1;
  std::int64_t stride = 1;
  std::int64_t filters = 1;

  constexpr std::int64_t out_h() const { return (h + stride - 1) / stride; }
  constexpr std::int64_t out_w() const { return (w + stride - 1) / stride; }
  constexpr std::int64_t begin() const { return (filters - c) / 2; }
};

/// y = x, thinned and widened. y must not overlap x.
template <class Exec>
void shortcut_forward(const Exec& exec,
                      const ShortcutShape& shape,
                      ConstSpan<Exec> x,
                      Span<Exec> y);

/// dx = what of dy came from x, 0 elsewhere.
template <class Exec>
void shortcut_backward(const Exec& exec,
                       const ShortcutShape& shape,
                       ConstSpan<Exec> dy,
                       Span<Exec> dx);

}  // namespace crossbow
