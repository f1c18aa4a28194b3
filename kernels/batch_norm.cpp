#include "kernels/batch_norm.hpp"

#include <limits>

#include "base/contract.hpp"

#include "kernels/channel_reduction.hpp"

namespace crossbow {
namespace {

/// Rows of a host work item of the element-wise passes.
constexpr std::int64_t rows_per_item = 64;

/// Mean (a) and sum of squared deviations (b) of x (rows, channels), in one pass: sums of
/// x - x_first and its square over a piece, whose first row x_first is (so nothing is
/// lost where a mean is large against its deviation: the squares' sum is at most 1 +
/// reduction_rows times that of the deviations), then Chan, Golub & LeVeque's merge.
struct Moments {
  BatchNormShape shape;
  const float* x = nullptr;
  float* running_mean = nullptr;
  float* running_variance = nullptr;
  float* saved_mean = nullptr;
  float* saved_inverse_std = nullptr;

  template <int W>
  KOKKOS_FUNCTION void accumulate(const RowRange& rows,
                                  std::int64_t channel,
                                  ChannelSums<W>& sums) const {
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += reduction_rows) {
      const std::int64_t end =
          begin + reduction_rows < rows.end ? begin + reduction_rows : rows.end;
      const double count = static_cast<double>(end - begin);
      float first[W], sum[W] = {}, squares[W] = {};
      for (int k = 0; k < W; ++k) {
        first[k] = x[begin * shape.c + channel + k];
      }
      for (std::int64_t row = begin; row < end; ++row) {
        for (int k = 0; k < W; ++k) {
          const float deviation = x[row * shape.c + channel + k] - first[k];
          sum[k] += deviation;
          squares[k] += deviation * deviation;
        }
      }
      const double share = count / (sums.count + count);
      for (int k = 0; k < W; ++k) {
        const double offset = sum[k] / count;
        const double delta = first[k] + offset - sums.a[k];
        sums.a[k] += delta * share;
        sums.b[k] += squares[k] - sum[k] * offset + delta * delta * sums.count * share;
      }
      sums.count += count;
    }
  }

  KOKKOS_FUNCTION static void merge(ChannelSums<1>& into, const ChannelSums<1>& other) {
    if (other.count > 0) {
      const double share = other.count / (into.count + other.count);
      const double delta = other.a[0] - into.a[0];
      into.a[0] += delta * share;
      into.b[0] += other.b[0] + delta * delta * into.count * share;
      into.count += other.count;
    }
  }

  KOKKOS_FUNCTION void finish(std::int64_t channel, const ChannelSums<1>& sums) const {
    const double squares = sums.b[0] <= 0 ? 0 : sums.b[0];  // rounding; NaN stays
    const double mean = sums.a[0], variance = squares / sums.count;
    const double unbiased = sums.count > 1 ? squares / (sums.count - 1) : variance;
    saved_mean[channel] = static_cast<float>(mean);
    saved_inverse_std[channel] =
        static_cast<float>(1 / Kokkos::sqrt(variance + shape.epsilon));
    running_mean[channel] = static_cast<float>(
        running_mean[channel] + shape.momentum * (mean - running_mean[channel]));
    running_variance[channel] =
        static_cast<float>(running_variance[channel] +
                           shape.momentum * (unbiased - running_variance[channel]));
  }
};

/// Results up to this become this, and give no gradient: 0 with ReLU, else NaN, which
/// nothing is below of. A number, so that loops need no branch.
float floor_of(const BatchNormShape& shape) {
  return shape.relu ? 0 : std::numeric_limits<float>::quiet_NaN();
}

/// What y was before ReLU. One function for forward and backward, so that both round
/// alike and agree on which y are cut off.
KOKKOS_FORCEINLINE_FUNCTION float normalised(float x,
                                             float center,
                                             float factor,
                                             float offset) {
  return (x - center) * factor + offset;
}

/// y = (x - mean) factor + shift, where factor = scale / standard deviation.
struct Normalise {
  std::int64_t channels;
  const float* x = nullptr;
  const float* mean = nullptr;
  const float* inverse_std = nullptr;  // null: from variance and epsilon
  const float* variance = nullptr;
  float epsilon;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float floor;  // see floor_of
  float* y = nullptr;

  template <int W>
  KOKKOS_FUNCTION void apply(const RowRange& rows, std::int64_t channel) const {
    const float least = floor;
    float center[W], factor[W], offset[W];
    for (int k = 0; k < W; ++k) {
      const std::int64_t c = channel + k;
      const float inverse = inverse_std != nullptr
                                ? inverse_std[c]
                                : 1 / Kokkos::sqrt(variance[c] + epsilon);
      center[k] = mean[c];
      factor[k] = scale[c] * inverse;
      offset[k] = shift[c];
    }
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const float* const in = x + row * channels + channel;
      float* const out = y + row * channels + channel;
#pragma GCC ivdep
      for (int k = 0; k < W; ++k) {
        const float value = normalised(in[k], center[k], factor[k], offset[k]);
        out[k] = value <= least ? least : value;
      }
    }
  }
};

/// Arrays that both passes of backward read.
struct NormBackwardInput {
  const float* x = nullptr;
  const float* dy = nullptr;
  const float* mean = nullptr;
  const float* inverse_std = nullptr;
  const float* scale = nullptr;
  const float* shift = nullptr;
  float floor = 0;  // see floor_of
};

/// dshift = sum of dy (a); dscale = sum of dy xhat with xhat = (x - mean) / std (b).
struct NormGradientSums : AddMerge {
  std::int64_t channels;
  NormBackwardInput in;
  float* dscale = nullptr;
  float* dshift = nullptr;

  template <int W>
  KOKKOS_FUNCTION void accumulate(const RowRange& rows,
                                  std::int64_t channel,
                                  ChannelSums<W>& sums) const {
    const float* const x = in.x;
    const float* const dy = in.dy;
    const float least = in.floor;
    float center[W], factor[W], offset[W];
    for (int k = 0; k < W; ++k) {
      const std::int64_t c = channel + k;
      center[k] = in.mean[c];
      factor[k] = in.scale[c] * in.inverse_std[c];
      offset[k] = in.shift[c];
    }
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += reduction_rows) {
      const std::int64_t end =
          begin + reduction_rows < rows.end ? begin + reduction_rows : rows.end;
      float sum[W] = {}, product[W] = {};
      for (std::int64_t row = begin; row < end; ++row) {
        for (int k = 0; k < W; ++k) {
          const float value = x[row * channels + channel + k];
          const float result = normalised(value, center[k], factor[k], offset[k]);
          const float whole = dy[row * channels + channel + k];
          const float gradient = result <= least ? 0 : whole;
          sum[k] += gradient;
          product[k] += gradient * (value - center[k]);
        }
      }
      for (int k = 0; k < W; ++k) {
        sums.a[k] += sum[k];
        sums.b[k] += product[k];
      }
    }
  }

  KOKKOS_FUNCTION void finish(std::int64_t channel, const ChannelSums<1>& sums) const {
    dshift[channel] = static_cast<float>(sums.a[0]);
    dscale[channel] = static_cast<float>(sums.b[0] * in.inverse_std[channel]);
  }
};

/// dx = scale / std (dy - (dshift + xhat dscale) / rows).
struct NormGradient {
  std::int64_t rows, channels;
  NormBackwardInput in;
  const float* dscale = nullptr;
  const float* dshift = nullptr;
  float* dx = nullptr;

  template <int W>
  KOKKOS_FUNCTION void apply(const RowRange& range, std::int64_t channel) const {
    const float least = in.floor;
    float center[W], factor[W], offset[W], constant[W], slope[W];
    for (int k = 0; k < W; ++k) {
      const std::int64_t c = channel + k;
      center[k] = in.mean[c];
      factor[k] = in.scale[c] * in.inverse_std[c];
      offset[k] = in.shift[c];
      constant[k] = dshift[c] / static_cast<float>(rows);
      slope[k] = dscale[c] * in.inverse_std[c] / static_cast<float>(rows);
    }
    for (std::int64_t row = range.begin; row < range.end; ++row) {
      const float* const x = in.x + row * channels + channel;
      const float* const dy = in.dy + row * channels + channel;
      float* const out = dx + row * channels + channel;
#pragma GCC ivdep
      for (int k = 0; k < W; ++k) {
        const float value = x[k];
        const float result = normalised(value, center[k], factor[k], offset[k]);
        const float whole = dy[k];
        const float gradient = result <= least ? 0 : whole;
        out[k] = factor[k] * (gradient - constant[k] - (value - center[k]) * slope[k]);
      }
    }
  }
};

}  // namespace

template <class Exec>
void batch_norm_forward(const Exec& exec,
                        const BatchNormShape& shape,
                        ConstSpan<Exec> x,
                        const BatchNormState<Exec>& state,
                        Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, shape.rows * shape.c) && has_size(y, x.size()));
  CROSSBOW_EXPECT(has_size(state.saved_mean, shape.c));
  if (shape.rows == 0) {
    return;
  }
  reduce_channels(exec,
                  "crossbow::batch_norm_moments",
                  shape.rows,
                  shape.c,
                  Moments{shape,
                          x.data(),
                          state.running_mean.data(),
                          state.running_variance.data(),
                          state.saved_mean.data(),
                          state.saved_inverse_std.data()});
  for_each_tile(exec,
                "crossbow::batch_norm_forward",
                {shape.rows, shape.c, rows_per_item},
                Normalise{shape.c,
                          x.data(),
                          state.saved_mean.data(),
                          state.saved_inverse_std.data(),
                          nullptr,
                          shape.epsilon,
                          state.scale.data(),
                          state.shift.data(),
                          floor_of(shape),
                          y.data()});
}

template <class Exec>
void batch_norm_inference(const Exec& exec,
                          const BatchNormShape& shape,
                          ConstSpan<Exec> x,
                          const BatchNormState<Exec>& state,
                          Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, shape.rows * shape.c) && has_size(y, x.size()));
  CROSSBOW_EXPECT(has_size(state.running_mean, shape.c));
  for_each_tile(exec,
                "crossbow::batch_norm_inference",
                {shape.rows, shape.c, rows_per_item},
                Normalise{shape.c,
                          x.data(),
                          state.running_mean.data(),
                          nullptr,
                          state.running_variance.data(),
                          shape.epsilon,
                          state.scale.data(),
                          state.shift.data(),
                          floor_of(shape),
                          y.data()});
}

template <class Exec>
void batch_norm_backward(const Exec& exec,
                         const BatchNormShape& shape,
                         ConstSpan<Exec> x,
                         ConstSpan<Exec> dy,
                         const BatchNormState<Exec>& state,
                         const BatchNormGradients<Exec>& gradients) {
  CROSSBOW_EXPECT(has_size(x, shape.rows * shape.c) && has_size(dy, x.size()));
  CROSSBOW_EXPECT(has_size(gradients.dscale, shape.c));
  const NormBackwardInput in{x.data(),
                             dy.data(),
                             state.saved_mean.data(),
                             state.saved_inverse_std.data(),
                             state.scale.data(),
                             state.shift.data(),
                             floor_of(shape)};
  float* const dscale = gradients.dscale.data();
  float* const dshift = gradients.dshift.data();
  reduce_channels(exec,
                  "crossbow::batch_norm_sums",
                  shape.rows,
                  shape.c,
                  NormGradientSums{{}, shape.c, in, dscale, dshift});
  for_each_tile(
      exec,
      "crossbow::batch_norm_backward",
      {shape.rows, shape.c, rows_per_item},
      NormGradient{shape.rows, shape.c, in, dscale, dshift, gradients.dx.data()});
}

#define CROSSBOW_INSTANTIATE(Exec)                                \
  template void batch_norm_forward(const Exec&,                   \
                                   const BatchNormShape&,         \
                                   ConstSpan<Exec>,               \
                                   const BatchNormState<Exec>&,   \
                                   Span<Exec>);                   \
  template void batch_norm_inference(const Exec&,                 \
                                     const BatchNormShape&,       \
                                     ConstSpan<Exec>,             \
                                     const BatchNormState<Exec>&, \
                                     Span<Exec>);                 \
  template void batch_norm_backward(const Exec&,                  \
                                    const BatchNormShape&,        \
                                    ConstSpan<Exec>,              \
                                    ConstSpan<Exec>,              \
                                    const BatchNormState<Exec>&,  \
                                    const BatchNormGradients<Exec>&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
