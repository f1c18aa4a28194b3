#pragma once
// Convolution as plain loops: what the other implementations are tested on. Sums are in
// double. Activations NHWC, weights (filters, c / groups, kernel, kernel).

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/conv2d.hpp"

namespace crossbow::reference {

/// Index of (n, h, w, c) in the input.
inline std::int64_t input_index(const Conv2dShape& s,
                                std::int64_t n,
                                std::int64_t h,
                                std::int64_t w,
                                std::int64_t c) {
  return ((n * s.h + h) * s.w + w) * s.c + c;
}

/// Call f(x_index, weight_index) for every product that y[y_index] sums: those whose
/// input lies in the padding are left out.
template <class F>
void for_each_product(const Conv2dShape& s, std::int64_t y_index, const F& f) {
  const std::int64_t filter = y_index % s.filters;
  const std::int64_t ow = y_index / s.filters % s.out_w();
  const std::int64_t oh = y_index / s.filters / s.out_w() % s.out_h();
  const std::int64_t n = y_index / s.filters / s.out_w() / s.out_h();
  const std::int64_t group = filter / s.group_filters();
  for (std::int64_t c = 0; c < s.group_channels(); ++c) {
    for (std::int64_t kh = 0; kh < s.kernel; ++kh) {
      for (std::int64_t kw = 0; kw < s.kernel; ++kw) {
        const std::int64_t ih = oh * s.stride - s.pad_begin + kh * s.dilation;
        const std::int64_t iw = ow * s.stride - s.pad_begin + kw * s.dilation;
        const bool inside = 0 <= ih && ih < s.h && 0 <= iw && iw < s.w;
        if (inside) {
          f(input_index(s, n, ih, iw, group * s.group_channels() + c),
            ((filter * s.group_channels() + c) * s.kernel + kh) * s.kernel + kw);
        }
      }
    }
  }
}

/// y = conv(x, weight) + bias, then max(y, 0) if shape.relu. bias: null without.
template <class Real>
void conv2d_forward(
    const Conv2dShape& s, const Real* x, const Real* weight, const Real* bias, Real* y) {
  for (std::int64_t i = 0; i < s.output_size(); ++i) {
    double sum = s.bias ? bias[i % s.filters] : 0;
    for_each_product(s, i, [&](std::int64_t x_index, std::int64_t weight_index) {
      sum += static_cast<double>(x[x_index]) * weight[weight_index];
    });
    y[i] = static_cast<Real>(s.relu && sum <= 0 ? 0 : sum);
  }
}

/// dx = sum of dy weight over all products with that x.
template <class Real>
void conv2d_backward_data(const Conv2dShape& s,
                          const Real* dy,
                          const Real* weight,
                          Real* dx) {
  std::vector<double> sum(static_cast<std::size_t>(s.input_size()), 0);
  for (std::int64_t i = 0; i < s.output_size(); ++i) {
    for_each_product(s, i, [&](std::int64_t x_index, std::int64_t weight_index) {
      sum[static_cast<std::size_t>(x_index)] +=
          static_cast<double>(dy[i]) * weight[weight_index];
    });
  }
  std::copy(sum.begin(), sum.end(), dx);
}

/// dweight = sum of dy x over all products with that weight, dbias = sum of dy.
template <class Real>
void conv2d_backward_weight(
    const Conv2dShape& s, const Real* x, const Real* dy, Real* dweight, Real* dbias) {
  std::vector<double> sum(static_cast<std::size_t>(s.weight_size()), 0);
  std::vector<double> bias_sum(static_cast<std::size_t>(s.filters), 0);
  for (std::int64_t i = 0; i < s.output_size(); ++i) {
    for_each_product(s, i, [&](std::int64_t x_index, std::int64_t weight_index) {
      sum[static_cast<std::size_t>(weight_index)] +=
          static_cast<double>(dy[i]) * x[x_index];
    });
    bias_sum[static_cast<std::size_t>(i % s.filters)] += dy[i];
  }
  std::copy(sum.begin(), sum.end(), dweight);
  if (s.bias) {
    std::copy(bias_sum.begin(), bias_sum.end(), dbias);
  }
}

}  // namespace crossbow::reference
