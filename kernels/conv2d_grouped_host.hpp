#pragma once
// Work items of the Kokkos convolution on the host with groups or dilation: a kernel
// column and a group at a time, as small matrix products (kernels/panel.hpp); a depthwise
// one, of a channel a group, as vector loops over channels.
//
// Weights are [kernel row][kernel column][channel of the group][filter].

#include <algorithm>
#include <cstdint>

#include "kernels/conv2d_host.hpp"

namespace crossbow::conv_host {

/// Whether each filter sees the one channel of its own number.
inline bool is_depthwise(const Conv2dShape& s) {
  return s.groups == s.c && s.groups == s.filters;
}

/// Pixels of an output row and the input pixel that the first of them sees at one kernel
/// column.
struct SeenPixels {
  std::int64_t count, out, in;
};

/// Call f(kernel column, pixels) for the columns of the kernel.
template <class F>
void for_each_kernel_column(const Conv2dShape& s, const F& f) {
  for (std::int64_t column = 0; column < s.kernel; ++column) {
    const Range outputs = valid_outputs(s, column, s.w, s.out_w());
    const std::int64_t in = outputs.begin * s.stride - s.pad_begin + column * s.dilation;
    f(column, SeenPixels{outputs.end - outputs.begin, outputs.begin, in});
  }
}

/// y(p, c) += a(p, c) b(c) for `pixels` rows of a and y.
inline void multiply_channels(std::int64_t pixels,
                              PanelRows<const float> a,
                              const float* b,
                              PanelRows<float> y,
                              std::int64_t channels) {
  for (std::int64_t p = 0; p < pixels; ++p) {
    const float* const left = a.data + p * a.stride;
    float* const out = y.data + p * y.stride;
#pragma GCC ivdep
    for (std::int64_t c = 0; c < channels; ++c) {
      out[c] += left[c] * b[c];
    }
  }
}

/// One output row: item = sample * out_h + row.
struct GroupedForward {
  Conv2dShape s;
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // null: none
  float* y = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t row = item % s.out_h(), sample = item / s.out_h();
    float* const out = y + item * s.out_w() * s.filters;
    for (std::int64_t column = 0; column < s.out_w(); ++column) {
      for (std::int64_t f = 0; f < s.filters; ++f) {
        out[column * s.filters + f] = bias != nullptr ? bias[f] : 0;
      }
    }
    const Range taps = valid_taps(s, row, s.h);
    for (std::int64_t tap = taps.begin; tap < taps.end; ++tap) {
      const std::int64_t line = row * s.stride - s.pad_begin + tap * s.dilation;
      add_kernel_row(x + (sample * s.h + line) * s.w * s.c, tap, out);
    }
    if (s.relu) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < s.out_w() * s.filters; ++i) {
        out[i] = out[i] <= 0 ? 0 : out[i];
      }
    }
  }

 private:
  void add_kernel_row(const float* line, std::int64_t tap, float* out) const {
    const std::int64_t channels = s.group_channels(), filters = s.group_filters();
    for_each_kernel_column(s, [&](std::int64_t column, const SeenPixels& p) {
      const float* const seen = line + p.in * s.c;
      const float* const w = weight + (tap * s.kernel + column) * channels * s.filters;
      float* const to = out + p.out * s.filters;
      if (is_depthwise(s)) {
        multiply_channels(p.count, {seen, s.stride * s.c}, w, {to, s.filters}, s.c);
        return;
      }
      for (std::int64_t group = 0; group < s.groups; ++group) {
        multiply({seen + group * channels, s.stride * s.c, 1},
                 {p.count, channels},
                 {w + group * filters, s.filters},
                 {to + group * filters, s.filters},
                 filters);
      }
    });
  }
};

/// One input row: item = sample * h + row.
struct GroupedBackwardData {
  Conv2dShape s;
  const float* dy = nullptr;
  const float* swapped = nullptr;
  float* dx = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t row = item % s.h, sample = item / s.h;
    float* const in = dx + item * s.w * s.c;
    std::fill(in, in + s.w * s.c, 0.0F);
    for (std::int64_t tap = 0; tap < s.kernel; ++tap) {
      const std::int64_t distance = row + s.pad_begin - tap * s.dilation;
      if (distance < 0 || distance % s.stride != 0 || distance / s.stride >= s.out_h()) {
        continue;
      }
      const std::int64_t line = sample * s.out_h() + distance / s.stride;
      add_kernel_row(dy + line * s.out_w() * s.filters, tap, in);
    }
  }

 private:
  void add_kernel_row(const float* line, std::int64_t tap, float* in) const {
    const std::int64_t channels = s.group_channels(), filters = s.group_filters();
    for_each_kernel_column(s, [&](std::int64_t column, const SeenPixels& p) {
      const float* const from = line + p.out * s.filters;
      const float* const w = swapped + (tap * s.kernel + column) * s.filters * channels;
      float* const to = in + p.in * s.c;
      if (is_depthwise(s)) {
        multiply_channels(p.count, {from, s.filters}, w, {to, s.stride * s.c}, s.c);
        return;
      }
      for (std::int64_t group = 0; group < s.groups; ++group) {
        multiply({from + group * filters, s.filters, 1},
                 {p.count, filters},
                 {w + group * filters * channels, channels},
                 {to + group * channels, s.stride * s.c},
                 channels);
      }
    });
  }
};

/// All of dweight at one place of the kernel, summed over all pixels of all samples: item
/// = kernel row * kernel + kernel column.
struct GroupedBackwardWeight {
  Conv2dShape s;
  const float* x = nullptr;
  const float* dy = nullptr;
  float* dweight = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t tap = item / s.kernel, column = item % s.kernel;
    const std::int64_t size = s.group_channels() * s.filters;
    float* const sums = dweight + item * size;
    std::fill(sums, sums + size, 0.0F);
    const Range rows = valid_outputs(s, tap, s.h, s.out_h());
    const Range columns = valid_outputs(s, column, s.w, s.out_w());
    const std::int64_t first =
        columns.begin * s.stride - s.pad_begin + column * s.dilation;
    for (std::int64_t sample = 0; sample < s.n; ++sample) {
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t in = row * s.stride - s.pad_begin + tap * s.dilation;
        add_line(
            x + ((sample * s.h + in) * s.w + first) * s.c,
            dy + ((sample * s.out_h() + row) * s.out_w() + columns.begin) * s.filters,
            columns.end - columns.begin,
            sums);
      }
    }
  }

 private:
  void add_line(const float* seen,
                const float* gradient,
                std::int64_t pixels,
                float* sums) const {
    if (is_depthwise(s)) {
      for (std::int64_t p = 0; p < pixels; ++p) {
        multiply_channels(
            1, {seen + p * s.stride * s.c, 0}, gradient + p * s.filters, {sums, 0}, s.c);
      }
      return;
    }
    const std::int64_t channels = s.group_channels(), filters = s.group_filters();
    for (std::int64_t group = 0; group < s.groups; ++group) {
      multiply({seen + group * channels, 1, s.stride * s.c},
               {channels, pixels},
               {gradient + group * filters, s.filters},
               {sums + group * filters, s.filters},
               filters);
    }
  }
};

}  // namespace crossbow::conv_host
