#pragma once
// Work items of the Kokkos linear layer. Weights are [input][unit], inputs in the order
// (h, w, c) of NHWC, so that vector loops and neighbouring device threads go over units.

#include <algorithm>
#include <cstdint>

#include "kernels/linear.hpp"
#include "kernels/panel.hpp"

namespace crossbow::linear_host {

/// Units of a work item of Forward. With input_block rows of weights 32 KiB, which all
/// samples then find in the first-level cache.
inline constexpr std::int64_t unit_block = 128;
inline constexpr std::int64_t input_block = 64;

inline std::int64_t blocks(std::int64_t size, std::int64_t block) {
  return (size + block - 1) / block;
}

/// y (n, units) for a block of units: item = block.
struct Forward {
  LinearShape s;
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // null: none
  float* y = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t begin = item * unit_block;
    const std::int64_t end = std::min(begin + unit_block, s.units);
    for (std::int64_t sample = 0; sample < s.n; ++sample) {
      for (std::int64_t unit = begin; unit < end; ++unit) {
        y[sample * s.units + unit] = bias != nullptr ? bias[unit] : 0;
      }
    }
    for (std::int64_t in = 0; in < s.in(); in += input_block) {
      multiply({x + in, s.in(), 1},
               {s.n, std::min(input_block, s.in() - in)},
               {weight + in * s.units + begin, s.units},
               {y + begin, s.units},
               end - begin);
    }
    for (std::int64_t sample = 0; s.relu && sample < s.n; ++sample) {
      float* const row = y + sample * s.units;
#pragma GCC ivdep
      for (std::int64_t unit = begin; unit < end; ++unit) {
        row[unit] = row[unit] <= 0 ? 0 : row[unit];
      }
    }
  }
};

/// Inputs of a work item of the backward kernels.
inline constexpr std::int64_t backward_block = 8;

/// dx (n, in) for a block of inputs: item = block.
struct BackwardData {
  LinearShape s;
  const float* dy = nullptr;
  const float* weight = nullptr;
  float* dx = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t begin = item * backward_block;
    dot_rows({dy, s.units},
             {s.n, std::min(backward_block, s.in() - begin)},
             {weight + begin * s.units, s.units},
             {dx + begin, s.in()},
             s.units);
  }
};

/// Rows of dweight for a block of inputs, summed over samples: item = block.
struct BackwardWeight {
  LinearShape s;
  const float* x = nullptr;
  const float* dy = nullptr;
  float* dweight = nullptr;

  void operator()(std::int64_t item) const {
    const std::int64_t begin = item * backward_block;
    const std::int64_t rows = std::min(backward_block, s.in() - begin);
    float* const out = dweight + begin * s.units;
    std::fill(out, out + rows * s.units, 0.0F);
    multiply({x + begin, 1, s.in()}, {rows, s.n}, {dy, s.units}, {out, s.units}, s.units);
  }
};

}  // namespace crossbow::linear_host

namespace crossbow::linear_device {

/// One value of y: item = its index.
struct Forward {
  LinearShape s;
  const float* x = nullptr;
  const float* weight = nullptr;
  const float* bias = nullptr;  // null: none
  float* y = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t unit = item % s.units;
    const float* const input = x + item / s.units * s.in();
    float sum = bias != nullptr ? bias[unit] : 0;
    for (std::int64_t i = 0; i < s.in(); ++i) {
      sum += input[i] * weight[i * s.units + unit];
    }
    y[item] = s.relu && sum <= 0 ? 0 : sum;
  }
};

/// One value of dx: item = its index.
struct BackwardData {
  LinearShape s;
  const float* dy = nullptr;
  const float* weight = nullptr;
  float* dx = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const float* const gradient = dy + item / s.in() * s.units;
    const float* const row = weight + item % s.in() * s.units;
    float sum = 0;
    for (std::int64_t unit = 0; unit < s.units; ++unit) {
      sum += gradient[unit] * row[unit];
    }
    dx[item] = sum;
  }
};

/// One value of dweight: item = its index.
struct BackwardWeight {
  LinearShape s;
  const float* x = nullptr;
  const float* dy = nullptr;
  float* dweight = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t unit = item % s.units, input = item / s.units;
    float sum = 0;
    for (std::int64_t sample = 0; sample < s.n; ++sample) {
      sum += x[sample * s.in() + input] * dy[sample * s.units + unit];
    }
    dweight[item] = sum;
  }
};

}  // namespace crossbow::linear_device
