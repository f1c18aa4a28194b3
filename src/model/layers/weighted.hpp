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

/// The tensors of a weighted layer.
struct WeightedTensors {
  std::string layer;
  std::vector<std::int64_t> weight_shape;
  bool bias = true;
  Initializer initializer;
};

template <class Exec>
class WeightedLayer final : public Layer<Exec> {
 public:
  WeightedLayer(std::unique_ptr<WeightedOperation<Exec>> operation,
                WeightedTensors tensors,
                bool relu)
      : operation_(std::move(operation)), tensors_(std::move(tensors)), relu_(relu) {}

  void declare(ParameterLayout& parameters, ParameterLayout&) override {
    const WeightedTensors& t = tensors_;
    weight_.declare(parameters,
                    t.layer + ".weight",
                    t.weight_shape,
                    operation_->weight_layout(),
                    t.initializer);
    if (t.bias) {
      const std::int64_t units = t.weight_shape[0];
      bias_.declare(
          parameters, t.layer + ".bias", {units}, identity_layout(units), t.initializer);
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
  WeightedTensors tensors_;
  bool relu_;
  BoundTensor<Exec> weight_, bias_;
};

}  // namespace crossbow
