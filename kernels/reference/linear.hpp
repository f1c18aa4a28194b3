#pragma once
// The linear layer as plain loops: what the other implementations are tested on. Sums are
// in double. Input NHWC, weights (units, c, h, w).

#include <cstdint>

#include "kernels/linear.hpp"

namespace crossbow::reference {

/// Where the weights keep input i (its index in NHWC): their order is (c, h, w).
inline std::int64_t weight_column(const LinearShape& s, std::int64_t i) {
  const std::int64_t channel = i % s.c, pixel = i / s.c;
  return channel * s.h * s.w + pixel;
}

/// y = x Wᵀ + bias, then max(y, 0) if shape.relu. bias: null without.
template <class Real>
void linear_forward(
    const LinearShape& s, const Real* x, const Real* weight, const Real* bias, Real* y) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t unit = 0; unit < s.units; ++unit) {
      double sum = s.bias ? bias[unit] : 0;
      for (std::int64_t i = 0; i < s.in(); ++i) {
        sum += static_cast<double>(x[n * s.in() + i]) *
               weight[unit * s.in() + weight_column(s, i)];
      }
      y[n * s.units + unit] = static_cast<Real>(s.relu && sum <= 0 ? 0 : sum);
    }
  }
}

/// dx = dy W.
template <class Real>
void linear_backward_data(const LinearShape& s,
                          const Real* dy,
                          const Real* weight,
                          Real* dx) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t i = 0; i < s.in(); ++i) {
      double sum = 0;
      for (std::int64_t unit = 0; unit < s.units; ++unit) {
        sum += static_cast<double>(dy[n * s.units + unit]) *
               weight[unit * s.in() + weight_column(s, i)];
      }
      dx[n * s.in() + i] = static_cast<Real>(sum);
    }
  }
}

/// dweight = dyᵀ x and dbias = sum of dy, over the samples.
template <class Real>
void linear_backward_weight(
    const LinearShape& s, const Real* x, const Real* dy, Real* dweight, Real* dbias) {
  for (std::int64_t unit = 0; unit < s.units; ++unit) {
    for (std::int64_t i = 0; i < s.in(); ++i) {
      double sum = 0;
      for (std::int64_t n = 0; n < s.n; ++n) {
        sum += static_cast<double>(dy[n * s.units + unit]) * x[n * s.in() + i];
      }
      dweight[unit * s.in() + weight_column(s, i)] = static_cast<Real>(sum);
    }
    double bias_sum = 0;
    for (std::int64_t n = 0; n < s.n; ++n) {
      bias_sum += dy[n * s.units + unit];
    }
    if (s.bias) {
      dbias[unit] = static_cast<Real>(bias_sum);
    }
  }
}

}  // namespace crossbow::reference
