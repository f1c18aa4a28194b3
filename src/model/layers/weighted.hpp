#pragma once
// Convolution and linear layers: a weight, perhaps a bias, perhaps a fused ReLU.

#include <memory>
#include <string>
#include <vector>

#include "kernels/activation.hpp"
#include "kernels/weighted_operation.hpp"

#include "model/layer.hpp"
#include "model/layers/bound_tensor.hpp"

namespace crossbow {

template <class Exec>
class WeightedLayer final : public Layer<Exec> {
 public:
  WeightedLayer(std::unique_ptr<WeightedOperation<Exec>> operation,
                std::string name,
                std::vector<std::int64_t> weight_shape,
                bool bias,
                bool relu)
      : operation_(std::move(operation)),
        name_(std::move(name)),
        weight_shape_(std::move(weight_shape)),
        has_bias_(bias),
        relu_(relu) {}

  void declare(ParameterLayout& parameters, ParameterLayout&) override {
    weight_.declare(
        parameters, name_ + ".weight", weight_shape_, operation_->weight_layout());
    if (has_bias_) {
      const std::int64_t units = weight_shape_[0];
      bias_.declare(parameters, name_ + ".bias", {units}, identity_layout(units));
    }
  }

  void bind(Span<Exec> weights, Span<Exec> gradients, Span<Exec>) override {
    weight_.bind(weights, gradients);
    bias_.bind(weights, gradients);
  }

  void forward(const Exec& exec,
               const LayerData<Exec>& data,
               const BatchIdentity<Exec>&) override {
    operation_->forward(exec, data.x[0], weight_.value, bias_.value, data.y);
  }

  void backward(const Exec& exec,
                const LayerData<Exec>& data,
                const BatchIdentity<Exec>&) override {
    if (relu_) {
      relu_backward<Exec>(exec, data.y, data.dy, data.dy);
    }
    operation_->backward_weight(
        exec, data.x[0], data.dy, weight_.gradient, bias_.gradient);
    if (data.dx[0].extent(0) > 0) {
      operation_->backward_data(exec, data.dy, weight_.value, data.dx[0]);
    }
  }

 private:
  std::unique_ptr<WeightedOperation<Exec>> operation_;
  std::string name_;
  std::vector<std::int64_t> weight_shape_;
  bool has_bias_, relu_;
  BoundTensor<Exec> weight_, bias_;
};

}  // namespace crossbow
