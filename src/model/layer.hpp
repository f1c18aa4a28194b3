#pragma once
// A layer at work: the kernels of one layer for one batch size on one execution space.
// Network owns the activations and hands them in; a layer owns only what its kernels
// remember between forward and backward.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/spaces.hpp"

#include "model/network_plan.hpp"
#include "model/parameter_layout.hpp"

namespace crossbow {

/// What every layer of a network is made for.
struct NetworkOptions {
  std::int64_t batch = 1;
  KernelSet kernels = KernelSet::vendor;
  bool inference = false;  // no backward, running statistics, no dropout
  const ParameterLayout* imposed = nullptr;  // weights lie as in another network's layout
  std::uint64_t seed = 1;                    // of dropout
  double label_smoothing = 0;                // of the loss; none with inference
};

/// Activations and gradients of one layer in one step. dx has one entry per input, empty
/// where no gradient is wanted; backward overwrites each. backward may overwrite dy.
template <class Exec>
struct LayerData {
  std::vector<ConstSpan<Exec>> x;
  Span<Exec> y;
  Span<Exec> dy;
  std::vector<Span<Exec>> dx;
};

/// Which samples a batch holds: what dropout's randomness is a function of.
template <class Exec>
struct BatchIdentity {
  ConstSpan<Exec, std::int64_t> sample_ids;  // (n)
  ConstSpan<Exec, std::int64_t> epochs;      // (n)
};

template <class Exec>
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  virtual ~Layer() = default;

  /// Append the layer's tensors: trained ones, and running statistics. Called once.
  virtual void declare(ParameterLayout& /*parameters*/, ParameterLayout& /*statistics*/) {
  }
  /// Point the layer at the vectors that hold its tensors; may be called again.
  virtual void bind(Span<Exec> /*weights*/,
                    Span<Exec> /*gradients*/,
                    Span<Exec> /*statistics*/) {}

  virtual void forward(const Exec& exec,
                       const LayerData<Exec>& data,
                       const BatchIdentity<Exec>& batch) = 0;
  virtual void backward(const Exec& exec,
                        const LayerData<Exec>& data,
                        const BatchIdentity<Exec>& batch) = 0;
};

/// The layer that `plan` describes.
template <class Exec>
std::unique_ptr<Layer<Exec>> make_layer(const Exec& exec,
                                        const LayerPlan& plan,
                                        const BatchNormOptions& batch_norm,
                                        const NetworkOptions& options);

}  // namespace crossbow
