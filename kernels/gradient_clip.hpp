#pragma once
// Clipping of a gradient by its norm (DESIGN 2): before weight decay is added, PyTorch's
// order and formula.

#include "kernels/spaces.hpp"

namespace crossbow {

/// g (n) times min(1, max_norm / (|g| + 1e-6)), |g| the Euclidean norm of all of it,
/// summed in double in an order that depends on n and the instance's threads alone.
/// Leaves |g|^2 in `squared_norm` (1). A NaN or Inf in g stays one.
template <class Exec>
void clip_gradient(const Exec& exec,
                   float max_norm,
                   Span<Exec> g,
                   Span<Exec, double> squared_norm);

}  // namespace crossbow
