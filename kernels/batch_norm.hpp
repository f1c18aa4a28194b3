#pragma once
// Batch normalisation over (n, h, w) for each channel (Ioffe & Szegedy 2015; PyTorch's
// conventions: biased variance normalises, unbiased variance goes into the running one).

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

struct BatchNormShape {
  std::int64_t rows = 1;  // n h w
  std::int64_t c = 1;
  float epsilon = 1e-5F;
  float momentum = 0.1F;  // weight of this batch in running statistics
  bool relu = false;      // y = max(0, .); backward stops where y <= 0
};

/// Vectors of c elements that belong to one batch-norm layer of one replica.
template <class Exec>
struct BatchNormState {
  ConstSpan<Exec> scale, shift;
  Span<Exec> running_mean, running_variance;
  Span<Exec> saved_mean, saved_inverse_std;  // from forward to backward
};

/// y (rows, c) = (x - mean) / sqrt(var + epsilon) * scale + shift with the batch's own
/// statistics, then max(y, 0) if shape.relu; updates the running ones and fills saved_*.
template <class Exec>
void batch_norm_forward(const Exec& exec,
                        const BatchNormShape& shape,
                        ConstSpan<Exec> x,
                        const BatchNormState<Exec>& state,
                        Span<Exec> y);

/// The same with the running statistics, which stay as they are: what evaluation uses.
template <class Exec>
void batch_norm_inference(const Exec& exec,
                          const BatchNormShape& shape,
                          ConstSpan<Exec> x,
                          const BatchNormState<Exec>& state,
                          Span<Exec> y);

/// What backward writes: dx (rows, c), dscale (c), dshift (c).
template <class Exec>
struct BatchNormGradients {
  Span<Exec> dx, dscale, dshift;
};

/// Backward of batch_norm_forward for x and saved_* of that call; everything is
/// overwritten. dx may be dy. Where the ReLU cut y off follows from x: reading y would
/// cost a third more memory traffic.
template <class Exec>
void batch_norm_backward(const Exec& exec,
                         const BatchNormShape& shape,
                         ConstSpan<Exec> x,
                         ConstSpan<Exec> dy,
                         const BatchNormState<Exec>& state,
                         const BatchNormGradients<Exec>& gradients);

}  // namespace crossbow
