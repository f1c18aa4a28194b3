#include "model/named_networks.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

using ::testing::HasSubstr;

NetworkPlan plan_of(const std::string& name,
                    const ImageShape& image,
                    std::int64_t classes,
                    ShortcutOption shortcut = ShortcutOption::a) {
  ModelOptions options;
  options.name = name;
  options.shortcut = shortcut;
  return plan_network(options, image, classes);
}

std::int64_t parameters(const std::string& name,
                        const ImageShape& image,
                        std::int64_t classes,
                        ShortcutOption shortcut = ShortcutOption::a) {
  return parameter_count(plan_of(name, image, classes, shortcut));
}

const LayerPlan& layer_of(const NetworkPlan& plan, const std::string& name) {
  return *std::find_if(plan.layers.begin(), plan.layers.end(), [&](const LayerPlan& l) {
    return l.name == name;
  });
}

constexpr ImageShape cifar{32, 32, 3};
constexpr ImageShape imagenet{224, 224, 3};

// He et al. 2016, table 6, say 0.27, 0.46, 0.66, 0.85 and 1.7 million. By hand, with n
// blocks a stage: convolutions 9 (3 16 + 2n 16^2 + 16 32 + (2n - 1) 32^2 + 32 64 +
// (2n - 1) 64^2), two numbers a channel of batch norm 2 (16 + 2n (16 + 32 + 64)), and
// 64 10 + 10.
TEST(NamedNetworks, small_residual_networks_have_the_papers_sizes) {
  EXPECT_EQ(parameters("resnet20", cifar, 10), 269722);
  EXPECT_EQ(parameters("resnet32", cifar, 10), 464154);
  EXPECT_EQ(parameters("resnet44", cifar, 10), 658586);
  EXPECT_EQ(parameters("resnet56", cifar, 10), 853018);
  EXPECT_EQ(parameters("resnet110", cifar, 10), 1727962);
}

// Two projections: 16 32 + 2 32 and 32 64 + 2 64 more.
TEST(NamedNetworks, option_b_adds_two_projections) {
  EXPECT_EQ(parameters("resnet32", cifar, 10, ShortcutOption::b), 464154 + 576 + 2176);
}

// The counts that torchvision documents for its weights of these networks.
TEST(NamedNetworks, large_residual_networks_have_torchvisions_sizes) {
  EXPECT_EQ(parameters("resnet18", imagenet, 1000), 11689512);
  EXPECT_EQ(parameters("resnet34", imagenet, 1000), 21797672);
  EXPECT_EQ(parameters("resnet50", imagenet, 1000), 25557032);
  EXPECT_EQ(parameters("resnet101", imagenet, 1000), 44549160);
}

// 57.37 MiB is the model that the CROSSBOW paper trains on CIFAR-100 (table 1).
TEST(NamedNetworks, vgg16_is_the_papers) {
  EXPECT_NEAR(
      static_cast<double>(parameters("vgg16", cifar, 100)) * 4 / (1 << 20), 57.37, 0.005);
}

// By hand: convolutions 9 (3 64 + 64 128 + 128 256 + 256^2 + 256 512 + 3 512^2) with
// 2752 biases, batch norm 2 (64 + 128 + 2 256 + 4 512), then 512 512 + 512, 2 512, 512 10
// + 10.
TEST(NamedNetworks, vgg11_has_eight_convolutions) {
  const NetworkPlan plan = plan_of("vgg11", cifar, 10);
  EXPECT_EQ(parameter_count(plan), 9217728 + 2752 + 5504 + 262656 + 1024 + 5130);
  EXPECT_EQ(
      std::count_if(plan.layers.begin(),
                    plan.layers.end(),
                    [](const LayerPlan& l) { return l.type == LayerType::convolution; }),
      8);
}

// Springenberg et al. 2015, table 1: with biases, 3x3 convolutions 3-96-96-96-192-192-192
// -192 and 1x1 ones 192-192-10.
TEST(NamedNetworks, all_convolutional_network) {
  const NetworkPlan plan = plan_of("allcnn", cifar, 10);
  EXPECT_EQ(parameter_count(plan),
            9 * (3 * 96 + 2 * 96 * 96 + 96 * 192 + 3 * 192 * 192) + 192 * 192 + 192 * 10 +
                3 * 96 + 5 * 192 + 10);
  EXPECT_EQ(layer_of(plan, "conv9").out, (ImageShape{8, 8, 10}));
}

// He et al. 2016: 32x32, 16x16 and 8x8 maps in the three stages.
TEST(NamedNetworks, stages_halve_the_resolution) {
  const NetworkPlan plan = plan_of("resnet20", cifar, 10);
  EXPECT_EQ(layer_of(plan, "layer1.2.conv2").out, (ImageShape{32, 32, 16}));
  EXPECT_EQ(layer_of(plan, "layer2.2.conv2").out, (ImageShape{16, 16, 32}));
  EXPECT_EQ(layer_of(plan, "layer3.2.conv2").out, (ImageShape{8, 8, 64}));
  EXPECT_EQ(plan.layers.back().in, (ImageShape{1, 1, 64}));
}

// Products and sums are said to be 40.8 and 68.9 million (He's code) for 20 and 32
// layers; two operations each. Counted by hand for 20 layers: 3x3 convolutions of three
// stages 6 32^2 9 16^2 + ... = 40.55 million with the first and the last layer.
TEST(NamedNetworks, operations_of_a_forward_pass) {
  const auto forward = [](const NetworkPlan& plan) {
    double flops = 0;
    for (const LayerPlan& layer : plan.layers) {
      flops += forward_flops(layer);
    }
    return flops;
  };
  EXPECT_NEAR(forward(plan_of("resnet20", cifar, 10)) / 2e6, 40.55, 0.01);
  EXPECT_NEAR(forward(plan_of("resnet32", cifar, 10)) / 2e6, 68.86, 0.01);
}

// A deck that spells the layers out is the same network.
TEST(NamedNetworks, layers_of_a_deck_give_the_same_plan) {
  ModelOptions named;
  named.name = "resnet20";
  ModelOptions spelled;
  spelled.layers = named_network(named, cifar, 10);
  const NetworkPlan a = plan_network(named, cifar, 10);
  const NetworkPlan b = plan_network(spelled, cifar, 10);
  ASSERT_EQ(a.layers.size(), b.layers.size());
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    EXPECT_EQ(a.layers[i].name, b.layers[i].name);
    EXPECT_EQ(a.layers[i].inputs, b.layers[i].inputs);
    EXPECT_EQ(a.layers[i].out, b.layers[i].out);
  }
}

TEST(NamedNetworks, images_that_are_too_small_are_refused) {
  try {
    plan_of("vgg16", {28, 28, 1}, 10);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("at least 32x32"));
    EXPECT_THAT(error.what(), HasSubstr("28x28"));
  }
}

TEST(NamedNetworks, every_name_of_a_deck_is_known) {
  for (const std::string_view name : network_names) {
    EXPECT_GT(parameters(std::string(name), imagenet, 10), 0) << name;
  }
}

}  // namespace
}  // namespace crossbow
