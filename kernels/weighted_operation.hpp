#pragma once
// An operation with a weight and perhaps a bias: a convolution or a linear layer. Vendor
// primitives are expensive to make, so it is an object for one shape.

#include <memory>

#include "kernels/spaces.hpp"
#include "kernels/weight_layout.hpp"

namespace crossbow {

/// All calls enqueue on `exec` and do not fence. `bias` and `dbias` have an element per
/// output channel, or none where the shape has no bias.
template <class Exec>
class WeightedOperation {
 public:
  WeightedOperation() = default;
  WeightedOperation(const WeightedOperation&) = delete;
  WeightedOperation& operator=(const WeightedOperation&) = delete;
  virtual ~WeightedOperation() = default;

  /// Layout of `weight` and `dweight`.
  virtual std::shared_ptr<const WeightLayout> weight_layout() const = 0;

  /// y from x, weight and bias.
  virtual void forward(const Exec& exec,
                       ConstSpan<Exec> x,
                       ConstSpan<Exec> weight,
                       ConstSpan<Exec> bias,
                       Span<Exec> y) = 0;
  /// dx, of x's shape, overwritten.
  virtual void backward_data(const Exec& exec,
                             ConstSpan<Exec> dy,
                             ConstSpan<Exec> weight,
                             Span<Exec> dx) = 0;
  /// dweight and dbias, overwritten; sums over the batch.
  virtual void backward_weight(const Exec& exec,
                               ConstSpan<Exec> x,
                               ConstSpan<Exec> dy,
                               Span<Exec> dweight,
                               Span<Exec> dbias) = 0;
};

/// What an operation is made for, Shape being Conv2dShape or LinearShape. `inference`
/// leaves out backward primitives; `imposed` is the layout that weights already have
/// (another operation's), none: the operation chooses.
template <class Shape>
struct WeightedOptions {
  Shape shape;
  KernelSet kernels = KernelSet::vendor;
  bool inference = false;
  std::shared_ptr<const WeightLayout> imposed;
};

}  // namespace crossbow
