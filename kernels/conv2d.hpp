#pragma once
// Two-dimensional convolution (cross-correlation, as in every deep-learning library),
// NHWC. Vendor primitives are expensive to make, so an operation is an object for one
// shape.

#include <cstdint>
#include <memory>

#include "kernels/weighted_operation.hpp"

namespace crossbow {

struct Conv2dShape {
  std::int64_t n = 1, h = 1, w = 1, c = 1;  // input (n, h, w, c)
  std::int64_t filters = 1;                 // output channels
  std::int64_t kernel = 1;                  // square window [pixels]
  std::int64_t stride = 1;                  // [pixels]
  std::int64_t pad_begin = 0,
               pad_end = 0;  // zeros before and after, rows and columns alike
  bool bias = true;
  bool relu =
      false;  // forward ends with max(., 0); backward takes dy behind that already masked
  std::int64_t groups = 1;    // of channels, each seen by filters / groups of its own
  std::int64_t dilation = 1;  // distance of the pixels that a window sees

  constexpr std::int64_t window() const { return (kernel - 1) * dilation + 1; }
  constexpr std::int64_t group_channels() const { return c / groups; }
  constexpr std::int64_t group_filters() const { return filters / groups; }
  constexpr std::int64_t out_h() const {
    return (h + pad_begin + pad_end - window()) / stride + 1;
  }
  constexpr std::int64_t out_w() const {
    return (w + pad_begin + pad_end - window()) / stride + 1;
  }
  constexpr std::int64_t input_size() const { return n * h * w * c; }
  constexpr std::int64_t output_size() const { return n * out_h() * out_w() * filters; }
  constexpr std::int64_t weight_size() const {
    return filters * group_channels() * kernel * kernel;
  }
};

/// A convolution: x (n, h, w, c), y (n, out_h, out_w, filters), weights in exchange
/// layout [filters, c / groups, kernel, kernel]; groups divides c and filters.
template <class Exec>
using Conv2d = WeightedOperation<Exec>;
using Conv2dOptions = WeightedOptions<Conv2dShape>;

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec& exec, const Conv2dOptions& options);

}  // namespace crossbow
