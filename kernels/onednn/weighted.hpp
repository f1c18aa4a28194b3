#pragma once
// A convolution or linear layer made of oneDNN's three primitives: what is left when
// their descriptors have been made.

#include <memory>
#include <utility>

#include "kernels/activation.hpp"
#include "kernels/onednn/support.hpp"
#include "kernels/weighted_operation.hpp"

namespace crossbow::onednn {

/// Descriptors of x, y and, where there is one, the bias (else zero).
struct TensorDescriptors {
  dnnl::memory::desc x, y, bias;

  bool has_bias() const { return !bias.is_zero(); }
};

template <class Exec>
class OnednnOperation final : public WeightedOperation<Exec> {
 public:
  OnednnOperation(TensorDescriptors tensors,
                  std::shared_ptr<const OnednnLayout> layout,
                  bool relu)
      : tensors_(std::move(tensors)), layout_(std::move(layout)), relu_(relu) {}

  /// Take the primitives; where one wants another weight layout than the replica's, the
  /// weight is brought to it and back in each call.
  template <class Desc>
  void set_forward(const dnnl::primitive& primitive, const Desc& desc) {
    forward_weight_ = Relayout(layout_->descriptor(), desc.weights_desc());
    forward_ = Call(primitive, desc);
    forward_.declare(DNNL_ARG_SRC, tensors_.x);
    forward_.declare(DNNL_ARG_WEIGHTS, desc.weights_desc());
    forward_.declare(DNNL_ARG_DST, tensors_.y);
    if (tensors_.has_bias()) {
      forward_.declare(DNNL_ARG_BIAS, tensors_.bias);
    }
  }

  template <class Desc>
  void set_backward_data(const dnnl::primitive& primitive, const Desc& desc) {
    data_weight_ = Relayout(layout_->descriptor(), desc.weights_desc());
    backward_data_ = Call(primitive, desc);
    backward_data_.declare(DNNL_ARG_DIFF_DST, tensors_.y);
    backward_data_.declare(DNNL_ARG_WEIGHTS, desc.weights_desc());
    backward_data_.declare(DNNL_ARG_DIFF_SRC, tensors_.x);
  }

  template <class Desc>
  void set_backward_weight(const dnnl::primitive& primitive, const Desc& desc) {
    weight_gradient_ = Relayout(desc.diff_weights_desc(), layout_->descriptor());
    backward_weight_ = Call(primitive, desc);
    backward_weight_.declare(DNNL_ARG_SRC, tensors_.x);
    backward_weight_.declare(DNNL_ARG_DIFF_DST, tensors_.y);
    backward_weight_.declare(DNNL_ARG_DIFF_WEIGHTS, desc.diff_weights_desc());
    if (tensors_.has_bias()) {
      backward_weight_.declare(DNNL_ARG_DIFF_BIAS, tensors_.bias);
    }
  }

  std::shared_ptr<const WeightLayout> weight_layout() const override { return layout_; }

  void forward(const Exec& exec,
               ConstSpan<Exec> x,
               ConstSpan<Exec> weight,
               ConstSpan<Exec> bias,
               Span<Exec> y) override {
    forward_.bind(DNNL_ARG_SRC, x.data());
    forward_.bind(DNNL_ARG_WEIGHTS, forward_weight_.read(weight.data()));
    forward_.bind(DNNL_ARG_DST, y.data());
    if (tensors_.has_bias()) {
      forward_.bind(DNNL_ARG_BIAS, bias.data());
    }
    forward_.execute();
    if (relu_) {
      // Not the library's own fused ReLU: it turns NaN into 0 and hides it.
      relu_forward<Exec>(exec, y, y);
    }
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
    if (tensors_.has_bias()) {
      backward_weight_.bind(DNNL_ARG_DIFF_BIAS, dbias.data());
    }
    backward_weight_.execute();
    weight_gradient_.finish(dweight.data());
  }

 private:
  TensorDescriptors tensors_;
  std::shared_ptr<const OnednnLayout> layout_;
  bool relu_;
  Call forward_, backward_data_, backward_weight_;
  Relayout forward_weight_, data_weight_, weight_gradient_;
};

}  // namespace crossbow::onednn
