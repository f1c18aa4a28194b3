#pragma once
// The way from stored bytes to the network's input.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// y = scale * x + shift for bytes x: pixels as floats.
template <class Exec>
void normalise(const Exec& exec,
               ConstSpan<Exec, std::uint8_t> x,
               float scale,
               float shift,
               Span<Exec> y);

}  // namespace crossbow
