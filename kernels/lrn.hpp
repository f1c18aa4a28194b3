#pragma once
// Local response normalisation across channels (Krizhevsky et al. 2012), as PyTorch's
// LocalResponseNorm has it:
//   y_c = x_c d_c^-beta, d_c = k + alpha / size * sum of x² over `size` channels around
//   c,
// from c - size / 2 on; those beyond the ends count as 0.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

struct LrnShape {
  std::int64_t rows = 1;  // n h w
  std::int64_t c = 1;
  std::int64_t size = 5;  // channels of the sum
  float alpha = 1e-4F;
  float beta = 0.75F;
  float k = 1;

  constexpr std::int64_t before() const { return size / 2; }
  constexpr std::int64_t after() const { return size - 1 - size / 2; }
};

/// y (rows, c) from x (rows, c); denominators d (rows, c) are kept for backward. NaN
/// reaches the channels that see it.
template <class Exec>
void lrn_forward(const Exec& exec,
                 const LrnShape& shape,
                 ConstSpan<Exec> x,
                 Span<Exec> denominators,
                 Span<Exec> y);

/// What forward had and left, and the gradient of y.
template <class Exec>
struct LrnBackwardInput {
  ConstSpan<Exec> x, denominators, y, dy;
};

/// dx (rows, c), overwritten; must not be dy.
template <class Exec>
void lrn_backward(const Exec& exec,
                  const LrnShape& shape,
                  const LrnBackwardInput<Exec>& in,
                  Span<Exec> dx);

}  // namespace crossbow
