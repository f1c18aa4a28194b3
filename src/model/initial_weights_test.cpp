#include "model/initial_weights.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

NetworkPlan plan() {
  return plan_network(model_of({convolution("conv1", 32, 5),
                                layer(LayerType::batch_norm, "bn"),
                                convolution("conv2", 40, 3),
                                pool(LayerType::max_pool, 2),
                                linear("fc1", 60),
                                linear("fc2", 3)}),
                      {6, 6, 2},
                      3);
}

NamedTensors weights_for(KernelSet kernels, std::uint64_t seed) {
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  const Network<Kokkos::Serial> network(exec, plan(), options_of(3, kernels));
  return initial_weights(network.parameters(), seed);
}

/// Expect numbers uniform in [-bound, bound): mean, variance bound² / 3 and the share
/// below half the bound within five standard deviations of what n such numbers have.
void expect_uniform(const NamedTensor& tensor, double bound, const std::string& name) {
  double sum = 0, squares = 0, small = 0, largest = 0;
  for (const float value : tensor.values) {
    sum += value;
    squares += double{value} * value;
    small += std::abs(value) < bound / 2 ? 1 : 0;
    largest = std::fmax(largest, std::abs(value));
  }
  const auto n = static_cast<double>(tensor.values.size());
  const double variance = bound * bound / 3;
  EXPECT_LE(largest, bound) << name;
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n)) << name;
  EXPECT_NEAR(squares / n, variance, 5 * bound * bound * std::sqrt(4 / (45 * n))) << name;
  EXPECT_NEAR(small / n, 0.5, 2.5 / std::sqrt(n)) << name;
}

TEST(InitialWeights, weights_and_biases_are_uniform_as_pytorch_has_them) {
  const NamedTensors weights = weights_for(KernelSet::kokkos, 1);
  const std::vector<std::pair<std::string, double>> fan_ins = {
      {"conv1", 2 * 25}, {"conv2", 32 * 9}, {"fc1", 9 * 40}, {"fc2", 60}};
  for (const auto& [layer, fan_in] : fan_ins) {
    const double bound = 1 / std::sqrt(fan_in);
    expect_uniform(weights.at(layer + ".weight"), bound, layer + ".weight");
    expect_uniform(weights.at(layer + ".bias"), bound, layer + ".bias");
  }
}

/// Weights [n, c, 3, 3] of one convolution with an initialiser.
NamedTensor with_initializer(const Initializer& initializer) {
  ParameterLayout layout;
  layout.add("conv.weight",
             {64, 30, 3, 3},
             identity_layout(std::int64_t{64} * 30 * 9),
             initializer);
  layout.add("conv.bias", {64}, identity_layout(64), initializer);
  NamedTensors tensors = initial_weights(layout, 5);
  EXPECT_EQ(tensors.at("conv.bias").values, std::vector<float>(64, 0.0F));
  return tensors.at("conv.weight");
}

struct Moments {
  double mean, variance, fourth, least, largest;
};

Moments moments_of(const NamedTensor& tensor) {
  Moments m{0, 0, 0, tensor.values[0], tensor.values[0]};
  const auto n = static_cast<double>(tensor.values.size());
  for (const float value : tensor.values) {
    m.mean += value / n;
    m.least = std::fmin(m.least, value);
    m.largest = std::fmax(m.largest, value);
  }
  for (const float value : tensor.values) {
    const double deviation = value - m.mean;
    m.variance += deviation * deviation / n;
    m.fourth += std::pow(deviation, 4) / n;
  }
  return m;
}

/// Expect normal numbers: mean, variance and kurtosis 3 within five standard deviations
/// (sqrt(2/n) of the variance, sqrt(24/n) of the kurtosis).
void expect_normal(const NamedTensor& tensor, double mean, double std) {
  const auto n = static_cast<double>(tensor.values.size());
  const Moments m = moments_of(tensor);
  EXPECT_NEAR(m.mean, mean, 5 * std / std::sqrt(n));
  EXPECT_NEAR(m.variance, std * std, 5 * std * std * std::sqrt(2 / n));
  EXPECT_NEAR(m.fourth / (m.variance * m.variance), 3, 5 * std::sqrt(24 / n));
}

TEST(InitialWeights, constant_and_uniform) {
  using Kind = InitializerKind;
  EXPECT_EQ(with_initializer({Kind::constant, 0.5}).values,
            std::vector<float>(std::size_t{64} * 30 * 9, 0.5F));
  NamedTensor uniform = with_initializer({Kind::uniform, 0, 1, 3});
  const Moments m = moments_of(uniform);
  EXPECT_GE(m.least, 1);
  EXPECT_LE(m.largest, 3);
  for (float& value : uniform.values) {
    value -= 2;
  }
  expect_uniform(uniform, 1, "uniform");
}

TEST(InitialWeights, gaussian_and_he) {
  Initializer gaussian{InitializerKind::gaussian};
  gaussian.mean = 0.5;
  gaussian.std = 0.25;
  expect_normal(with_initializer(gaussian), 0.5, 0.25);
  expect_normal(with_initializer({InitializerKind::he}), 0, std::sqrt(2.0 / (30 * 9)));
}

// Of normal numbers those within two deviations: variance 1 - 4 phi(2) / (2 Phi(2) - 1)
// = 0.7737, where phi(2) = 0.053991, Phi(2) = 0.977250.
TEST(InitialWeights, truncated_gaussian_stays_within_two_deviations) {
  Initializer truncated{InitializerKind::truncated_gaussian};
  truncated.mean = 1;
  truncated.std = 0.25;
  const NamedTensor tensor = with_initializer(truncated);
  const Moments m = moments_of(tensor);
  const auto n = static_cast<double>(tensor.values.size());
  EXPECT_GE(m.least, 0.5);
  EXPECT_LE(m.largest, 1.5);
  EXPECT_LT(m.least, 0.51);  // and goes that far
  EXPECT_GT(m.largest, 1.49);
  const double variance = 0.0625 * (1 - 4 * 0.053991 / (2 * 0.977250 - 1));
  EXPECT_NEAR(m.mean, 1, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(m.variance, variance, 5 * variance * std::sqrt(2 / n));
}

TEST(InitialWeights, xavier_is_uniform) {
  expect_uniform(with_initializer({InitializerKind::xavier}),
                 std::sqrt(6.0 / (30 * 9 + 64 * 9)),
                 "xavier");
}

TEST(InitialWeights, scales_start_where_their_layer_says) {
  LayerOptions zero = layer(LayerType::batch_norm, "zero");
  zero.initial_scale = 0;
  LayerOptions he = linear("fc", 3);
  he.initializer.kind = InitializerKind::he;
  const NetworkPlan plan = plan_network(
      model_of({zero, layer(LayerType::batch_norm, "one"), he}), {6, 6, 2}, 3);
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  const Network<Kokkos::Serial> network(exec, plan, options_of(3, KernelSet::kokkos));
  const NamedTensors weights = initial_weights(network.parameters(), 1);
  EXPECT_EQ(weights.at("zero.scale").values, std::vector<float>(2, 0.0F));
  EXPECT_EQ(weights.at("one.scale").values, std::vector<float>(2, 1.0F));
  expect_normal(weights.at("fc.weight"), 0, std::sqrt(2.0 / 72));
}

TEST(InitialWeights, shifts_are_zero_and_scales_one) {
  const NamedTensors weights = weights_for(KernelSet::kokkos, 1);
  EXPECT_EQ(weights.at("bn.scale").values, std::vector<float>(32, 1.0F));
  EXPECT_EQ(weights.at("bn.shift").values, std::vector<float>(32, 0.0F));
}

TEST(InitialWeights, depend_on_seed_and_name_but_not_on_layout) {
  const NamedTensors weights = weights_for(KernelSet::kokkos, 1);
  for (const auto& [kernels, set] : kernel_sets) {
    const NamedTensors others = weights_for(kernels, 1);
    ASSERT_EQ(others.size(), weights.size());
    for (const auto& [name, tensor] : others) {
      EXPECT_EQ(tensor.shape, weights.at(name).shape) << name << ", " << set;
      expect_same_bits(
          tensor.values, weights.at(name).values, fmt::format("{}, {}", name, set));
    }
  }
  EXPECT_NE(weights_for(KernelSet::kokkos, 2).at("fc2.weight").values,
            weights.at("fc2.weight").values);
  ParameterLayout two;
  two.add("a.weight", {4, 4}, identity_layout(16));
  two.add("b.weight", {4, 4}, identity_layout(16));
  ParameterLayout reversed;
  reversed.add("b.weight", {4, 4}, identity_layout(16));
  reversed.add("a.weight", {4, 4}, identity_layout(16));
  const NamedTensors a = initial_weights(two, 1), b = initial_weights(reversed, 1);
  EXPECT_NE(a.at("a.weight").values, a.at("b.weight").values);
  EXPECT_EQ(a.at("a.weight").values, b.at("a.weight").values);
}

TEST(InitialWeights, statistics_start_at_mean_0_and_variance_1) {
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  const Network<Kokkos::Serial> network(exec, plan(), options_of(3, KernelSet::kokkos));
  const NamedTensors statistics = initial_statistics(network.statistics());
  ASSERT_EQ(statistics.size(), 2U);
  EXPECT_EQ(statistics.at("bn.running_mean").values, std::vector<float>(32, 0.0F));
  EXPECT_EQ(statistics.at("bn.running_variance").values, std::vector<float>(32, 1.0F));
}

}  // namespace
}  // namespace crossbow
