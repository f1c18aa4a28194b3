#pragma once
// Element-wise activations. x and y (or dy and dx) may be the same array. NaN goes
// through.

#include "kernels/spaces.hpp"

namespace crossbow {

/// y = max(x, 0).
template <class Exec>
void relu_forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y);

/// dx = dy where y > 0, else 0.
template <class Exec>
void relu_backward(const Exec& exec,
                   ConstSpan<Exec> y,
                   ConstSpan<Exec> dy,
                   Span<Exec> dx);

/// y = tanh(x).
template <class Exec>
void tanh_forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y);

/// dx = dy (1 - y²).
template <class Exec>
void tanh_backward(const Exec& exec,
                   ConstSpan<Exec> y,
                   ConstSpan<Exec> dy,
                   Span<Exec> dx);

/// y = x where x > 0, else slope x; slope >= 0.
template <class Exec>
void leaky_relu_forward(const Exec& exec, float slope, ConstSpan<Exec> x, Span<Exec> y);

/// dx = dy where y > 0, else slope dy.
template <class Exec>
void leaky_relu_backward(
    const Exec& exec, float slope, ConstSpan<Exec> y, ConstSpan<Exec> dy, Span<Exec> dx);

/// y = 1 / (1 + exp(-x)).
template <class Exec>
void sigmoid_forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y);

/// dx = dy y (1 - y).
template <class Exec>
void sigmoid_backward(const Exec& exec,
                      ConstSpan<Exec> y,
                      ConstSpan<Exec> dy,
                      Span<Exec> dx);

}  // namespace crossbow
