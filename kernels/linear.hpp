#pragma once
// Fully connected layer: y = x Wᵀ + bias. The input is an NHWC image or a vector (h = w =
// 1).

#include <cstdint>
#include <memory>

#include "kernels/weighted_operation.hpp"

namespace crossbow {

struct LinearShape {
  std::int64_t n = 1, h = 1, w = 1, c = 1;  // input (n, h, w, c)
  std::int64_t units = 1;                   // output (n, units)
  bool bias = true;
  bool relu =
      false;  // forward ends with max(., 0); backward takes dy behind that already masked

  constexpr std::int64_t in() const { return h * w * c; }
  constexpr std::int64_t input_size() const { return n * in(); }
  constexpr std::int64_t output_size() const { return n * units; }
  constexpr std::int64_t weight_size() const { return units * in(); }
};

/// A linear layer: x (n, h, w, c), y (n, units), weights in exchange layout [units, c, h,
/// w].
template <class Exec>
using Linear = WeightedOperation<Exec>;
using LinearOptions = WeightedOptions<LinearShape>;

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec& exec, const LinearOptions& options);

}  // namespace crossbow
