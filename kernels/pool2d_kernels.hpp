#pragma once
// Work items of the pooling kernels, for for_each_pixel (kernels/element_loop.hpp): each
// covers channels [begin, end) of one pixel.

#include <cstdint>

#include "kernels/pool2d.hpp"
#include "kernels/spaces.hpp"

namespace crossbow::pooling {

/// In place of a window's position: no gradient comes back (ReLU cut the maximum off).
inline constexpr std::uint8_t no_position = 255;

/// Whether `value` takes the place of the maximum so far: larger, or the first NaN.
KOKKOS_INLINE_FUNCTION bool is_new_maximum(float value, float maximum) {
  // Not "value > maximum": true also if value is NaN. No && since that is a branch.
  return static_cast<int>(!(value <= maximum)) & static_cast<int>(maximum == maximum);
}

/// y = maximum over the window, at = its position (row by row) in the window.
struct MaxForward {
  Pool2dShape shape;
  const float* x;
  float* y;
  std::uint8_t* at;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t line = shape.w * shape.c, channels = shape.c;
    const std::int64_t out_h = shape.out_h();
    const float* const window =
        x + ((row / out_h) * shape.h + row % out_h * shape.stride) * line +
        column * shape.stride * channels;
    const std::int64_t out = (row * shape.out_w() + column) * channels;
    if (shape.size == 2) {
      two_by_two(window, out, begin, end);
    } else {
      any_size(window, out, begin, end);
    }
  }

 private:
  KOKKOS_FUNCTION void two_by_two(const float* window,
                                  std::int64_t out,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const float* const next = window + shape.c;
    const float* const below = window + shape.w * shape.c;
    const float* const below_next = below + shape.c;
    float* const y_out = y + out;
    std::uint8_t* const at_out = at + out;
    const bool relu = shape.relu;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      const float values[3] = {next[i], below[i], below_next[i]};
      float maximum = window[i];
      int position = 0;
      for (int k = 0; k < 3; ++k) {
        const bool better = is_new_maximum(values[k], maximum);
        maximum = better ? values[k] : maximum;
        position = better ? k + 1 : position;
      }
      const bool cut = relu & (maximum <= 0);
      y_out[i] = cut ? 0 : maximum;
      at_out[i] = static_cast<std::uint8_t>(cut ? no_position : position);
    }
  }

  KOKKOS_FUNCTION void any_size(const float* window,
                                std::int64_t out,
                                std::int64_t begin,
                                std::int64_t end) const {
    float* const y_out = y + out;
    std::uint8_t* const at_out = at + out;
    const bool relu = shape.relu;
    for (std::int64_t i = begin; i < end; ++i) {
      y_out[i] = window[i];
      at_out[i] = 0;
    }
    const int positions = static_cast<int>(shape.size * shape.size);
    for (int k = 1; k < positions; ++k) {
      const float* const values =
          window + (k / shape.size * shape.w + k % shape.size) * shape.c;
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) {
        const float value = values[i], maximum = y_out[i];
        const bool better = is_new_maximum(value, maximum);
        y_out[i] = better ? value : maximum;
        at_out[i] = static_cast<std::uint8_t>(better ? k : at_out[i]);
      }
    }
    for (std::int64_t i = begin; relu && i < end; ++i) {
      const bool cut = y_out[i] <= 0;
      y_out[i] = cut ? 0 : y_out[i];
      at_out[i] = cut ? no_position : at_out[i];
    }
  }
};

/// dx of max pooling with size 2, stride 2 and even h and w: each output pixel owns four
/// input pixels.
struct MaxBackwardTwoByTwo {
  Pool2dShape shape;
  const float* dy;
  const std::uint8_t* at;
  float* dx;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    // Row `row` of all output rows, samples one after another, has input rows 2 row +
    // 0, 1.
    const std::int64_t line = shape.w * shape.c;
    const std::int64_t out = (row * shape.out_w() + column) * shape.c;
    const float* const gradient = dy + out;
    const std::uint8_t* const position = at + out;
    float* const here = dx + 2 * row * line + 2 * column * shape.c;
    float* const next = here + shape.c;
    float* const below = here + line;
    float* const below_next = below + shape.c;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      const float value = gradient[i];
      const int k = position[i];
      here[i] = k == 0 ? value : 0;
      next[i] = k == 1 ? value : 0;
      below[i] = k == 2 ? value : 0;
      below_next[i] = k == 3 ? value : 0;
    }
  }
};

/// Output rows (or columns) whose windows hold an input row (or column).
struct Windows {
  std::int64_t begin, end;
};

KOKKOS_INLINE_FUNCTION Windows windows_of(std::int64_t input,
                                          const Pool2dShape& shape,
                                          std::int64_t outputs) {
  const std::int64_t first_input = input - shape.size + 1;  // of the earliest window
  const std::int64_t begin =
      first_input > 0 ? (first_input + shape.stride - 1) / shape.stride : 0;
  const std::int64_t end = input / shape.stride + 1;
  return {begin, end < outputs ? end : outputs};
}

/// dx at one input pixel, gathered from all windows that hold it in the order of rows: no
/// two work items write the same value. `Kind`: the gradient that output value i gives to
/// position k of its window is kind(i, k).
template <class Kind>
struct GatherBackward {
  Pool2dShape shape;
  Kind kind;
  float* dx;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t out_h = shape.out_h(), out_w = shape.out_w();
    const std::int64_t y = row % shape.h, channels = shape.c;
    const Windows rows = windows_of(y, shape, out_h);
    const Windows columns = windows_of(column, shape, out_w);
    float* const to = dx + (row * shape.w + column) * channels;
    const Kind gradient = kind;
    for (std::int64_t i = begin; i < end; ++i) {
      to[i] = 0;
    }
    for (std::int64_t oy = rows.begin; oy < rows.end; ++oy) {
      for (std::int64_t ox = columns.begin; ox < columns.end; ++ox) {
        const int k = static_cast<int>((y - oy * shape.stride) * shape.size + column -
                                       ox * shape.stride);
        const std::int64_t out = ((row / shape.h * out_h + oy) * out_w + ox) * channels;
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
          to[i] += gradient(out + i, k);
        }
      }
    }
  }
};

struct MaxGradient {
  const float* dy;
  const std::uint8_t* at;

  KOKKOS_FUNCTION float operator()(std::int64_t i, int k) const {
    const float value = dy[i];
    return at[i] == k ? value : 0;
  }
};

struct AverageGradient {
  const float* dy;
  float factor;

  KOKKOS_FUNCTION float operator()(std::int64_t i, int) const { return dy[i] * factor; }
};

/// y = mean over the window.
struct AverageForward {
  Pool2dShape shape;
  const float* x;
  float* y;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t out_h = shape.out_h(), channels = shape.c;
    const float* const window =
        x + ((row / out_h * shape.h + row % out_h * shape.stride) * shape.w +
             column * shape.stride) *
                channels;
    float* const out = y + (row * shape.out_w() + column) * channels;
    const float factor = 1 / static_cast<float>(shape.size * shape.size);
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = 0;
    }
    for (std::int64_t k = 0; k < shape.size * shape.size; ++k) {
      const float* const values =
          window + (k / shape.size * shape.w + k % shape.size) * channels;
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) {
        out[i] += values[i];
      }
    }
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] *= factor;
    }
  }
};

}  // namespace crossbow::pooling
