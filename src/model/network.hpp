#pragma once
// A network that runs: layers, activations and their gradients for one batch size,
// forward and backward through all of them. Weights lie in vectors that the network is
// bound to.

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/batch.hpp"

#include "model/layer.hpp"
#include "model/network_plan.hpp"
#include "model/parameter_layout.hpp"

namespace crossbow {

/// Per-sample results of a batch, see SoftmaxOutput.
template <class Exec>
struct BatchResult {
  Buffer<Exec> losses;
  Buffer<Exec, std::int32_t> correct;
};

/// Told during backward that gradients of elements [offset, offset + size) are final, and
/// that the same elements of the weights are not read again in this step.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  virtual void gradient_ready(std::int64_t offset, std::int64_t size) = 0;
};

/// Told of each part of a pass once it is enqueued, for those who look for a bad number
/// or at the time.
template <class Exec>
class LayerObserver {
 public:
  virtual ~LayerObserver() = default;
  virtual void forward_begins() {}
  virtual void forward_done(const std::string& /*layer*/, ConstSpan<Exec> /*y*/) {}
  virtual void loss_done() {}
  /// The layer's gradients, and what the listener does with them.
  virtual void backward_done() {}
};

template <class Exec>
class Network {
 public:
  Network(const Exec& exec, const NetworkPlan& plan, const NetworkOptions& options);

  const ParameterLayout& parameters() const { return parameters_; }
  const ParameterLayout& statistics() const { return statistics_; }
  std::int64_t batch() const { return options_.batch; }

  /// Use these vectors (parameters().size(), or statistics().size() elements) from now
  /// on.
  void bind(Span<Exec> weights, Span<Exec> gradients, Span<Exec> statistics);

  /// All layers and the loss; with `gradient` also the loss's gradient, for backward.
  /// Enqueues on `exec`, does not fence.
  const BatchResult<Exec>& forward(const Exec& exec,
                                   const Batch<Exec>& batch,
                                   bool gradient,
                                   LayerObserver<Exec>* observer = nullptr);
  /// What the last layer gave in the last forward, (n, classes).
  ConstSpan<Exec> logits() const { return nodes_.back().data.y; }
  /// Gradients of the mean loss of the last forward, written to the bound vector.
  void backward(const Exec& exec,
                const Batch<Exec>& batch,
                GradientListener* listener = nullptr,
                LayerObserver<Exec>* observer = nullptr);

 private:
  struct Node {
    std::unique_ptr<Layer<Exec>> layer;
    LayerData<Exec> data;
    Buffer<Exec> y, dy;
    std::vector<Buffer<Exec>>
        extra_dx;  // for inputs that another layer has written dx of
    std::int64_t first_parameter = 0, parameter_count = 0;
  };

  void make_nodes(const Exec& exec);
  void make_activations(const Exec& exec);
  void connect(const Exec& exec);
  BatchIdentity<Exec> identity(const Batch<Exec>& batch) const;

  NetworkPlan plan_;
  NetworkOptions options_;
  std::vector<Node> nodes_;
  BatchResult<Exec> result_;
  ParameterLayout parameters_, statistics_;
};

}  // namespace crossbow
