#pragma once
// Batch normalisation with scale and shift and the replica's running statistics.

#include <string>

#include "kernels/batch_norm.hpp"

#include "model/layer.hpp"
#include "model/layers/bound_tensor.hpp"

namespace crossbow {

template <class Exec>
class BatchNormLayer final : public Layer<Exec> {
 public:
  BatchNormLayer(const Exec& exec,
                 std::string name,
                 const BatchNormShape& shape,
                 double initial_scale,
                 bool inference)
      : name_(std::move(name)),
        shape_(shape),
        initial_scale_(initial_scale),
        inference_(inference) {
    const auto c = static_cast<std::size_t>(shape.c);
    mean_ = make_buffer(exec, "crossbow::batch_norm::mean", c);
    inverse_std_ = make_buffer(exec, "crossbow::batch_norm::inverse_std", c);
  }

  void declare(ParameterLayout& parameters, ParameterLayout& statistics) override {
    const auto layout = identity_layout(shape_.c);
    Initializer scale;
    scale.kind = InitializerKind::constant;
    scale.value = initial_scale_;
    scale_.declare(parameters, name_ + ".scale", {shape_.c}, layout, scale);
    shift_.declare(parameters, name_ + ".shift", {shape_.c}, layout);
    running_mean_.declare(statistics, name_ + ".running_mean", {shape_.c}, layout);
    running_variance_.declare(
        statistics, name_ + ".running_variance", {shape_.c}, layout);
  }

  void bind(Span<Exec> weights, Span<Exec> gradients, Span<Exec> statistics) override {
    scale_.bind(weights, gradients);
    shift_.bind(weights, gradients);
    running_mean_.bind(statistics, {});
    running_variance_.bind(statistics, {});
  }

  void forward(const Exec& exec,
               const LayerData<Exec>& d,
               const BatchIdentity<Exec>&) override {
    if (inference_) {
      batch_norm_inference<Exec>(exec, shape_, d.x[0], state(), d.y);
    } else {
      batch_norm_forward<Exec>(exec, shape_, d.x[0], state(), d.y);
    }
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& d,
                const BatchIdentity<Exec>&) override {
    // Without a wanted dx the result goes over dy, which nobody reads afterwards.
    const Span<Exec> dx = d.dx[0].extent(0) > 0 ? d.dx[0] : d.dy;
    batch_norm_backward<Exec>(
        exec, shape_, d.x[0], d.dy, state(), {dx, scale_.gradient, shift_.gradient});
  }

 private:
  BatchNormState<Exec> state() const {
    return {scale_.value,
            shift_.value,
            running_mean_.value,
            running_variance_.value,
            as_span(mean_),
            as_span(inverse_std_)};
  }

  std::string name_;
  BatchNormShape shape_;
  double initial_scale_;
  bool inference_;
  Buffer<Exec> mean_, inverse_std_;
  BoundTensor<Exec> scale_, shift_, running_mean_, running_variance_;
};

}  // namespace crossbow
