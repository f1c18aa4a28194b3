#pragma once
// Max and average pooling, NHWC, square windows, with padding and rounding as in PyTorch:
// padding never is a maximum, and counts in an average as zeros (count_include_pad, its
// default); with `ceil` the last window may reach beyond the image, but must begin inside
// it or the padding before it.

#include <cstdint>
#include <memory>

#include "kernels/spaces.hpp"

namespace crossbow {

enum class PoolKind { max, average };

/// The largest window of max pooling [pixels]: its backward pass remembers where in the
/// window the maximum was in a byte, of which one value means "nowhere".
inline constexpr std::int64_t largest_max_pool = 15;

struct Pool2dShape {
  std::int64_t n = 1, h = 1, w = 1, c = 1;  // input (n, h, w, c)
  std::int64_t size = 2;                    // square window [pixels]
  std::int64_t stride = 2;                  // [pixels]
  PoolKind kind = PoolKind::max;
  bool relu = false;  // max only: y = max(0, pool(x)), i.e. pool(relu(x)); backward stops
                      // at y = 0
  bool ceil = false;  // round the number of windows up
  std::int64_t padding = 0;  // on each side [pixels], at most size / 2

  constexpr std::int64_t out_h() const { return windows(h); }
  constexpr std::int64_t out_w() const { return windows(w); }
  constexpr std::int64_t input_size() const { return n * h * w * c; }
  constexpr std::int64_t output_size() const { return n * out_h() * out_w() * c; }

  /// Windows along `pixels` rows or columns.
  constexpr std::int64_t windows(std::int64_t pixels) const {
    const std::int64_t room = pixels + 2 * padding - size + (ceil ? stride - 1 : 0);
    const std::int64_t count = room / stride + 1;
    const bool begins_beyond = (count - 1) * stride >= pixels + padding;
    return ceil && begins_beyond ? count - 1 : count;
  }
  /// Whether every window lies inside the image.
  constexpr bool is_inside() const { return padding == 0 && !ceil; }
};

/// What a window covers along one side of the image: pixels [begin, end), and how many
/// rows (or columns) it has with the padding, but not what `ceil` adds beyond it.
struct PoolWindow {
  std::int64_t first;       // where it begins, negative in the padding
  std::int64_t begin, end;  // inside the image
  std::int64_t counted;     // what an average divides by, along this side

  /// The window that output `output` of a side of `pixels` has.
  static constexpr PoolWindow of(const Pool2dShape& s,
                                 std::int64_t output,
                                 std::int64_t pixels) {
    const std::int64_t first = output * s.stride - s.padding;
    const std::int64_t end = first + s.size;
    const std::int64_t padded = pixels + s.padding;
    return {first,
            first > 0 ? first : 0,
            end < pixels ? end : pixels,
            (end < padded ? end : padded) - first};
  }
};

/// A pooling layer of one shape; max pooling remembers in forward where each maximum was
/// (the first in row order where several are equal, as in PyTorch; NaN counts as the
/// largest). All calls enqueue on `exec` and do not fence; backward belongs to the last
/// forward.
template <class Exec>
class Pool2d {
 public:
  Pool2d() = default;
  Pool2d(const Pool2d&) = delete;
  Pool2d& operator=(const Pool2d&) = delete;
  virtual ~Pool2d() = default;

  /// y (n, out_h, out_w, c) from x (n, h, w, c).
  virtual void forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) = 0;
  /// dx (n, h, w, c), overwritten.
  virtual void backward(const Exec& exec, ConstSpan<Exec> dy, Span<Exec> dx) = 0;
};

struct Pool2dOptions {
  Pool2dShape shape;
  KernelSet kernels = KernelSet::vendor;
};

template <class Exec>
std::unique_ptr<Pool2d<Exec>> make_pool2d(const Exec& exec, const Pool2dOptions& options);

/// y (n, c) = mean over h x w of x (n, h, w, c).
template <class Exec>
void global_average_forward(const Exec& exec,
                            const Pool2dShape& shape,
                            ConstSpan<Exec> x,
                            Span<Exec> y);

/// dx (n, h, w, c), overwritten, from dy (n, c). Of `shape` only n, h, w, c are used.
template <class Exec>
void global_average_backward(const Exec& exec,
                             const Pool2dShape& shape,
                             ConstSpan<Exec> dy,
                             Span<Exec> dx);

}  // namespace crossbow
