#pragma once
// Element-wise sums and copies.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// y = a + b; y may be a or b.
template <class Exec>
void add(const Exec& exec, ConstSpan<Exec> a, ConstSpan<Exec> b, Span<Exec> y);

/// y = max(a + b, 0); y may be a or b. NaN goes through.
template <class Exec>
void add_relu(const Exec& exec, ConstSpan<Exec> a, ConstSpan<Exec> b, Span<Exec> y);

/// y += share (x - y).
template <class Exec>
void move_towards(const Exec& exec, float share, ConstSpan<Exec> x, Span<Exec> y);

/// y = x.
template <class Exec>
void copy(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y);

}  // namespace crossbow
