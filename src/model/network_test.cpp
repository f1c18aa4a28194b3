#include "model/network.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

constexpr ImageShape images = {8, 8, 2};

std::vector<LayerOptions> small_lenet() {
  LayerOptions conv2 = convolution("conv2", 6, 3);
  conv2.padding_same = false;
  return {convolution("conv1", 5, 3),
          layer(LayerType::relu, "relu1"),
          pool(LayerType::max_pool, 2, "pool1"),
          conv2,
          layer(LayerType::relu, "relu2"),
          linear("fc1", 9),
          layer(LayerType::relu, "relu3"),
          linear("fc2", 3)};
}

/// The same network with each ReLU a layer of its own.
NetworkPlan unfused(const NetworkPlan& fused, const std::vector<LayerOptions>& layers) {
  NetworkPlan plan = fused;
  plan.layers.clear();
  for (const LayerOptions& options : layers) {
    const auto same = std::find_if(
        fused.layers.begin(), fused.layers.end(), [&](const LayerPlan& candidate) {
          return candidate.name == options.name;
        });
    LayerPlan next;
    if (same != fused.layers.end()) {
      next = *same;
    } else {
      next.name = options.name;
      next.type = options.type;
      next.options = options;
      next.in = next.out = plan.layers.back().out;
    }
    next.relu = false;
    next.inputs = {static_cast<int>(plan.layers.size()) - 1};
    plan.layers.push_back(next);
  }
  return plan;
}

/// What a network really has, as its plan should say.
void expect_same_tensors(const std::vector<NamedShape>& planned,
                         const ParameterLayout& made) {
  ASSERT_EQ(planned.size(), made.slots().size());
  for (std::size_t i = 0; i < planned.size(); ++i) {
    EXPECT_EQ(planned[i].name, made.slots()[i].name);
    EXPECT_EQ(planned[i].shape, made.slots()[i].shape) << planned[i].name;
  }
}

TEST(Network, has_the_tensors_that_its_plan_says) {
  LayerOptions unbiased = linear("fc0", 7);
  unbiased.bias = false;
  std::vector<LayerOptions> layers = small_lenet();
  layers.insert(layers.begin() + 1, layer(LayerType::batch_norm, "bn"));
  layers.insert(layers.end() - 1, unbiased);
  const NetworkPlan plan = plan_network(model_of(layers), images, 3);
  const Network<Kokkos::Serial> network(
      test_instance<Kokkos::Serial>(), plan, options_of(2, KernelSet::vendor));
  const NetworkTensors tensors = tensors_of(plan);
  EXPECT_EQ(tensors.parameters.size(), 11U);
  EXPECT_EQ(tensors.statistics.size(), 2U);
  expect_same_tensors(tensors.parameters, network.parameters());
  expect_same_tensors(tensors.statistics, network.statistics());
  EXPECT_EQ(parameter_count(plan), network.parameters().elements());
}

TEST(Network, fused_relus_change_no_value) {
  const NetworkPlan plan = plan_network(model_of(small_lenet()), images, 3);
  const NetworkPlan plain = unfused(plan, small_lenet());
  ASSERT_EQ(plan.layers.size(), 5U);
  ASSERT_EQ(plain.layers.size(), 8U);
  for (const auto& [kernels, name] : kernel_sets) {
    SCOPED_TRACE(name);
    NetworkAtWork<> with(plan, options_of(7, kernels));
    NetworkAtWork<> without(plain, options_of(7, kernels));
    expect_same_bits(with.logits(), without.logits(), "logits");
    expect_same_bits(with.losses(), without.losses(), "losses");
    const NamedTensors a = with.gradients(), b = without.gradients();
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [tensor_name, tensor] : a) {
      EXPECT_EQ(tensor.values, b.at(tensor_name).values) << tensor_name;
    }
  }
}

/// Residual blocks; a dropout of nothing before each ReLU keeps it from being fused.
std::vector<LayerOptions> residual(bool fused) {
  std::vector<LayerOptions> layers;
  const auto relu = [&](const std::string& name) {
    if (!fused) {
      layers.push_back(dropout("before_" + name, 0));
    }
    layers.push_back(layer(LayerType::relu, name));
  };
  layers = {convolution("conv1", 5, 3), layer(LayerType::batch_norm, "bn1")};
  relu("r1");
  for (const std::string block : {"a", "b"}) {
    const std::string before = block == "a" ? "r1" : "ra";
    layers.push_back(convolution("conv1" + block, 5, 3, {before}));
    layers.push_back(layer(LayerType::batch_norm, "bn1" + block));
    relu("r1" + block);
    layers.push_back(convolution("conv2" + block, 5, 3));
    layers.push_back(layer(LayerType::batch_norm, "bn2" + block));
    layers.push_back(layer(LayerType::add, "sum" + block, {"bn2" + block, before}));
    relu("r" + block);
  }
  layers.push_back(layer(LayerType::global_average_pool));
  layers.push_back(linear("fc", 3));
  return layers;
}

TEST(Network, relus_inside_batch_norm_and_sums_change_no_value) {
  const NetworkPlan fused = plan_network(model_of(residual(true)), images, 3);
  const NetworkPlan plain = plan_network(model_of(residual(false)), images, 3);
  ASSERT_EQ(fused.layers.size() + 10, plain.layers.size());
  for (const auto& [kernels, name] : kernel_sets) {
    SCOPED_TRACE(name);
    NetworkAtWork<> with(fused, options_of(7, kernels));
    NetworkAtWork<> without(plain, options_of(7, kernels));
    expect_same_bits(with.losses(), without.losses(), "losses");
    const NamedTensors a = with.gradients(), b = without.gradients();
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [tensor_name, tensor] : a) {
      EXPECT_EQ(tensor.values, b.at(tensor_name).values) << tensor_name;
    }
  }
}

/// What has come later, in one network.
std::vector<LayerOptions> more_of_everything() {
  LayerOptions grouped = convolution("grouped", 6, 3);
  grouped.groups = 2;
  LayerOptions depthwise = convolution("depthwise", 6, 3);
  depthwise.groups = 6;
  depthwise.dilation = 2;
  LayerOptions padded = pool(LayerType::max_pool, 3, "padded");
  padded.stride = 2;
  padded.padding = 1;
  LayerOptions mean = pool(LayerType::average_pool, 3, "mean");
  mean.stride = 2;
  mean.padding = 1;
  mean.ceil = true;
  LayerOptions lrn = pool(LayerType::lrn, 5, "lrn");
  lrn.alpha = 0.5;
  return {grouped,
          layer(LayerType::leaky_relu, "leaky"),
          depthwise,
          lrn,
          layer(LayerType::concat, "both", {"lrn", "leaky", "input"}),
          padded,
          layer(LayerType::sigmoid, "sigmoid"),
          mean,
          linear("fc", 3)};
}

std::vector<LayerOptions> everything() {
  return {convolution("conv1", 5, 3),
          layer(LayerType::batch_norm, "bn"),
          layer(LayerType::relu, "r"),
          convolution("conv2", 5, 3),
          layer(LayerType::add, "sum", {"conv2", "r"}),
          layer(LayerType::tanh),
          pool(LayerType::average_pool, 2),
          linear("fc1", 9),
          dropout("drop", 0.3),
          linear("fc2", 3)};
}

// Different implementations of one definition: each float sum of at most 576 products has
// a relative error of some 1e-6.
void expect_the_same_by_all_kernel_sets(const std::vector<LayerOptions>& layers) {
  const NetworkPlan plan = plan_network(model_of(layers), images, 3);
  NetworkAtWork<> truth(plan, options_of(6, KernelSet::reference));
  const std::vector<float> losses = truth.losses();
  const NamedTensors gradients = truth.gradients();
  for (const KernelSet kernels : {KernelSet::vendor, KernelSet::kokkos}) {
    NetworkAtWork<> serial(plan, options_of(6, kernels));
    expect_close(serial.losses(), to_double(losses), 1e-5, "losses");
    for (const auto& [name, tensor] : serial.gradients()) {
      expect_close(tensor.values, to_double(gradients.at(name).values), 1e-5, name);
    }
    NetworkAtWork<Kokkos::OpenMP> openmp(plan, options_of(6, kernels));
    expect_close(openmp.losses(), to_double(losses), 1e-5, "losses of OpenMP");
    for (const auto& [name, tensor] : openmp.gradients()) {
      expect_close(tensor.values, to_double(gradients.at(name).values), 1e-5, name);
    }
  }
}

TEST(Network, all_kernel_sets_compute_the_same) {
  expect_the_same_by_all_kernel_sets(everything());
  expect_the_same_by_all_kernel_sets(more_of_everything());
}

TEST(Network, is_bitwise_repeatable) {
  const NetworkPlan plan = plan_network(model_of(everything()), images, 3);
  for (const auto& [kernels, name] : kernel_sets) {
    NetworkAtWork<> a(plan, options_of(6, kernels)), b(plan, options_of(6, kernels));
    a.gradients();
    b.gradients();
    expect_same_bits(a.gradient_vector(), b.gradient_vector(), name);
    a.gradients();  // what a step leaves behind must not change the next
    expect_same_bits(a.gradient_vector(), b.gradient_vector(), name + ", again");
  }
}

/// Copies gradients when they are said to be ready.
class Listener final : public GradientListener {
 public:
  explicit Listener(const NetworkAtWork<>& work) : work_(work) {}

  void gradient_ready(std::int64_t offset, std::int64_t size) override {
    const std::vector<float> now = work_.gradient_vector();
    parts.push_back({offset, size});
    for (std::int64_t i = offset; i < offset + size; ++i) {
      seen.emplace_back(i, now[static_cast<std::size_t>(i)]);
    }
  }

  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  std::vector<std::pair<std::int64_t, float>> seen;

 private:
  const NetworkAtWork<>& work_;
};

TEST(Network, tells_of_final_gradients_from_the_end_of_the_network) {
  const NetworkPlan plan = plan_network(model_of(everything()), images, 3);
  NetworkAtWork<> work(plan, options_of(6, KernelSet::vendor));
  Listener listener(work);
  work.gradients(&listener);
  const std::vector<float> final_gradients = work.gradient_vector();
  std::vector<int> told(final_gradients.size(), 0);
  for (const auto& [i, value] : listener.seen) {
    ++told[static_cast<std::size_t>(i)];
    // Bits: what lies between two tensors is not written and stays NaN.
    const float at_the_end = final_gradients[static_cast<std::size_t>(i)];
    ASSERT_EQ(std::bit_cast<std::uint32_t>(value),
              std::bit_cast<std::uint32_t>(at_the_end))
        << i;
  }
  for (const ParameterSlot& slot : work.network.parameters().slots()) {
    for (std::int64_t i = slot.offset; i < slot.offset + slot.size; ++i) {
      ASSERT_EQ(told[static_cast<std::size_t>(i)], 1) << slot.name;
    }
  }
  for (std::size_t i = 1; i < listener.parts.size(); ++i) {
    EXPECT_LT(listener.parts[i].first, listener.parts[i - 1].first);
  }
}

TEST(Network, works_with_the_vectors_that_it_was_bound_to_last) {
  const NetworkPlan plan = plan_network(model_of(small_lenet()), images, 3);
  NetworkAtWork<> a(plan, options_of(4, KernelSet::vendor));
  NetworkAtWork<> b(plan, options_of(4, KernelSet::vendor));
  const std::vector<float> before = a.losses();
  const auto n = static_cast<std::size_t>(a.network.parameters().size());
  const Buffer<Kokkos::Serial> w = make_buffer(a.exec, "crossbow::test_weights", n);
  const Buffer<Kokkos::Serial> g = make_buffer(a.exec, "crossbow::test_gradients", n);
  a.network.bind(w, g, {});
  const std::vector<float> zero_weights = a.losses();
  EXPECT_NEAR(zero_weights[0], std::log(3.0), 1e-6);  // equal logits
  EXPECT_NE(zero_weights, before);
  EXPECT_EQ(b.losses(), before);
}

TEST(Network, observer_sees_all_layers_in_order) {
  const NetworkPlan plan = plan_network(model_of(everything()), images, 3);
  NetworkAtWork<> work(plan, options_of(2, KernelSet::kokkos));
  LastOutput<Kokkos::Serial> output(work.exec);
  work.network.forward(work.exec, work.batch(), false, &output);
  Names names;
  for (const LayerPlan& layer : plan.layers) {
    names.push_back(layer.name);
  }
  EXPECT_EQ(output.names, names);
  EXPECT_EQ(output.logits.size(), 2U * 3U);
}

/// Networks by the way that a number takes through them.
const std::vector<std::pair<std::string, std::vector<LayerOptions>>> ways = {
    {"convolution, relu, linear",
     {convolution("conv", 4, 3), layer(LayerType::relu), linear("fc", 3)}},
    {"convolution, relu, max_pool, linear",
     {convolution("conv", 4, 3),
      layer(LayerType::relu),
      pool(LayerType::max_pool, 2),
      linear("fc", 3)}},
    {"convolution, max_pool, linear",
     {convolution("conv", 4, 3), pool(LayerType::max_pool, 2), linear("fc", 3)}},
    {"linear, relu, linear",
     {linear("fc1", 5), layer(LayerType::relu), linear("fc2", 3)}},
    {"batch_norm, tanh, average_pool, linear",
     {layer(LayerType::batch_norm),
      layer(LayerType::tanh),
      pool(LayerType::average_pool, 2),
      linear("fc", 3)}},
    {"add, relu, global_average_pool, linear",
     {convolution("a", 4, 3),
      convolution("b", 4, 3, {"input"}),
      layer(LayerType::add, "sum", {"a", "b"}),
      layer(LayerType::relu),
      layer(LayerType::global_average_pool),
      linear("fc", 3)}}};

Array<Kokkos::Serial> packed_weights(const NetworkAtWork<>& work) {
  std::vector<float> vector(static_cast<std::size_t>(work.network.parameters().size()));
  work.network.parameters().pack(work.weights, "", vector);
  return {work.exec, vector};
}

// The smoothed loss is for training; a test tells the plain one.
TEST(Network, inference_smooths_no_labels) {
  const NetworkPlan plan = plan_network(model_of({linear("fc", 3)}), images, 3);
  NetworkOptions options = options_of(4, KernelSet::kokkos);
  NetworkAtWork<> plain(plan, options);
  options.label_smoothing = 0.3;
  NetworkAtWork<> smoothed(plan, options);
  EXPECT_NE(smoothed.losses(), plain.losses());
  options.inference = true;
  options.imposed = &plain.network.parameters();
  Network<Kokkos::Serial> testing_network(plain.exec, plan, options);
  const Array<Kokkos::Serial> weights = packed_weights(plain);
  testing_network.bind(weights.span(), {}, {});
  const auto losses = testing_network.forward(plain.exec, plain.batch(), false).losses;
  EXPECT_EQ(std::vector<float>(losses.data(), losses.data() + losses.extent(0)),
            plain.losses());
}

// As in PyTorch: neither a ReLU nor a maximum makes a number of what is none.
TEST(Network, a_nan_stays_visible) {
  for (const auto& [kernels, name] : kernel_sets) {
    for (const auto& [way, layers] : ways) {
      NetworkAtWork<> work(plan_network(model_of(layers), images, 3),
                           options_of(2, kernels));
      EXPECT_TRUE(std::isfinite(work.losses()[0])) << name << ": " << way;
      work.batch().images(45) = std::numeric_limits<float>::quiet_NaN();  // of sample 0
      EXPECT_TRUE(std::isnan(work.losses()[0])) << name << ": " << way;
    }
  }
}

// ---- Testing with another batch
// ---------------------------------------------------------

/// Logits of the first `count` samples by a testing network of batch 125 that takes the
/// training network's weights as they lie there.
std::vector<float> inference_logits(const NetworkPlan& plan,
                                    const NetworkAtWork<>& training,
                                    Span<Kokkos::Serial> weights,
                                    KernelSet kernels,
                                    std::size_t count) {
  NetworkOptions options = options_of(125, kernels);
  options.inference = true;
  options.imposed = &training.network.parameters();
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  Network<Kokkos::Serial> network(exec, plan, options);
  EXPECT_EQ(network.parameters().size(), training.network.parameters().size());
  network.bind(weights, {}, training.statistics().span());
  const MadeUpBatch<Kokkos::Serial> samples(exec, plan, 125);
  LastOutput<Kokkos::Serial> output(exec);
  network.forward(exec, samples.batch(), false, &output);
  output.logits.resize(count);
  return output.logits;
}

TEST(Network, inference_with_an_imposed_layout_gives_the_same_logits) {
  const NetworkPlan plan = plan_network(model_of(small_lenet()), images, 3);
  for (const auto& [kernels, name] : kernel_sets) {
    NetworkAtWork<> training(plan, options_of(2, kernels));
    const Array<Kokkos::Serial> weights = packed_weights(training);
    const std::vector<float> expected = training.logits();
    expect_close(
        inference_logits(plan, training, weights.span(), kernels, expected.size()),
        to_double(expected),
        1e-5,
        name);
  }
}

TEST(Network, inference_drops_nothing) {
  std::vector<LayerOptions> layers = {
      linear("fc1", 9), dropout("drop", 0.5), linear("fc2", 3)};
  const NetworkPlan plan = plan_network(model_of(layers), images, 3);
  layers.erase(layers.begin() + 1);
  const NetworkPlan without = plan_network(model_of(layers), images, 3);
  NetworkAtWork<> training(plan, options_of(2, KernelSet::vendor));
  NetworkAtWork<> truth(without, options_of(2, KernelSet::vendor));
  const Array<Kokkos::Serial> weights = packed_weights(training);
  const std::vector<float> expected = truth.logits();
  EXPECT_NE(training.logits(), expected);
  expect_close(inference_logits(
                   plan, training, weights.span(), KernelSet::vendor, expected.size()),
               to_double(expected),
               1e-5,
               "logits");
}

// One forward pass with momentum 1 makes the batch's own statistics the running ones:
// mean and, by PyTorch's rule, the variance times n / (n - 1). With the factor taken off
// again inference must do what training did.
TEST(Network, inference_normalises_with_the_running_statistics) {
  ModelOptions model = model_of({convolution("conv", 5, 3),
                                 layer(LayerType::batch_norm, "bn"),
                                 layer(LayerType::relu),
                                 linear("fc", 3)});
  model.batch_norm.momentum = 1;
  const NetworkPlan plan = plan_network(model, images, 3);
  for (const auto& [kernels, name] : kernel_sets) {
    NetworkAtWork<> training(plan, options_of(2, kernels));
    const std::vector<float> expected = training.logits();
    NamedTensors statistics;
    const ParameterLayout& layout = training.network.statistics();
    layout.unpack(training.statistics().values(), "", statistics);
    const double values = 2 * images.h * images.w;
    for (float& variance : statistics.at("bn.running_variance").values) {
      variance *= static_cast<float>((values - 1) / values);
    }
    std::vector<float> vector(static_cast<std::size_t>(layout.size()));
    layout.pack(statistics, "", vector);
    std::copy(vector.begin(), vector.end(), training.statistics().span().data());
    const Array<Kokkos::Serial> weights = packed_weights(training);
    expect_close(
        inference_logits(plan, training, weights.span(), kernels, expected.size()),
        to_double(expected),
        1e-5,
        name);
  }
}

TEST(Network, dropout_depends_on_samples_not_on_slots) {
  const NetworkPlan plan = plan_network(
      model_of({linear("fc1", 40), dropout("drop", 0.5), linear("fc2", 3)}), images, 3);
  NetworkAtWork<> two(plan, options_of(2, KernelSet::kokkos));
  NetworkAtWork<> five(plan, options_of(5, KernelSet::kokkos));
  std::vector<float> of_five = five.logits();  // its first two samples are those of `two`
  of_five.resize(6);
  expect_close(of_five, to_double(two.logits()), 1e-6, "logits");
  NetworkOptions other_seed = options_of(2, KernelSet::kokkos);
  other_seed.seed = 2;
  EXPECT_NE(NetworkAtWork<>(plan, other_seed).logits(), two.logits());
}

}  // namespace
}  // namespace crossbow
