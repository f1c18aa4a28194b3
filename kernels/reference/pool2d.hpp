#pragma once
// Pooling as plain loops: what the other implementations are tested on. NHWC.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/pool2d.hpp"

namespace crossbow::reference {

/// Call f(x_index) for the inputs of output y_index, row by row of the window.
template <class F>
void for_each_in_window(const Pool2dShape& s, std::int64_t y_index, const F& f) {
  const std::int64_t c = y_index % s.c;
  const std::int64_t ow = y_index / s.c % s.out_w();
  const std::int64_t oh = y_index / s.c / s.out_w() % s.out_h();
  const std::int64_t n = y_index / s.c / s.out_w() / s.out_h();
  for (std::int64_t ky = 0; ky < s.size; ++ky) {
    for (std::int64_t kx = 0; kx < s.size; ++kx) {
      const std::int64_t ih = oh * s.stride - s.padding + ky;
      const std::int64_t iw = ow * s.stride - s.padding + kx;
      if (0 <= ih && ih < s.h && 0 <= iw && iw < s.w) {
        f(((n * s.h + ih) * s.w + iw) * s.c + c);
      }
    }
  }
}

/// Pixels that the average of output y_index is over: those of its window inside the
/// image and its padding.
inline double count_in_window(const Pool2dShape& s, std::int64_t y_index) {
  const std::int64_t ow = y_index / s.c % s.out_w();
  const std::int64_t oh = y_index / s.c / s.out_w() % s.out_h();
  std::int64_t count = 0;
  for (std::int64_t ky = 0; ky < s.size; ++ky) {
    for (std::int64_t kx = 0; kx < s.size; ++kx) {
      const bool in_rows = oh * s.stride - s.padding + ky < s.h + s.padding;
      const bool in_columns = ow * s.stride - s.padding + kx < s.w + s.padding;
      count += in_rows && in_columns ? 1 : 0;
    }
  }
  return static_cast<double>(count);
}

/// Index in x of the first largest input of output y_index; NaN is the largest.
template <class Real>
std::int64_t index_of_maximum(const Pool2dShape& s, std::int64_t y_index, const Real* x) {
  std::int64_t best = -1;
  for_each_in_window(s, y_index, [&](std::int64_t i) {
    const bool larger = best < 0 || x[i] > x[best];
    const bool first_nan = best >= 0 && std::isnan(x[i]) && !std::isnan(x[best]);
    if (larger || first_nan) {
      best = i;
    }
  });
  return best;
}

/// y from x. `at` (output_size): where in x each maximum was, -1 where no gradient comes
/// back because of shape.relu; not written by average pooling.
template <class Real>
void pool2d_forward(const Pool2dShape& s, const Real* x, Real* y, std::int64_t* at) {
  for (std::int64_t i = 0; i < s.output_size(); ++i) {
    if (s.kind == PoolKind::average) {
      double sum = 0;
      for_each_in_window(s, i, [&](std::int64_t x_index) { sum += x[x_index]; });
      y[i] = static_cast<Real>(sum / count_in_window(s, i));
    } else {
      at[i] = index_of_maximum(s, i, x);
      y[i] = x[at[i]];
      if (s.relu && y[i] <= 0) {
        y[i] = 0;
        at[i] = -1;
      }
    }
  }
}

/// dx from dy and what forward left in `at`.
template <class Real>
void pool2d_backward(const Pool2dShape& s,
                     const Real* dy,
                     const std::int64_t* at,
                     Real* dx) {
  std::vector<double> sum(static_cast<std::size_t>(s.input_size()), 0);
  for (std::int64_t i = 0; i < s.output_size(); ++i) {
    if (s.kind == PoolKind::average) {
      for_each_in_window(s, i, [&](std::int64_t x_index) {
        sum[static_cast<std::size_t>(x_index)] += dy[i] / count_in_window(s, i);
      });
    } else if (at[i] >= 0) {
      sum[static_cast<std::size_t>(at[i])] += dy[i];
    }
  }
  std::copy(sum.begin(), sum.end(), dx);
}

/// y (n, c) = mean of x (n, h, w, c) over h and w.
template <class Real>
void global_average_forward(const Pool2dShape& s, const Real* x, Real* y) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t c = 0; c < s.c; ++c) {
      double sum = 0;
      for (std::int64_t pixel = 0; pixel < s.h * s.w; ++pixel) {
        sum += x[(n * s.h * s.w + pixel) * s.c + c];
      }
      y[n * s.c + c] = static_cast<Real>(sum / static_cast<double>(s.h * s.w));
    }
  }
}

template <class Real>
void global_average_backward(const Pool2dShape& s, const Real* dy, Real* dx) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t pixel = 0; pixel < s.h * s.w; ++pixel) {
      for (std::int64_t c = 0; c < s.c; ++c) {
        dx[(n * s.h * s.w + pixel) * s.c + c] =
            static_cast<Real>(dy[n * s.c + c] / static_cast<double>(s.h * s.w));
      }
    }
  }
}

}  // namespace crossbow::reference
