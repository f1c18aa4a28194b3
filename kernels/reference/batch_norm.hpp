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
      const double value =
          (x[row * s.c + c] - mean) * inverse_std * state.scale[c] + state.shift[c];
      y[row * s.c + c] = static_cast<Real>(s.relu && value <= 0 ? 0 : value);
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
    const double value =
        deviation / std::sqrt(variance + s.epsilon) * state.scale[c] + state.shift[c];
    y[i] = static_cast<Real>(s.relu && value <= 0 ? 0 : value);
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
/// xhat)), dy being 0 where shape.relu cut y off.
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
    const auto gradient = [&](std::int64_t row) -> double {
      const double value = xhat(row) * state.scale[c] + state.shift[c];
      return s.relu && value <= 0 ? 0 : dy[row * s.c + c];
    };
    double dscale = 0, dshift = 0;
    for (std::int64_t row = 0; row < s.rows; ++row) {
      dscale += gradient(row) * xhat(row);
      dshift += gradient(row);
    }
    for (std::int64_t row = 0; row < s.rows; ++row) {
      gradients.dx[row * s.c + c] =
          static_cast<Real>(state.scale[c] * inverse_std *
                            (gradient(row) - dshift / rows - xhat(row) * dscale / rows));
    }
    gradients.dscale[c] = static_cast<Real>(dscale);
    gradients.dshift[c] = static_cast<Real>(dshift);
  }
}

}  // namespace crossbow::reference
