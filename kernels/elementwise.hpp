#pragma once
// Element-wise sums and the way from stored bytes to the network's input.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// y = a + b; y may be a or b.
template <class Exec>
void add(const Exec& exec, ConstSpan<Exec> a, ConstSpan<Exec> b, Span<Exec> y);

/// y = x.
template <class Exec>
void copy(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y);

/// y = scale * x + shift for bytes x: pixels as floats.
template <class Exec>
void normalise(const Exec& exec,
               ConstSpan<Exec, std::uint8_t> x,
               float scale,
               float shift,
               Span<Exec> y);

}  // namespace crossbow
