#include "kernels/conv2d.hpp"

#include "kernels/onednn/operations.hpp"
#include "kernels/onednn/support.hpp"

namespace crossbow::onednn {
namespace {

using dnnl::memory;
using tag = memory::format_tag;

/// Descriptors of one convolution, in oneDNN's logical order (n, c, h, w) and (o, i, h,
/// w).
struct Descriptors {
  explicit Descriptors(const Conv2dShape& s)
      : x(descriptor({s.n, s.c, s.h, s.w}, tag::nhwc)),
        y(descriptor({s.n, s.filters, s.out_h(), s.out_w()}, tag::nhwc)),
        any_weight(descriptor({s.filters, s.c, s.kernel, s.kernel}, tag::any)),
        plain_weight(descriptor({s.filters, s.c, s.kernel, s.kernel}, tag::oihw)),
        stride{s.stride, s.stride},
        pad_begin{s.pad_begin, s.pad_begin},
        pad_end{s.pad_end, s.pad_end} {
    if (s.bias) {
      bias = descriptor({s.filters}, tag::x);
    }
  }

  memory::desc x, y, any_weight, plain_weight, bias;
  memory::dims stride, pad_begin, pad_end;
};

using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeight = dnnl::convolution_backward_weights;
constexpr auto direct = dnnl::algorithm::convolution_direct;

Forward::primitive_desc forward_desc(const Descriptors& d,
                                     const memory::desc& weight,
                                     dnnl::prop_kind kind,
                                     bool relu) {
  return {host_engine(),
          kind,
          direct,
          d.x,
          weight,
          d.bias,
          d.y,
          d.stride,
          d.pad_begin,
          d.pad_end,
          attributes(relu)};
}

template <class Exec>
class OnednnConv2d final : public Conv2d<Exec> {
 public:
  explicit OnednnConv2d(const Conv2dOptions& options) : d_(options.shape) {
    make_forward(options);
    if (!options.inference) {
      make_backward();
    }
  }

  std::shared_ptr<const WeightLayout> weight_layout() const override { return layout_; }

  void forward(const Exec&,
               ConstSpan<Exec> x,
               ConstSpan<Exec> weight,
               ConstSpan<Exec> bias,
               Span<Exec> y) override {
    forward_.bind(DNNL_ARG_SRC, x.data());
    forward_.bind(DNNL_ARG_WEIGHTS, forward_weight_.read(weight.data()));
    forward_.bind(DNNL_ARG_DST, y.data());
    if (has_bias()) {
      forward_.bind(DNNL_ARG_BIAS, bias.data());
    }
    forward_.execute();
  }

  void backward_data(const Exec&,
                     ConstSpan<Exec> dy,
                     ConstSpan<Exec> weight,
                     Span<Exec> dx) override {
    backward_data_.bind(DNNL_ARG_DIFF_DST, dy.data());
    backward_data_.bind(DNNL_ARG_WEIGHTS, data_weight_.read(weight.data()));
    backward_data_.bind(DNNL_ARG_DIFF_SRC, dx.data());
    backward_data_.execute();
  }

  void backward_weight(const Exec&,
                       ConstSpan<Exec> x,
                       ConstSpan<Exec> dy,
                       Span<Exec> dweight,
                       Span<Exec> dbias) override {
    backward_weight_.bind(DNNL_ARG_SRC, x.data());
    backward_weight_.bind(DNNL_ARG_DIFF_DST, dy.data());
    backward_weight_.bind(DNNL_ARG_DIFF_WEIGHTS,
                          weight_gradient_.write_target(dweight.data()));
    if (has_bias()) {
      backward_weight_.bind(DNNL_ARG_DIFF_BIAS, dbias.data());
    }
    backward_weight_.execute();
    weight_gradient_.finish(dweight.data());
  }

 private:
  bool has_bias() const { return !d_.bias.is_zero(); }

  void make_forward(const Conv2dOptions& options) {
    const auto kind = options.inference ? dnnl::prop_kind::forward_inference
                                        : dnnl::prop_kind::forward_training;
    const auto imposed = std::dynamic_pointer_cast<const OnednnLayout>(options.imposed);
    forward_desc_ = forward_desc(d_, d_.any_weight, kind, options.shape.relu);
    layout_ = imposed;
    if (layout_ == nullptr) {
      layout_ = std::make_shared<OnednnLayout>(
          forward_desc_.weights_desc(), d_.plain_weight, std::vector<std::int64_t>{});
    }
    forward_weight_ = Relayout(layout_->descriptor(), forward_desc_.weights_desc());
    forward_ = Call(Forward(forward_desc_), forward_desc_);
    forward_.declare(DNNL_ARG_SRC, d_.x);
    forward_.declare(DNNL_ARG_WEIGHTS, forward_desc_.weights_desc());
    forward_.declare(DNNL_ARG_DST, d_.y);
    if (has_bias()) {
      forward_.declare(DNNL_ARG_BIAS, d_.bias);
    }
  }

  /// Backward primitives choose their own weight layouts: imposed ones fall back to slow
  /// code.
  void make_backward() {
    const BackwardData::primitive_desc data(host_engine(),
                                            direct,
                                            d_.x,
                                            d_.any_weight,
                                            d_.y,
                                            d_.stride,
                                            d_.pad_begin,
                                            d_.pad_end,
                                            forward_desc_,
                                            attributes(false));
    data_weight_ = Relayout(layout_->descriptor(), data.weights_desc());
    backward_data_ = Call(BackwardData(data), data);
    backward_data_.declare(DNNL_ARG_DIFF_DST, d_.y);
    backward_data_.declare(DNNL_ARG_WEIGHTS, data.weights_desc());
    backward_data_.declare(DNNL_ARG_DIFF_SRC, d_.x);

    const BackwardWeight::primitive_desc weight(host_engine(),
                                                direct,
                                                d_.x,
                                                d_.any_weight,
                                                d_.bias,
                                                d_.y,
                                                d_.stride,
                                                d_.pad_begin,
                                                d_.pad_end,
                                                forward_desc_,
                                                attributes(false));
    weight_gradient_ = Relayout(weight.diff_weights_desc(), layout_->descriptor());
    backward_weight_ = Call(BackwardWeight(weight), weight);
    backward_weight_.declare(DNNL_ARG_SRC, d_.x);
    backward_weight_.declare(DNNL_ARG_DIFF_DST, d_.y);
    backward_weight_.declare(DNNL_ARG_DIFF_WEIGHTS, weight.diff_weights_desc());
    if (has_bias()) {
      backward_weight_.declare(DNNL_ARG_DIFF_BIAS, d_.bias);
    }
  }

  Descriptors d_;
  Forward::primitive_desc forward_desc_;
  std::shared_ptr<const OnednnLayout> layout_;
  Call forward_, backward_data_, backward_weight_;
  Relayout forward_weight_, data_weight_, weight_gradient_;
};

}  // namespace

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions& options) {
  return std::make_unique<OnednnConv2d<Exec>>(options);
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions&);
CROSSBOW_INSTANTIATE(Kokkos::Serial)
CROSSBOW_FOR_OPENMP(CROSSBOW_INSTANTIATE)

}  // namespace crossbow::onednn
