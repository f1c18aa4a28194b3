#include "kernels/pool2d.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"
#include "kernels/factory.hpp"
#include "kernels/pool2d_kernels.hpp"
#include "kernels/reference/pool2d.hpp"

namespace crossbow {
namespace {

PixelGrid input_pixels(const Pool2dShape& s) {
  return {s.n * s.h, s.w, s.c};
}

PixelGrid output_pixels(const Pool2dShape& s) {
  return {s.n * s.out_h(), s.out_w(), s.c};
}

template <class Exec>
class KokkosMaxPool2d final : public Pool2d<Exec> {
 public:
  KokkosMaxPool2d(const Exec& exec, const Pool2dShape& shape)
      : shape_(shape),
        at_(make_buffer<std::uint8_t>(exec,
                                      "crossbow::max_pool_at",
                                      static_cast<std::size_t>(shape.output_size()))) {
    CROSSBOW_EXPECT(shape.size <= largest_max_pool);
  }

  void forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) override {
    CROSSBOW_EXPECT(has_size(x, shape_.input_size()) &&
                    has_size(y, shape_.output_size()));
    for_each_pixel(exec,
                   "crossbow::max_pool_forward",
                   output_pixels(shape_),
                   pooling::MaxForward{shape_, x.data(), y.data(), at_.data()});
  }

  void backward(const Exec& exec, ConstSpan<Exec> dy, Span<Exec> dx) override {
    CROSSBOW_EXPECT(has_size(dy, shape_.output_size()) &&
                    has_size(dx, shape_.input_size()));
    const bool halves = shape_.size == 2 && shape_.stride == 2 && shape_.h % 2 == 0 &&
                        shape_.w % 2 == 0 && shape_.padding == 0;
    if (halves) {
      for_each_pixel(
          exec,
          "crossbow::max_pool_backward",
          output_pixels(shape_),
          pooling::MaxBackwardTwoByTwo{shape_, dy.data(), at_.data(), dx.data()});
    } else {
      for_each_pixel(exec,
                     "crossbow::max_pool_backward",
                     input_pixels(shape_),
                     pooling::GatherBackward<pooling::MaxGradient>{
                         shape_, {dy.data(), at_.data()}, dx.data()});
    }
  }

 private:
  Pool2dShape shape_;
  Buffer<Exec, std::uint8_t> at_;  // position of each maximum in its window
};

template <class Exec>
class KokkosAveragePool2d final : public Pool2d<Exec> {
 public:
  explicit KokkosAveragePool2d(const Pool2dShape& shape) : shape_(shape) {}

  void forward(const Exec& exec, ConstSpan<Exec> x, Span<Exec> y) override {
    CROSSBOW_EXPECT(has_size(x, shape_.input_size()) &&
                    has_size(y, shape_.output_size()));
    for_each_pixel(exec,
                   "crossbow::average_pool_forward",
                   output_pixels(shape_),
                   pooling::AverageForward{shape_, x.data(), y.data()});
  }

  void backward(const Exec& exec, ConstSpan<Exec> dy, Span<Exec> dx) override {
    CROSSBOW_EXPECT(has_size(dy, shape_.output_size()) &&
                    has_size(dx, shape_.input_size()));
    for_each_pixel(exec,
                   "crossbow::average_pool_backward",
                   input_pixels(shape_),
                   pooling::GatherBackward<pooling::AverageGradient>{
                       shape_, {dy.data()}, dx.data()});
  }

 private:
  Pool2dShape shape_;
};

/// The reference twin behind the interface.
template <class Exec>
class ReferencePool2d final : public Pool2d<Exec> {
 public:
  explicit ReferencePool2d(const Pool2dShape& shape)
      : shape_(shape), at_(static_cast<std::size_t>(shape.output_size())) {}

  void forward(const Exec&, ConstSpan<Exec> x, Span<Exec> y) override {
    reference::pool2d_forward(shape_, x.data(), y.data(), at_.data());
  }

  void backward(const Exec&, ConstSpan<Exec> dy, Span<Exec> dx) override {
    reference::pool2d_backward(shape_, dy.data(), at_.data(), dx.data());
  }

 private:
  Pool2dShape shape_;
  std::vector<std::int64_t> at_;
};

/// y (samples, channels): mean over the pixels of each sample.
struct GlobalAverage {
  std::int64_t pixels, channels;
  const float* x = nullptr;
  float* y = nullptr;

  template <int W>
  KOKKOS_FUNCTION void apply(const RowRange& samples, std::int64_t channel) const {
    const float factor = 1 / static_cast<float>(pixels);
    for (std::int64_t sample = samples.begin; sample < samples.end; ++sample) {
      const float* const image = x + sample * pixels * channels + channel;
      float sum[W] = {};
      for (std::int64_t pixel = 0; pixel < pixels; ++pixel) {
        for (int k = 0; k < W; ++k) {
          sum[k] += image[pixel * channels + k];
        }
      }
      for (int k = 0; k < W; ++k) {
        y[sample * channels + channel + k] = sum[k] * factor;
      }
    }
  }
};

/// dx (samples, pixels, channels) = dy (samples, channels) / pixels.
struct GlobalAverageGradient {
  std::int64_t pixels, channels;
  const float* dy = nullptr;
  float* dx = nullptr;

  KOKKOS_FUNCTION void operator()(std::int64_t sample,
                                  std::int64_t pixel,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const float factor = 1 / static_cast<float>(pixels);
    const float* const from = dy + sample * channels;
    float* const to = dx + (sample * pixels + pixel) * channels;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      to[i] = from[i] * factor;
    }
  }
};

}  // namespace

template <class Exec>
std::unique_ptr<Pool2d<Exec>> make_pool2d(const Exec& exec,
                                          const Pool2dOptions& options) {
  const Pool2dShape& shape = options.shape;
  if constexpr (is_host_space<Exec>) {
    if (options.kernels == KernelSet::reference) {
      return std::make_unique<ReferencePool2d<Exec>>(shape);
    }
  } else {
    expect_device_kernels(options.kernels);
  }
  // No vendor: oneDNN's maxima drop NaN, and its pooling of NHWC is slower.
  if (shape.kind == PoolKind::average) {
    return std::make_unique<KokkosAveragePool2d<Exec>>(shape);
  }
  return std::make_unique<KokkosMaxPool2d<Exec>>(exec, shape);
}

template <class Exec>
void global_average_forward(const Exec& exec,
                            const Pool2dShape& shape,
                            ConstSpan<Exec> x,
                            Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, shape.input_size()) && has_size(y, shape.n * shape.c));
  for_each_tile(exec,
                "crossbow::global_average_forward",
                {shape.n, shape.c, 1},
                GlobalAverage{shape.h * shape.w, shape.c, x.data(), y.data()});
}

template <class Exec>
void global_average_backward(const Exec& exec,
                             const Pool2dShape& shape,
                             ConstSpan<Exec> dy,
                             Span<Exec> dx) {
  CROSSBOW_EXPECT(has_size(dx, shape.input_size()) && has_size(dy, shape.n * shape.c));
  for_each_pixel(exec,
                 "crossbow::global_average_backward",
                 {shape.n, shape.h * shape.w, shape.c},
                 GlobalAverageGradient{shape.h * shape.w, shape.c, dy.data(), dx.data()});
}

#define CROSSBOW_INSTANTIATE(Exec)                                                       \
  template std::unique_ptr<Pool2d<Exec>> make_pool2d(const Exec&, const Pool2dOptions&); \
  template void global_average_forward(                                                  \
      const Exec&, const Pool2dShape&, ConstSpan<Exec>, Span<Exec>);                     \
  template void global_average_backward(                                                 \
      const Exec&, const Pool2dShape&, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
