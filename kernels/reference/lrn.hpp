#pragma once
// Local response normalisation as plain loops: what the other implementations are tested
// on. Sums are in double.

#include <cmath>
#include <cstdint>

#include "kernels/lrn.hpp"

namespace crossbow::reference {

/// Whether the sum of channel c has x² of channel `other`.
inline bool lrn_sees(const LrnShape& s, std::int64_t c, std::int64_t other) {
  return c - s.before() <= other && other <= c + s.after();
}

template <class Real>
double lrn_denominator(const LrnShape& s, const Real* row, std::int64_t c) {
  double sum = 0;
  for (std::int64_t other = 0; other < s.c; ++other) {
    if (lrn_sees(s, c, other)) {
      sum += static_cast<double>(row[other]) * row[other];
    }
  }
  return s.k + s.alpha * sum / static_cast<double>(s.size);
}

/// The same as crossbow::lrn_forward.
template <class Real>
void lrn_forward(const LrnShape& s, const Real* x, Real* y) {
  for (std::int64_t row = 0; row < s.rows; ++row) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      const double d = lrn_denominator(s, x + row * s.c, c);
      y[row * s.c + c] =
          static_cast<Real>(x[row * s.c + c] * std::pow(d, -double{s.beta}));
    }
  }
}

/// The same as crossbow::lrn_backward.
template <class Real>
void lrn_backward(const LrnShape& s, const Real* x, const Real* dy, Real* dx) {
  for (std::int64_t row = 0; row < s.rows; ++row) {
    const Real* const in = x + row * s.c;
    const Real* const gradient = dy + row * s.c;
    for (std::int64_t c = 0; c < s.c; ++c) {
      double sum = 0;
      for (std::int64_t seer = 0; seer < s.c; ++seer) {
        if (lrn_sees(s, seer, c)) {
          const double d = lrn_denominator(s, in, seer);
          sum += gradient[seer] * in[seer] * std::pow(d, -s.beta - 1.0);
        }
      }
      const double d = lrn_denominator(s, in, c);
      dx[row * s.c + c] = static_cast<Real>(
          gradient[c] * std::pow(d, -double{s.beta}) -
          2.0 * s.alpha * s.beta / static_cast<double>(s.size) * in[c] * sum);
    }
  }
}

}  // namespace crossbow::reference
