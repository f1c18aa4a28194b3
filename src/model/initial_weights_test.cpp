#include "model/initial_weights.hpp"

#include <cmath>
#include <string>
#include <vector>

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

/// Mean and variance within five standard deviations of what n normal numbers have.
void expect_normal(const NamedTensor& tensor, double variance, const std::string& name) {
  double sum = 0, squares = 0;
  for (const float value : tensor.values) {
    sum += value;
    squares += double{value} * value;
  }
  const auto n = static_cast<double>(tensor.values.size());
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(variance / n)) << name;
  EXPECT_NEAR(squares / n, variance, 5 * variance * std::sqrt(2 / n)) << name;
}

TEST(InitialWeights, have_the_variance_of_he) {
  const NamedTensors weights = weights_for(KernelSet::kokkos, 1);
  expect_normal(weights.at("conv1.weight"), 2.0 / (2 * 25), "conv1");
  expect_normal(weights.at("conv2.weight"), 2.0 / (32 * 9), "conv2");
  expect_normal(weights.at("fc1.weight"), 2.0 / (9 * 40), "fc1");
  expect_normal(weights.at("fc2.weight"), 2.0 / 60, "fc2");
}

TEST(InitialWeights, are_normal_in_shape) {
  const std::vector<float> values =
      weights_for(KernelSet::kokkos, 1).at("fc1.weight").values;  // 21600
  const double deviation = std::sqrt(2.0 / 360);
  int beyond_one = 0, beyond_two = 0;
  for (const float value : values) {
    beyond_one += std::abs(value) > deviation ? 1 : 0;
    beyond_two += std::abs(value) > 2 * deviation ? 1 : 0;
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(beyond_one / n, 0.3173, 0.016);  // five standard deviations
  EXPECT_NEAR(beyond_two / n, 0.0455, 0.008);
}

TEST(InitialWeights, biases_and_shifts_are_zero_and_scales_one) {
  const NamedTensors weights = weights_for(KernelSet::kokkos, 1);
  for (const auto& [name, tensor] : weights) {
    if (!name.ends_with(".weight")) {
      const float expected = name.ends_with(".scale") ? 1 : 0;
      EXPECT_EQ(tensor.values, std::vector<float>(tensor.values.size(), expected))
          << name;
    }
  }
}

TEST(InitialWeights, depend_on_seed_and_name_but_not_on_layout) {
  const NamedTensors weights = weights_for(KernelSet::kokkos, 1);
  for (const auto& [kernels, set] : kernel_sets) {
    const NamedTensors others = weights_for(kernels, 1);
    ASSERT_EQ(others.size(), weights.size());
    for (const auto& [name, tensor] : others) {
      EXPECT_EQ(tensor.shape, weights.at(name).shape) << name << ", " << set;
      expect_same_bits(tensor.values, weights.at(name).values, name + ", " + set);
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
