#pragma once
// Batch normalisation as plain loops, channel by channel: what the other implementations
// are tested on. Sums are in double.

#include <cmath>
#include <cstdint>

#include "kernels/batch_norm.hpp"

namespace crossbow::reference {

/// Vectors of c elements, as in crossbow::BatchNormState.
template <class Real>
struct BatchNormState {
  const Real* scale;
  const Real* shift;
  Real* running_mean;
  Real* running_variance;
  Real* saved_mean;
  Real* saved_inverse_std;
};

/// The same as crossbow::batch_norm_forward.
template <class Real>
void batch_norm_forward(const BatchNormShape& s,
                        const Real* x,
                        const BatchNormState<Real>& state,
                        Real* y) {
  const auto rows = static_cast<double>(s.rows);
  for (std::int64_t c = 0; c < s.c; ++c) {
    double sum = 0;
    for (std::int64_t row = 0; row < s.rows; ++row) {
      sum += x[row * s.c + c];
    }
    const double mean = sum / rows;
    double squares = 0;
    for (std::int64_t row = 0; row < s.rows; ++row) {
      squares += (x[row * s.c + c] - mean) * (x[row * s.c + c] - mean);
    }
    const double variance = squares / rows;
    const double unbiased = s.rows > 1 ? squares / (rows - 1) : variance;
    const double inverse_std = 1 / std::sqrt(variance + s.epsilon);
    for (std::int64_t row = 0; row < s.rows; ++row) {
      y[row * s.c + c] = static_cast<Real>(
          (x[row * s.c + c] - mean) * inverse_std * state.scale[c] + state.shift[c]);
    }
    const double momentum = s.momentum;
    state.running_mean[c] =
        static_cast<Real>((1 - momentum) * state.running_mean[c] + momentum * mean);
    state.running_variance[c] = static_cast<Real>(
        (1 - momentum) * state.running_variance[c] + momentum * unbiased);
    state.saved_mean[c] = static_cast<Real>(mean);
    state.saved_inverse_std[c] = static_cast<Real>(inverse_std);
  }
}

/// The same as crossbow::batch_norm_inference.
template <class Real>
void batch_norm_inference(const BatchNormShape& s,
                          const Real* x,
                          const BatchNormState<Real>& state,
                          Real* y) {
  for (std::int64_t i = 0; i < s.rows * s.c; ++i) {
    const std::int64_t c = i % s.c;
    const double variance = state.running_variance[c];
    const double deviation = static_cast<double>(x[i]) - state.running_mean[c];
    y[i] = static_cast<Real>(
        deviation / std::sqrt(variance + s.epsilon) * state.scale[c] + state.shift[c]);
  }
}

/// What backward writes, as in crossbow::BatchNormGradients.
template <class Real>
struct BatchNormGradients {
  Real* dx;
  Real* dscale;
  Real* dshift;
};

/// The same as crossbow::batch_norm_backward. With xhat = (x - mean) / std:
/// dshift = sum dy, dscale = sum dy xhat, dx = scale / std (dy - mean(dy) - xhat mean(dy
/// xhat)).
template <class Real>
void batch_norm_backward(const BatchNormShape& s,
                         const Real* x,
                         const Real* dy,
                         const BatchNormState<Real>& state,
                         const BatchNormGradients<Real>& gradients) {
  const auto rows = static_cast<double>(s.rows);
  for (std::int64_t c = 0; c < s.c; ++c) {
    const double mean = state.saved_mean[c], inverse_std = state.saved_inverse_std[c];
    const auto xhat = [&](std::int64_t row) {
      return (x[row * s.c + c] - mean) * inverse_std;
    };
    double dscale = 0, dshift = 0;
    for (std::int64_t row = 0; row < s.rows; ++row) {
      dscale += dy[row * s.c + c] * xhat(row);
      dshift += dy[row * s.c + c];
    }
    for (std::int64_t row = 0; row < s.rows; ++row) {
      gradients.dx[row * s.c + c] = static_cast<Real>(
          state.scale[c] * inverse_std *
          (dy[row * s.c + c] - dshift / rows - xhat(row) * dscale / rows));
    }
    gradients.dscale[c] = static_cast<Real>(dscale);
    gradients.dshift[c] = static_cast<Real>(dshift);
  }
}

}  // namespace crossbow::reference
