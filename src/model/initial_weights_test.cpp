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
