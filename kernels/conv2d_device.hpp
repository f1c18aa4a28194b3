#pragma once
// Work items of the Kokkos convolution on a device: one result a thread, neighbouring
// threads on neighbouring filters (or channels), so that weights are read coalesced and
// inputs broadcast. Sums have a fixed order.
//
// Weights are [kernel row][kernel column][channel of the group][filter], as on the host.

#include <cstdint>

#include "kernels/conv2d.hpp"

namespace crossbow::conv_device {

/// Where an item lies in an array (n, h, w, c).
struct Place {
  std::int64_t n, h, w, c;
};

KOKKOS_INLINE_FUNCTION Place place_of(std::int64_t item,
                                      std::int64_t h,
                                      std::int64_t w,
                                      std::int64_t c) {
  return {item / (h * w * c), item / (w * c) % h, item / c % w, item % c};
}

/// One value of y: item = its index.
struct Forward {
  Conv2dShape s;
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // null: none
  float* y = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const Place at = place_of(item, s.out_h(), s.out_w(), s.filters);
    const std::int64_t channels = s.group_channels();
    float sum = bias != nullptr ? bias[at.c] : 0;
    for (std::int64_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
      const std::int64_t row =
          at.h * s.stride - s.pad_begin + tap / s.kernel * s.dilation;
      const std::int64_t column =
          at.w * s.stride - s.pad_begin + tap % s.kernel * s.dilation;
      if (row < 0 || row >= s.h || column < 0 || column >= s.w) {
        continue;
      }
      const float* const pixel = x + ((at.n * s.h + row) * s.w + column) * s.c +
                                 at.c / s.group_filters() * channels;
      const float* const column_weight = weight + tap * channels * s.filters + at.c;
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        sum += pixel[channel] * column_weight[channel * s.filters];
      }
    }
    y[item] = s.relu && sum <= 0 ? 0 : sum;
  }
};

/// Weights [kernel row][kernel column][filter][channel of the group]: item = index there.
struct SwapChannels {
  Conv2dShape s;
  const float* weight = nullptr;
  float* swapped = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t channels = s.group_channels();
    const std::int64_t channel = item % channels, filter = item / channels % s.filters;
    const std::int64_t tap = item / (channels * s.filters);
    swapped[item] = weight[(tap * channels + channel) * s.filters + filter];
  }
};

/// One value of dx: item = its index.
struct BackwardData {
  Conv2dShape s;
  const float* dy = nullptr;
  const float* swapped = nullptr;
  float* dx = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const Place at = place_of(item, s.h, s.w, s.c);
    const std::int64_t channels = s.group_channels(), filters = s.group_filters();
    const std::int64_t group = at.c / channels;
    float sum = 0;
    for (std::int64_t tap = 0; tap < s.kernel * s.kernel; ++tap) {
      const std::int64_t row = at.h + s.pad_begin - tap / s.kernel * s.dilation;
      const std::int64_t column = at.w + s.pad_begin - tap % s.kernel * s.dilation;
      const bool seen = row >= 0 && column >= 0 && row % s.stride == 0 &&
                        column % s.stride == 0 && row / s.stride < s.out_h() &&
                        column / s.stride < s.out_w();
      if (!seen) {
        continue;
      }
      const float* const gradient =
          dy +
          ((at.n * s.out_h() + row / s.stride) * s.out_w() + column / s.stride) *
              s.filters +
          group * filters;
      const float* const tap_weight =
          swapped + (tap * s.filters + group * filters) * channels + at.c % channels;
      for (std::int64_t filter = 0; filter < filters; ++filter) {
        sum += gradient[filter] * tap_weight[filter * channels];
      }
    }
    dx[item] = sum;
  }
};

/// One value of dweight, summed over all pixels of all samples: item = its index.
struct BackwardWeight {
  Conv2dShape s;
  const float* x = nullptr;
  const float* dy = nullptr;
  float* dweight = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t channels = s.group_channels(), filter = item % s.filters;
    const std::int64_t tap = item / (s.filters * channels);
    const std::int64_t channel =
        filter / s.group_filters() * channels + item / s.filters % channels;
    double total = 0;
    for (std::int64_t line = 0; line < s.n * s.out_h(); ++line) {
      const std::int64_t row =
          line % s.out_h() * s.stride - s.pad_begin + tap / s.kernel * s.dilation;
      if (row < 0 || row >= s.h) {
        continue;
      }
      const float* const inputs =
          x + (line / s.out_h() * s.h + row) * s.w * s.c + channel;
      const float* const gradients = dy + line * s.out_w() * s.filters + filter;
      float sum = 0;
      for (std::int64_t out = 0; out < s.out_w(); ++out) {
        const std::int64_t column =
            out * s.stride - s.pad_begin + tap % s.kernel * s.dilation;
        if (column >= 0 && column < s.w) {
          sum += inputs[column * s.c] * gradients[out * s.filters];
        }
      }
      total += sum;
    }
    dweight[item] = static_cast<float>(total);
  }
};

}  // namespace crossbow::conv_device
