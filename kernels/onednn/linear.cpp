#include "kernels/linear.hpp"

#include "kernels/onednn/operations.hpp"
#include "kernels/onednn/support.hpp"

namespace crossbow::onednn {
namespace {

using dnnl::memory;
using tag = memory::format_tag;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeight = dnnl::inner_product_backward_weights;

/// Column (h, w, c) of the NHWC input comes from column (c, h, w) of the exchange layout.
std::vector<std::int64_t> column_order(const LinearShape& s) {
  if (s.h * s.w == 1) {
    return {};
  }
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(s.weight_size()));
  for (std::int64_t unit = 0; unit < s.units; ++unit) {
    for (std::int64_t pixel = 0; pixel < s.h * s.w; ++pixel) {
      for (std::int64_t channel = 0; channel < s.c; ++channel) {
        order.push_back(unit * s.in() + channel * s.h * s.w + pixel);
      }
    }
  }
  return order;
}

/// make(preferred), or make(any) where the library has no code for the preferred layout.
template <class Make>
auto prefer(const memory::desc& preferred, const memory::desc& any, Make make) {
  try {
    return make(preferred);
  } catch (const dnnl::error&) {
    return make(any);
  }
}

template <class Exec>
class OnednnLinear final : public Linear<Exec> {
 public:
  explicit OnednnLinear(const LinearOptions& options)
      : x_(descriptor({options.shape.n, options.shape.in()}, tag::nc)),
        y_(descriptor({options.shape.n, options.shape.units}, tag::nc)),
        any_weight_(descriptor({options.shape.units, options.shape.in()}, tag::any)) {
    if (options.shape.bias) {
      bias_ = descriptor({options.shape.units}, tag::x);
    }
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
  bool has_bias() const { return !bias_.is_zero(); }

  void make_forward(const LinearOptions& options) {
    const auto kind = options.inference ? dnnl::prop_kind::forward_inference
                                        : dnnl::prop_kind::forward_training;
    const auto imposed = std::dynamic_pointer_cast<const OnednnLayout>(options.imposed);
    const auto make = [&](const memory::desc& weight) {
      return Forward::primitive_desc(
          host_engine(), kind, x_, weight, bias_, y_, attributes(options.shape.relu));
    };
    forward_desc_ =
        prefer(imposed ? imposed->descriptor() : any_weight_, any_weight_, make);
    layout_ = imposed;
    if (layout_ == nullptr) {
      layout_ = std::make_shared<OnednnLayout>(
          forward_desc_.weights_desc(),
          descriptor({options.shape.units, options.shape.in()}, tag::oi),
          column_order(options.shape));
    }
    forward_weight_ = Relayout(layout_->descriptor(), forward_desc_.weights_desc());
    forward_ = Call(Forward(forward_desc_), forward_desc_);
    forward_.declare(DNNL_ARG_SRC, x_);
    forward_.declare(DNNL_ARG_WEIGHTS, forward_desc_.weights_desc());
    forward_.declare(DNNL_ARG_DST, y_);
    if (has_bias()) {
      forward_.declare(DNNL_ARG_BIAS, bias_);
    }
  }

  void make_backward() {
    const auto data =
        prefer(layout_->descriptor(), any_weight_, [&](const memory::desc& weight) {
          return BackwardData::primitive_desc(
              host_engine(), x_, weight, y_, forward_desc_, attributes(false));
        });
    data_weight_ = Relayout(layout_->descriptor(), data.weights_desc());
    backward_data_ = Call(BackwardData(data), data);
    backward_data_.declare(DNNL_ARG_DIFF_DST, y_);
    backward_data_.declare(DNNL_ARG_WEIGHTS, data.weights_desc());
    backward_data_.declare(DNNL_ARG_DIFF_SRC, x_);

    const auto weight =
        prefer(layout_->descriptor(), any_weight_, [&](const memory::desc& layout) {
          return BackwardWeight::primitive_desc(
              host_engine(), x_, layout, bias_, y_, forward_desc_, attributes(false));
        });
    weight_gradient_ = Relayout(weight.diff_weights_desc(), layout_->descriptor());
    backward_weight_ = Call(BackwardWeight(weight), weight);
    backward_weight_.declare(DNNL_ARG_SRC, x_);
    backward_weight_.declare(DNNL_ARG_DIFF_DST, y_);
    backward_weight_.declare(DNNL_ARG_DIFF_WEIGHTS, weight.diff_weights_desc());
    if (has_bias()) {
      backward_weight_.declare(DNNL_ARG_DIFF_BIAS, bias_);
    }
  }

  memory::desc x_, y_, any_weight_, bias_;
  Forward::primitive_desc forward_desc_;
  std::shared_ptr<const OnednnLayout> layout_;
  Call forward_, backward_data_, backward_weight_;
  Relayout forward_weight_, data_weight_, weight_gradient_;
};

}  // namespace

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec&, const LinearOptions& options) {
  return std::make_unique<OnednnLinear<Exec>>(options);
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Linear<Exec>> make_linear(const Exec&, const LinearOptions&);
CROSSBOW_INSTANTIATE(Kokkos::Serial)
CROSSBOW_FOR_OPENMP(CROSSBOW_INSTANTIATE)

}  // namespace crossbow::onednn
