#pragma once
// Helpers of the tests of networks: layers in short, and a network with weights, a batch
// and everything else that it needs to run.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "kernels/testing.hpp"

#include "model/initial_weights.hpp"
#include "model/network.hpp"
#include "model/network_plan.hpp"

namespace crossbow::testing {

using Names = std::vector<std::string>;

inline LayerOptions layer(LayerType type, std::string name = "", Names inputs = {}) {
  LayerOptions options;
  options.type = type;
  options.name = std::move(name);
  options.inputs = std::move(inputs);
  return options;
}

/// A convolution that keeps the image's size at stride 1.
inline LayerOptions convolution(std::string name,
                                int filters,
                                int kernel,
                                Names inputs = {}) {
  LayerOptions options =
      layer(LayerType::convolution, std::move(name), std::move(inputs));
  options.filters = filters;
  options.kernel = kernel;
  options.padding_same = true;
  return options;
}

inline LayerOptions linear(std::string name, int units, Names inputs = {}) {
  LayerOptions options = layer(LayerType::linear, std::move(name), std::move(inputs));
  options.units = units;
  return options;
}

inline LayerOptions pool(LayerType type, int size, std::string name = "") {
  LayerOptions options = layer(type, std::move(name));
  options.size = size;
  return options;
}

inline LayerOptions dropout(std::string name, double probability) {
  LayerOptions options = layer(LayerType::dropout, std::move(name));
  options.probability = probability;
  return options;
}

inline ModelOptions model_of(std::vector<LayerOptions> layers) {
  ModelOptions options;
  options.layers = std::move(layers);
  return options;
}

/// The message of the Error(usage) that planning `layers` for 6x6x2 images of 3 classes
/// ends with.
inline std::string plan_error(std::vector<LayerOptions> layers) {
  try {
    plan_network(model_of(std::move(layers)), {6, 6, 2}, 3);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

/// All implementations that the host has.
inline const std::vector<std::pair<KernelSet, std::string>> kernel_sets = {
    {KernelSet::vendor, "vendor"},
    {KernelSet::kokkos, "kokkos"},
    {KernelSet::reference, "reference"}};

/// `batch` made-up samples: pixels in [-1, 1), all labels in turn.
template <class Exec>
class MadeUpBatch {
 public:
  MadeUpBatch(const Exec& exec, const NetworkPlan& plan, std::int64_t batch)
      : images_(exec, random_values(batch * plan.input.size(), 77)),
        labels_(exec, counted<std::int32_t>(batch, plan.classes)),
        ids_(exec, counted<std::int64_t>(batch, batch)),
        epochs_(exec, std::vector<std::int64_t>(static_cast<std::size_t>(batch), 3)) {}

  Batch<Exec> batch() const {
    return {images_.span(), labels_.span(), ids_.span(), epochs_.span()};
  }

 private:
  template <class T>
  static std::vector<T> counted(std::int64_t n, std::int64_t modulus) {
    std::vector<T> values;
    for (std::int64_t i = 0; i < n; ++i) {
      values.push_back(static_cast<T>(i % modulus));
    }
    return values;
  }

  Array<Exec> images_;
  Array<Exec, std::int32_t> labels_;
  Array<Exec, std::int64_t> ids_, epochs_;
};

/// The output of the last layer of a forward pass.
template <class Exec>
class LastOutput final : public LayerObserver<Exec> {
 public:
  explicit LastOutput(const Exec& exec) : exec_(exec) {}

  void forward_done(const std::string& name, ConstSpan<Exec> y) override {
    names.push_back(name);
    logits.resize(y.extent(0));
    const Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> target(
        logits.data(), logits.size());
    Kokkos::deep_copy(exec_, target, y);
    exec_.fence("crossbow::testing::LastOutput");
  }

  Names names;
  std::vector<float> logits;

 private:
  Exec exec_;
};

/// Weights that keep activations at about 1 and no bias, scale or shift where a mistake
/// could hide: weights uniform with variance 2 / fan_in, the others 0.3 around their
/// start. A function of names and shapes alone.
inline NamedTensors stirring_weights(const ParameterLayout& layout) {
  NamedTensors tensors;
  for (const ParameterSlot& slot : layout.slots()) {
    const bool is_weight = slot.name.ends_with(".weight");
    const std::int64_t fan_in = slot.elements() / slot.shape[0];
    const auto bound =
        static_cast<float>(is_weight ? std::sqrt(6 / static_cast<double>(fan_in)) : 0.3);
    NamedTensor& tensor = tensors[slot.name];
    tensor.shape = slot.shape;
    tensor.values = random_values(slot.elements(), stable_hash(slot.name));
    for (float& value : tensor.values) {
      value = bound * value + (slot.name.ends_with(".scale") ? 1.0F : 0.0F);
    }
  }
  return tensors;
}

/// A network at work on made-up samples, with weights that stir every layer.
template <class Exec = Kokkos::Serial>
class NetworkAtWork {
 public:
  NetworkAtWork(const NetworkPlan& plan, const NetworkOptions& options)
      : exec(test_instance<Exec>()),
        network(exec, plan, options),
        weights(stirring_weights(network.parameters())),
        w_(exec, network.parameters().size()),
        g_(exec, network.parameters().size()),
        statistics_(exec, packed_statistics()),
        samples_(exec, plan, options.batch) {
    network.bind(w_.span(), g_.span(), statistics_.span());
    load();
  }

  /// Bring `weights` to where the network reads them.
  void load() {
    std::vector<float> vector(static_cast<std::size_t>(network.parameters().size()));
    network.parameters().pack(weights, "", vector);
    const Kokkos::View<const float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> source(
        vector.data(), vector.size());
    Kokkos::deep_copy(exec, w_.span(), source);
    exec.fence("crossbow::testing::NetworkAtWork");
  }

  Batch<Exec> batch() const { return samples_.batch(); }

  std::vector<float> losses() {
    const Buffer<Exec> losses = network.forward(exec, batch(), true).losses;
    std::vector<float> values(losses.extent(0));
    const Kokkos::View<float*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> target(
        values.data(), values.size());
    Kokkos::deep_copy(exec, target, losses);
    exec.fence("crossbow::testing::NetworkAtWork");
    return values;
  }

  double mean_loss() {
    const std::vector<float> values = losses();
    return std::accumulate(values.begin(), values.end(), 0.0) /
           static_cast<double>(values.size());
  }

  std::vector<float> logits() {
    LastOutput<Exec> output(exec);
    network.forward(exec, batch(), false, &output);
    return output.logits;
  }

  /// Gradients of the mean loss, in exchange layout.
  NamedTensors gradients(GradientListener* listener = nullptr) {
    network.forward(exec, batch(), true);
    network.backward(exec, batch(), listener);
    NamedTensors tensors;
    network.parameters().unpack(g_.values(), "", tensors);
    return tensors;
  }

  std::vector<float> gradient_vector() const { return g_.values(); }
  const Array<Exec>& statistics() const { return statistics_; }

  Exec exec;
  Network<Exec> network;
  NamedTensors weights;  // exchange layout; load() after a change

 private:
  std::vector<float> packed_statistics() const {
    std::vector<float> vector(static_cast<std::size_t>(network.statistics().size()));
    network.statistics().pack(initial_statistics(network.statistics()), "", vector);
    return vector;
  }

  Array<Exec> w_, g_, statistics_;
  MadeUpBatch<Exec> samples_;
};

inline NetworkOptions options_of(std::int64_t batch, KernelSet kernels) {
  NetworkOptions options;
  options.batch = batch;
  options.kernels = kernels;
  return options;
}

}  // namespace crossbow::testing
