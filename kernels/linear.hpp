#pragma once
// Fully connected layer: y = x Wᵀ + bias. The input is an NHWC image or a vector (h = w =
// 1).

#include <cstdint>
#include <memory>

#include "kernels/spaces.hpp"
#include "kernels/weight_layout.hpp"

namespace crossbow {

struct LinearShape {
  std::int64_t n = 1, h = 1, w = 1, c = 1;  // input (n, h, w, c)
  std::int64_t units = 1;                   // output (n, units)
  bool bias = true;
  bool relu =
      false;  // forward ends with max(., 0); backward takes dy behind that already masked

  std::int64_t in() const { return h * w * c; }
  std::int64_t input_size() const { return n * in(); }
  std::int64_t output_size() const { return n * units; }
  std::int64_t weight_size() const { return units * in(); }
};

/// A linear layer of one shape. All calls enqueue on `exec` and do not fence.
template <class Exec>
class Linear {
 public:
  Linear() = default;
  Linear(const Linear&) = delete;
  Linear& operator=(const Linear&) = delete;
  virtual ~Linear() = default;

  /// Layout of `weight` and `dweight`; exchange layout [units, c, h, w].
  virtual std::shared_ptr<const WeightLayout> weight_layout() const = 0;

  /// y (n, units) = x Wᵀ + bias.
  virtual void forward(const Exec& exec,
                       ConstSpan<Exec> x,
                       ConstSpan<Exec> weight,
                       ConstSpan<Exec> bias,
                       Span<Exec> y) = 0;
  /// dx (n, h, w, c), overwritten.
  virtual void backward_data(const Exec& exec,
                             ConstSpan<Exec> dy,
                             ConstSpan<Exec> weight,
                             Span<Exec> dx) = 0;
  /// dweight and dbias (units), overwritten; sums over the batch.
  virtual void backward_weight(const Exec& exec,
                               ConstSpan<Exec> x,
                               ConstSpan<Exec> dy,
                               Span<Exec> dweight,
                               Span<Exec> dbias) = 0;
};

/// See Conv2dOptions (kernels/conv2d.hpp).
struct LinearOptions {
  LinearShape shape;
  KernelSet kernels = KernelSet::vendor;
  bool inference = false;
  std::shared_ptr<const WeightLayout> imposed;
};

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec& exec, const LinearOptions& options);

}  // namespace crossbow
