#include "kernels/lrn.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {
namespace {

/// d^-beta; the usual beta = 3/4 by square roots, which have vector instructions.
KOKKOS_FORCEINLINE_FUNCTION float inverse_power(float d, float beta) {
  if (beta == 0.75F) {
    const float root = Kokkos::sqrt(d);
    return 1 / (root * Kokkos::sqrt(root));
  }
  return Kokkos::pow(d, -beta);
}

/// A half-open range of channels.
struct ChannelRange {
  std::int64_t begin, end;
};

/// Channels from c - before to c + after that there are.
KOKKOS_FORCEINLINE_FUNCTION ChannelRange channels_around(std::int64_t c,
                                                         std::int64_t before,
                                                         std::int64_t after,
                                                         std::int64_t channels) {
  const std::int64_t begin = c - before, end = c + after + 1;
  return {begin > 0 ? begin : 0, end < channels ? end : channels};
}

struct LrnForward {
  LrnShape shape;
  const float* x = nullptr;
  float* denominators = nullptr;
  float* y = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const float* const in = x + row * shape.c;
    float* const d = denominators + row * shape.c;
    float* const out = y + row * shape.c;
    const float share = shape.alpha / static_cast<float>(shape.size);
    const float beta = shape.beta;
    for (std::int64_t c = begin; c < end; ++c) {
      const ChannelRange range =
          channels_around(c, shape.before(), shape.after(), shape.c);
      float sum = 0;
      for (std::int64_t other = range.begin; other < range.end; ++other) {
        sum += in[other] * in[other];
      }
      d[c] = shape.k + share * sum;
    }
#pragma GCC ivdep
    for (std::int64_t c = begin; c < end; ++c) {
      out[c] = in[c] * inverse_power(d[c], beta);
    }
  }
};

/// dx_c = dy_c d_c^-beta - 2 alpha beta / size x_c sum of dy y / d over the channels that
/// see c.
struct LrnBackward {
  LrnShape shape;
  const float* x = nullptr;
  const float* denominators = nullptr;
  const float* y = nullptr;
  const float* dy = nullptr;
  float* dx = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t first = row * shape.c;
    const float* const in = x + first;
    const float* const d = denominators + first;
    const float* const value = y + first;
    const float* const gradient = dy + first;
    float* const out = dx + first;
    const float beta = shape.beta;
    const float factor = 2 * shape.alpha * beta / static_cast<float>(shape.size);
#pragma GCC ivdep
    for (std::int64_t c = begin; c < end; ++c) {
      out[c] = gradient[c] * inverse_power(d[c], beta);
    }
    for (std::int64_t c = begin; c < end; ++c) {
      const ChannelRange range =
          channels_around(c, shape.after(), shape.before(), shape.c);
      float sum = 0;
      for (std::int64_t other = range.begin; other < range.end; ++other) {
        sum += gradient[other] * value[other] / d[other];
      }
      out[c] -= factor * in[c] * sum;
    }
  }
};

}  // namespace

template <class Exec>
void lrn_forward(const Exec& exec,
                 const LrnShape& shape,
                 ConstSpan<Exec> x,
                 Span<Exec> denominators,
                 Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, shape.rows * shape.c) && has_size(y, x.size()));
  CROSSBOW_EXPECT(has_size(denominators, x.size()));
  for_each_pixel(exec,
                 "crossbow::lrn_forward",
                 {shape.rows, 1, shape.c},
                 LrnForward{shape, x.data(), denominators.data(), y.data()});
}

template <class Exec>
void lrn_backward(const Exec& exec,
                  const LrnShape& shape,
                  const LrnBackwardInput<Exec>& in,
                  Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(in.x, shape.rows * shape.c) && has_size(dx, in.x.size()));
  CROSSBOW_EXPECT(dx.size() == 0 || dx.data() != in.dy.data());
  for_each_pixel(exec,
                 "crossbow::lrn_backward",
                 {shape.rows, 1, shape.c},
                 LrnBackward{shape,
                             in.x.data(),
                             in.denominators.data(),
                             in.y.data(),
                             in.dy.data(),
                             dx.data()});
}

#define CROSSBOW_INSTANTIATE(Exec)                                            \
  template void lrn_forward(                                                  \
      const Exec&, const LrnShape&, ConstSpan<Exec>, Span<Exec>, Span<Exec>); \
  template void lrn_backward(                                                 \
      const Exec&, const LrnShape&, const LrnBackwardInput<Exec>&, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
