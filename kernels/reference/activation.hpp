#pragma once
// Activations as plain loops: what the other implementations are tested on.

#include <cmath>
#include <cstdint>

namespace crossbow::reference {

template <class Real>
void relu_forward(std::int64_t n, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = x[i] <= 0 ? 0 : x[i];
  }
}

/// dx = dy, or 0 where y <= 0. (Where y is NaN, dy goes through: it must stay visible.)
template <class Real>
void relu_backward(std::int64_t n, const Real* y, const Real* dy, Real* dx) {
  for (std::int64_t i = 0; i < n; ++i) {
    dx[i] = y[i] <= 0 ? 0 : dy[i];
  }
}

template <class Real>
void tanh_forward(std::int64_t n, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = std::tanh(x[i]);
  }
}

template <class Real>
void tanh_backward(std::int64_t n, const Real* y, const Real* dy, Real* dx) {
  for (std::int64_t i = 0; i < n; ++i) {
    dx[i] = dy[i] * (1 - y[i] * y[i]);
  }
}

template <class Real>
void leaky_relu_forward(std::int64_t n, Real slope, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = x[i] <= 0 ? slope * x[i] : x[i];
  }
}

template <class Real>
void leaky_relu_backward(
    std::int64_t n, Real slope, const Real* y, const Real* dy, Real* dx) {
  for (std::int64_t i = 0; i < n; ++i) {
    dx[i] = y[i] <= 0 ? slope * dy[i] : dy[i];
  }
}

template <class Real>
void sigmoid_forward(std::int64_t n, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = 1 / (1 + std::exp(-x[i]));
  }
}

template <class Real>
void sigmoid_backward(std::int64_t n, const Real* y, const Real* dy, Real* dx) {
  for (std::int64_t i = 0; i < n; ++i) {
    dx[i] = dy[i] * y[i] * (1 - y[i]);
  }
}

}  // namespace crossbow::reference
