#pragma once
// Element-wise sums as plain loops: what the other implementations are tested on.

#include <cstdint>

namespace crossbow::reference {

template <class Real>
void add(std::int64_t n, const Real* a, const Real* b, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = a[i] + b[i];
  }
}

template <class Real>
void add_relu(std::int64_t n, const Real* a, const Real* b, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    const Real sum = a[i] + b[i];
    y[i] = sum <= 0 ? 0 : sum;
  }
}

template <class Real>
void copy(std::int64_t n, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = x[i];
  }
}

template <class Real>
void normalise(std::int64_t n, const std::uint8_t* x, Real scale, Real shift, Real* y) {
  for (std::int64_t i = 0; i < n; ++i) {
    y[i] = scale * x[i] + shift;
  }
}

}  // namespace crossbow::reference
