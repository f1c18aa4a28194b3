#pragma once
// Work items of the pooling kernels, for for_each_pixel (kernels/element_loop.hpp): each
// covers channels [begin, end) of one pixel.

#include <cstdint>

#include "kernels/element_loop.hpp"
#include "kernels/pool2d.hpp"

namespace crossbow::pooling {

/// In place of a window's position: no gradient comes back (ReLU cut the maximum off).
inline constexpr std::uint8_t no_position = 255;

/// An integer that orders as its float does: NaN is the largest, -0 equals 0. Maxima are
/// taken on these, because a comparison of floats may raise an exception, for which GCC
/// keeps branches where it could have vectorised; one of integers may not.
KOKKOS_INLINE_FUNCTION std::int32_t to_ordered(float value) {
  constexpr std::int32_t magnitude = 0x7FFFFFFF, infinity = 0x7F800000;
  const auto bits = Kokkos::bit_cast<std::int32_t>(value + 0.0F);  // -0 becomes 0
  return (bits & magnitude) > infinity ? magnitude : bits ^ (bits >> 31 & magnitude);
}

/// The inverse of to_ordered.
KOKKOS_INLINE_FUNCTION float from_ordered(std::int32_t ordered) {
  return Kokkos::bit_cast<float>(ordered ^ (ordered >> 31 & 0x7FFFFFFF));
}

/// The first largest of a window's values, as ordered integers.
struct Maximum {
  std::int32_t value, position;
};

template <std::size_t N>
KOKKOS_FORCEINLINE_FUNCTION Maximum first_maximum(const std::int32_t (&values)[N]) {
  Maximum maximum{values[0], 0};
  for (std::size_t k = 1; k < N; ++k) {
    const std::int32_t value = values[k], position = static_cast<std::int32_t>(k);
    maximum.position = value > maximum.value ? position : maximum.position;
    maximum.value = value > maximum.value ? value : maximum.value;
  }
  return maximum;
}

/// y = maximum over the window, at = its position (row by row) in the window.
struct MaxForward {
  Pool2dShape shape;
  const float* x = nullptr;
  float* y = nullptr;
  std::uint8_t* at = nullptr;
  std::int64_t out_h = shape.out_h(), out_w = shape.out_w();  // divisions: once

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t out = (row * out_w + column) * shape.c;
    const std::int64_t out_row = row % out_h;
    const float* const image = x + row / out_h * shape.h * shape.w * shape.c;
    if (shape.size == 2 && shape.is_inside()) {
      two_by_two(
          image + (out_row * shape.w + column) * shape.stride * shape.c, out, begin, end);
    } else {
      any_size(image,
               {PoolWindow::of(shape, out_row, shape.h),
                PoolWindow::of(shape, column, shape.w)},
               out,
               begin,
               end);
    }
  }

 private:
  /// At most this is cut off: nothing, or what ReLU takes for zero.
  KOKKOS_FUNCTION std::int32_t floor() const {
    return shape.relu ? 0 : -0x7FFFFFFF - 1;  // below minus infinity
  }

  KOKKOS_FUNCTION void two_by_two(const float* window,
                                  std::int64_t out,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const float* const next = window + shape.c;
    const float* const below = window + shape.w * shape.c;
    const float* const below_next = below + shape.c;
    float* const y_out = y + out;
    std::uint8_t* const at_out = at + out;
    const std::int32_t least = floor();
    for_each_piece(begin, end, [&](std::int64_t first, auto width) {
      std::int32_t
          positions[width()];  // a loop of one element size is one of full vectors
      for (int i = 0; i < width; ++i) {
        const std::int64_t at_i = first + i;
        const Maximum maximum = first_maximum({to_ordered(window[at_i]),
                                               to_ordered(next[at_i]),
                                               to_ordered(below[at_i]),
                                               to_ordered(below_next[at_i])});
        positions[i] = maximum.value <= least ? no_position : maximum.position;
        y_out[at_i] = from_ordered(maximum.value <= least ? least : maximum.value);
      }
      for (int i = 0; i < width; ++i) {
        at_out[first + i] = static_cast<std::uint8_t>(positions[i]);
      }
    });
  }

  struct Window {
    PoolWindow rows, columns;
  };

  KOKKOS_FUNCTION void any_size(const float* image,
                                const Window& window,
                                std::int64_t out,
                                std::int64_t begin,
                                std::int64_t end) const {
    const auto position_of = [&](std::int64_t row, std::int64_t column) {
      return static_cast<int>((row - window.rows.first) * shape.size + column -
                              window.columns.first);
    };
    const auto pixel = [&](std::int64_t row, std::int64_t column) {
      return image + (row * shape.w + column) * shape.c;
    };
    const PoolWindow &rows = window.rows, &columns = window.columns;
    float* const y_out = y + out;
    std::uint8_t* const at_out = at + out;
    const float* const first_values = pixel(rows.begin, columns.begin);
    const int first = position_of(rows.begin, columns.begin);
    for (std::int64_t i = begin; i < end; ++i) {
      y_out[i] = first_values[i];
      at_out[i] = static_cast<std::uint8_t>(first);
    }
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t column = columns.begin; column < columns.end; ++column) {
        const float* const values = pixel(row, column);
        const int k = position_of(row, column);
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
          const std::int32_t value = to_ordered(values[i]),
                             maximum = to_ordered(y_out[i]);
          const std::int32_t position = at_out[i];
          y_out[i] = from_ordered(value > maximum ? value : maximum);
          at_out[i] = static_cast<std::uint8_t>(value > maximum ? k : position);
        }
      }
    }
    const std::int32_t least = floor();
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int32_t maximum = to_ordered(y_out[i]), position = at_out[i];
      at_out[i] = static_cast<std::uint8_t>(maximum <= least ? no_position : position);
      y_out[i] = from_ordered(maximum <= least ? least : maximum);
    }
  }
};

/// dx of max pooling with size 2, stride 2 and even h and w: each output pixel owns four
/// input pixels.
struct MaxBackwardTwoByTwo {
  Pool2dShape shape;
  const float* dy = nullptr;
  const std::uint8_t* at = nullptr;
  float* dx = nullptr;
  std::int64_t out_w = shape.out_w();

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    // Row `row` of all output rows, samples one after another, has input rows 2 row +
    // 0, 1.
    const std::int64_t line = shape.w * shape.c;
    const std::int64_t out = (row * out_w + column) * shape.c;
    const float* const gradient = dy + out;
    const std::uint8_t* const position = at + out;
    float* const here = dx + 2 * row * line + 2 * column * shape.c;
    float* const next = here + shape.c;
    float* const below = here + line;
    float* const below_next = below + shape.c;
    for_each_piece(begin, end, [&](std::int64_t first, auto width) {
      std::int32_t positions[width()];
      for (int i = 0; i < width; ++i) {
        positions[i] = position[first + i];
      }
      for (int i = 0; i < width; ++i) {
        const float value = gradient[first + i];
        here[first + i] = positions[i] == 0 ? value : 0;
        next[first + i] = positions[i] == 1 ? value : 0;
        below[first + i] = positions[i] == 2 ? value : 0;
        below_next[first + i] = positions[i] == 3 ? value : 0;
      }
    });
  }
};

/// Output rows (or columns) whose windows hold an input row (or column).
struct Windows {
  std::int64_t begin, end;
};

KOKKOS_INLINE_FUNCTION Windows windows_of(std::int64_t input,
                                          const Pool2dShape& shape,
                                          std::int64_t outputs) {
  const std::int64_t padded = input + shape.padding;
  const std::int64_t first_input = padded - shape.size + 1;  // of the earliest window
  const std::int64_t begin =
      first_input > 0 ? (first_input + shape.stride - 1) / shape.stride : 0;
  const std::int64_t end = padded / shape.stride + 1;
  return {begin, end < outputs ? end : outputs};
}

/// dx at one input pixel, gathered from all windows that hold it in the order of rows: no
/// two work items write the same value. `Kind`: the gradient that output value i gives to
/// position k of its window is kind.of(k, pixels that the window counts)(i).
template <class Kind>
struct GatherBackward {
  Pool2dShape shape;
  Kind kind;
  float* dx = nullptr;
  std::int64_t out_h = shape.out_h(), out_w = shape.out_w();

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t y = row % shape.h, channels = shape.c;
    const Windows rows = windows_of(y, shape, out_h);
    const Windows columns = windows_of(column, shape, out_w);
    float* const to = dx + (row * shape.w + column) * channels;
    for (std::int64_t i = begin; i < end; ++i) {
      to[i] = 0;
    }
    for (std::int64_t oy = rows.begin; oy < rows.end; ++oy) {
      const PoolWindow vertical = PoolWindow::of(shape, oy, shape.h);
      for (std::int64_t ox = columns.begin; ox < columns.end; ++ox) {
        const PoolWindow horizontal = PoolWindow::of(shape, ox, shape.w);
        const auto gradient = kind.of(static_cast<int>((y - vertical.first) * shape.size +
                                                       column - horizontal.first),
                                      vertical.counted * horizontal.counted);
        const std::int64_t out = ((row / shape.h * out_h + oy) * out_w + ox) * channels;
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
          to[i] += gradient(out + i);
        }
      }
    }
  }
};

struct MaxGradient {
  const float* dy = nullptr;
  const std::uint8_t* at = nullptr;
  int k = 0;

  KOKKOS_FUNCTION MaxGradient of(int position, std::int64_t) const {
    return {dy, at, position};
  }
  KOKKOS_FUNCTION float operator()(std::int64_t i) const {
    const float value = dy[i];
    return at[i] == k ? value : 0;
  }
};

struct AverageGradient {
  const float* dy = nullptr;
  float factor = 1;

  KOKKOS_FUNCTION AverageGradient of(int, std::int64_t counted) const {
    return {dy, 1 / static_cast<float>(counted)};
  }
  KOKKOS_FUNCTION float operator()(std::int64_t i) const { return dy[i] * factor; }
};

/// y = mean over the window.
struct AverageForward {
  Pool2dShape shape;
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t out_h = shape.out_h(), out_w = shape.out_w();

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t column,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const std::int64_t channels = shape.c;
    const PoolWindow rows = PoolWindow::of(shape, row % out_h, shape.h);
    const PoolWindow columns = PoolWindow::of(shape, column, shape.w);
    const float* const image = x + row / out_h * shape.h * shape.w * channels;
    float* const out = y + (row * out_w + column) * channels;
    const float factor = 1 / static_cast<float>(rows.counted * columns.counted);
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = 0;
    }
    for (std::int64_t in_row = rows.begin; in_row < rows.end; ++in_row) {
      for (std::int64_t in_column = columns.begin; in_column < columns.end; ++in_column) {
        const float* const values = image + (in_row * shape.w + in_column) * channels;
#pragma GCC ivdep
        for (std::int64_t i = begin; i < end; ++i) {
          out[i] += values[i];
        }
      }
    }
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] *= factor;
    }
  }
};

}  // namespace crossbow::pooling
