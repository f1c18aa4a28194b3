#pragma once
// The weights that every replica and z start from.

#include <cstdint>

#include "model/parameter_layout.hpp"

namespace crossbow {

/// Tensors of `layout` in exchange layout, each weight and scale from its slot's
/// initialiser. By default weights and biases are uniform in +-1/sqrt(fan_in), as
/// PyTorch's layers have them, so that decks of both can be compared; with another
/// initialiser biases are 0. Shifts are 0. A value is a function of (seed, tensor name,
/// index) alone.
NamedTensors initial_weights(const ParameterLayout& layout, std::uint64_t seed);

/// Running statistics before the first batch: means 0, variances 1.
NamedTensors initial_statistics(const ParameterLayout& layout);

}  // namespace crossbow
