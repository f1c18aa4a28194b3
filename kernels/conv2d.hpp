#pragma once
// Two-dimensional convolution (cross-correlation, as in every deep-learning library),
// NHWC. Vendor primitives are expensive to make, so an operation is an object for one
// shape.

#include <cstdint>
#include <memory>

#include "kernels/spaces.hpp"
#include "kernels/weight_layout.hpp"

namespace crossbow {

struct Conv2dShape {
  std::int64_t n = 1, h = 1, w = 1, c = 1;  // input (n, h, w, c)
  std::int64_t filters = 1;                 // output channels
  std::int64_t kernel = 1;                  // square window [pixels]
  std::int64_t stride = 1;                  // [pixels]
  std::int64_t pad_begin = 0,
               pad_end = 0;  // zeros before and after, rows and columns alike
  bool bias = true;
  bool relu =
      false;  // forward ends with max(., 0); backward takes dy behind that already masked

  std::int64_t out_h() const { return (h + pad_begin + pad_end - kernel) / stride + 1; }
  std::int64_t out_w() const { return (w + pad_begin + pad_end - kernel) / stride + 1; }
  std::int64_t input_size() const { return n * h * w * c; }
  std::int64_t output_size() const { return n * out_h() * out_w() * filters; }
  std::int64_t weight_size() const { return filters * c * kernel * kernel; }
};

/// A convolution of one shape. All calls enqueue on `exec` and do not fence. `bias` and
/// `dbias` have `filters` elements, or none without bias.
template <class Exec>
class Conv2d {
 public:
  Conv2d() = default;
  Conv2d(const Conv2d&) = delete;
  Conv2d& operator=(const Conv2d&) = delete;
  virtual ~Conv2d() = default;

  /// Layout of `weight` and `dweight`; exchange layout [filters, c, kernel, kernel].
  virtual std::shared_ptr<const WeightLayout> weight_layout() const = 0;

  /// y (n, out_h, out_w, filters) = conv(x, weight) + bias.
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
  /// dweight and dbias, overwritten; sums over the batch.
  virtual void backward_weight(const Exec& exec,
                               ConstSpan<Exec> x,
                               ConstSpan<Exec> dy,
                               Span<Exec> dweight,
                               Span<Exec> dbias) = 0;
};

/// What a convolution is made for. `inference` leaves out backward primitives; `imposed`
/// is the layout that weights already have (another Conv2d's), none: the primitive
/// chooses.
struct Conv2dOptions {
  Conv2dShape shape;
  KernelSet kernels = KernelSet::vendor;
  bool inference = false;
  std::shared_ptr<const WeightLayout> imposed;
};

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec& exec, const Conv2dOptions& options);

}  // namespace crossbow
