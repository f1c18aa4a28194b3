#pragma once
// Work items of the Kokkos convolution on the host: rows of pixels against the weights of
// a kernel row, as small matrix products (kernels/panel.hpp) whose vector loops go over
// filters.
//
// Weights are [kernel row][kernel column][channel][filter]. In NHWC the input that one
// output pixel sees in one kernel row is contiguous, (kernel column, channel), and so are
// the weights of that row: a product over kernel c terms for all pixels at once, as far
// as the window lies inside the image. With groups or dilation it is not contiguous:
// conv2d_grouped_host.hpp.

#include <algorithm>
#include <cstdint>

#include "kernels/conv2d.hpp"
#include "kernels/panel.hpp"

namespace crossbow::conv_host {

/// A half-open range of pixels or terms.
struct Range {
  std::int64_t begin, end;
};

inline std::int64_t divide_up(std::int64_t x, std::int64_t y) {
  return x >= 0 ? (x + y - 1) / y : -(-x / y);
}

/// Outputs `o` for which the input o stride - pad_begin + tap dilation lies in [0,
/// inputs).
inline Range valid_outputs(const Conv2dShape& s,
                           std::int64_t tap,
                           std::int64_t inputs,
                           std::int64_t outputs) {
  const std::int64_t before = s.pad_begin - tap * s.dilation;
  const std::int64_t begin =
      std::clamp<std::int64_t>(divide_up(before, s.stride), 0, outputs);
  const std::int64_t end = divide_up(inputs + before, s.stride);
  return {begin, std::clamp(end, begin, outputs)};
}

/// Taps for which the input of output `o` lies in [0, inputs).
inline Range valid_taps(const Conv2dShape& s, std::int64_t o, std::int64_t inputs) {
  const std::int64_t first = o * s.stride - s.pad_begin;
  const std::int64_t begin =
      std::clamp<std::int64_t>(divide_up(-first, s.dilation), 0, s.kernel);
  return {begin, std::clamp(divide_up(inputs - first, s.dilation), begin, s.kernel)};
}

/// Call f(pixels, taps) for pieces of an output row whose pixels all see the kernel
/// columns `taps` inside the image: the middle at once, the border pixel by pixel.
template <class F>
void for_each_piece(const Conv2dShape& s, const F& f) {
  const std::int64_t outputs = s.out_w();
  const std::int64_t begin = valid_outputs(s, 0, s.w, outputs).begin;
  const std::int64_t end = valid_outputs(s, s.kernel - 1, s.w, outputs).end;
  const Range middle{begin, std::max(begin, end)};
  for (std::int64_t o = 0; o < middle.begin; ++o) {
    f(Range{o, o + 1}, valid_taps(s, o, s.w));
  }
  if (middle.begin < middle.end) {
    f(middle, Range{0, s.kernel});
  }
  for (std::int64_t o = middle.end; o < outputs; ++o) {
    f(Range{o, o + 1}, valid_taps(s, o, s.w));
  }
}

/// One output row: item = sample * out_h + row.
struct Forward {
  Conv2dShape s;
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // null: none
  float* y = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t row = item % s.out_h(), sample = item / s.out_h();
    float* const out = y + item * s.out_w() * s.filters;
    start(out);
    const Range taps = valid_taps(s, row, s.h);
    for (std::int64_t tap = taps.begin; tap < taps.end; ++tap) {
      const std::int64_t line = sample * s.h + row * s.stride - s.pad_begin + tap;
      add_kernel_row(x + line * s.w * s.c, tap, out);
    }
    if (s.relu) {
#pragma GCC ivdep
      for (std::int64_t i = 0; i < s.out_w() * s.filters; ++i) {
        out[i] = out[i] <= 0 ? 0 : out[i];
      }
    }
  }

 private:
  void start(float* out) const {
    for (std::int64_t column = 0; column < s.out_w(); ++column) {
      float* const pixel = out + column * s.filters;
#pragma GCC ivdep
      for (std::int64_t f = 0; f < s.filters; ++f) {
        pixel[f] = bias != nullptr ? bias[f] : 0;
      }
    }
  }

  void add_kernel_row(const float* line, std::int64_t tap, float* out) const {
    const float* const row_weight = weight + tap * s.kernel * s.c * s.filters;
    for_each_piece(s, [&](Range pixels, Range columns) {
      const float* const seen =
          line + (pixels.begin * s.stride - s.pad_begin + columns.begin) * s.c;
      multiply({seen, s.stride * s.c, 1},
               {pixels.end - pixels.begin, (columns.end - columns.begin) * s.c},
               {row_weight + columns.begin * s.c * s.filters, s.filters},
               {out + pixels.begin * s.filters, s.filters},
               s.filters);
    });
  }
};

/// Weights [kernel row][kernel column][filter][channel of the group] for BackwardData:
/// item = tap * filters + filter.
struct SwapChannels {
  Conv2dShape s;
  const float* weight = nullptr;
  float* swapped = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t tap = item / s.filters, filter = item % s.filters;
    const std::int64_t channels = s.group_channels();
    const float* const from = weight + tap * channels * s.filters + filter;
    float* const to = swapped + item * channels;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      to[channel] = from[channel * s.filters];
    }
  }
};

/// One input row: item = sample * h + row.
struct BackwardData {
  Conv2dShape s;
  const float* dy = nullptr;
  const float* swapped = nullptr;
  float* dx = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t row = item % s.h, sample = item / s.h;
    float* const in = dx + item * s.w * s.c;
    std::fill(in, in + s.w * s.c, 0.0F);
    for (std::int64_t tap = 0; tap < s.kernel; ++tap) {
      const std::int64_t distance = row + s.pad_begin - tap;
      if (distance < 0 || distance % s.stride != 0 || distance / s.stride >= s.out_h()) {
        continue;
      }
      const std::int64_t line = sample * s.out_h() + distance / s.stride;
      add_kernel_row(dy + line * s.out_w() * s.filters, tap, in);
    }
  }

 private:
  void add_kernel_row(const float* line, std::int64_t tap, float* in) const {
    for (std::int64_t column = 0; column < s.kernel; ++column) {
      const Range pixels = valid_outputs(s, column, s.w, s.out_w());
      const std::int64_t first = pixels.begin * s.stride - s.pad_begin + column;
      multiply({line + pixels.begin * s.filters, s.filters, 1},
               {pixels.end - pixels.begin, s.filters},
               {swapped + (tap * s.kernel + column) * s.filters * s.c, s.c},
               {in + first * s.c, s.stride * s.c},
               s.c);
    }
  }
};

/// A block of rows of dweight (kernel row, (kernel column, channel), filter), summed over
/// all pixels of all samples: item = kernel row * blocks() + block.
struct BackwardWeight {
  // Rows of a work item: with 64 filters 8 KiB that stay in the first-level cache.
  static constexpr std::int64_t block = 32;

  Conv2dShape s;
  const float* x = nullptr;
  const float* dy = nullptr;
  float* dweight = nullptr;

  std::int64_t blocks() const { return divide_up(s.kernel * s.c, block); }

  void operator()(std::int64_t item) const {
    const std::int64_t tap = item / blocks();
    const std::int64_t begin = item % blocks() * block;
    const Range terms{begin, std::min(begin + block, s.kernel * s.c)};
    float* const row = dweight + tap * s.kernel * s.c * s.filters;
    std::fill(row + terms.begin * s.filters, row + terms.end * s.filters, 0.0F);
    const Range outputs = valid_outputs(s, tap, s.h, s.out_h());
    for (std::int64_t sample = 0; sample < s.n; ++sample) {
      for (std::int64_t out = outputs.begin; out < outputs.end; ++out) {
        const std::int64_t in = out * s.stride - s.pad_begin + tap;
        add_line(x + (sample * s.h + in) * s.w * s.c,
                 dy + (sample * s.out_h() + out) * s.out_w() * s.filters,
                 terms,
                 row);
      }
    }
  }

 private:
  void add_line(const float* line, const float* gradient, Range terms, float* row) const {
    for_each_piece(s, [&](Range pixels, Range columns) {
      const std::int64_t begin = std::max(terms.begin, columns.begin * s.c);
      const std::int64_t end = std::min(terms.end, columns.end * s.c);
      const float* const seen = line + (pixels.begin * s.stride - s.pad_begin) * s.c;
      multiply({seen + begin, 1, s.stride * s.c},
               {end - begin, pixels.end - pixels.begin},
               {gradient + pixels.begin * s.filters, s.filters},
               {row + begin * s.filters, s.filters},
               s.filters);
    });
  }
};

}  // namespace crossbow::conv_host
