#include "model/network_plan.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Parameters of a planned network, without padding.
std::int64_t parameters_of(const NetworkPlan& plan) {
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  return Network<Kokkos::Serial>(exec, plan, options_of(1, KernelSet::kokkos))
      .parameters()
      .elements();
}

NetworkPlan named(const std::string& name,
                  const ImageShape& shape,
                  std::int64_t classes) {
  ModelOptions options;
  options.name = name;
  return plan_network(options, shape, classes);
}

std::vector<std::string> names_of(const NetworkPlan& plan) {
  std::vector<std::string> names;
  for (const LayerPlan& layer : plan.layers) {
    names.push_back(layer.name);
  }
  return names;
}

int fused_relus(const NetworkPlan& plan) {
  return static_cast<int>(std::count_if(
      plan.layers.begin(), plan.layers.end(), [](const LayerPlan& l) { return l.relu; }));
}

int relu_layers(const NetworkPlan& plan) {
  return static_cast<int>(
      std::count_if(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& l) {
        return l.type == LayerType::relu;
      }));
}

TEST(NetworkPlan, lenet_is_the_papers) {
  const NetworkPlan plan = named("lenet", {28, 28, 1}, 10);
  EXPECT_EQ(parameters_of(plan), 1111946);
  EXPECT_EQ(plan.layers.back().in, (ImageShape{1, 1, 1024}));
  EXPECT_EQ(plan.layers.back().out, (ImageShape{1, 1, 10}));
  EXPECT_EQ(fused_relus(plan), 3);
  EXPECT_EQ(relu_layers(plan), 0);
}

TEST(NetworkPlan, lenet_has_dropout_before_its_last_layer_if_wanted) {
  ModelOptions options;
  options.dropout = 0.4;
  const NetworkPlan plan = plan_network(options, {28, 28, 1}, 10);
  ASSERT_GE(plan.layers.size(), 2U);
  const LayerPlan& before_last = plan.layers[plan.layers.size() - 2];
  EXPECT_EQ(before_last.type, LayerType::dropout);
  EXPECT_EQ(before_last.options.probability, 0.4);
  EXPECT_EQ(parameters_of(plan), 1111946);
}

TEST(NetworkPlan, logistic_and_mlp) {
  EXPECT_EQ(parameters_of(named("logistic", {28, 28, 1}, 10)), 784 * 10 + 10);
  EXPECT_EQ(parameters_of(named("mlp", {8, 8, 1}, 10)), 64 * 128 + 128 + 128 * 10 + 10);
  ModelOptions options;
  options.name = "mlp";
  options.hidden = {7, 5};
  const NetworkPlan plan = plan_network(options, {2, 3, 4}, 3);
  EXPECT_EQ(parameters_of(plan), 24 * 7 + 7 + 7 * 5 + 5 + 5 * 3 + 3);
  EXPECT_EQ(fused_relus(plan), 2);
}

TEST(NetworkPlan, shapes_follow_from_windows_strides_and_padding) {
  LayerOptions valid = convolution("valid", 5, 3);
  valid.padding_same = false;
  LayerOptions same = convolution("same", 4, 3);
  LayerOptions strided = convolution("strided", 6, 3);
  strided.padding_same = false;
  strided.padding = 1;
  strided.stride = 2;
  LayerOptions overlapping = pool(LayerType::max_pool, 3, "overlapping");
  overlapping.stride = 1;
  const NetworkPlan plan =
      plan_network(model_of({valid,
                             same,
                             strided,
                             overlapping,
                             pool(LayerType::average_pool, 2, "pool"),
                             layer(LayerType::global_average_pool, "mean"),
                             linear("fc", 3)}),
                   {13, 12, 2},
                   3);
  const std::vector<ImageShape> shapes = {
      {11, 10, 5}, {11, 10, 4}, {6, 5, 6}, {4, 3, 6}, {2, 1, 6}, {1, 1, 6}, {1, 1, 3}};
  ASSERT_EQ(plan.layers.size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(plan.layers[i].out, shapes[i]) << plan.layers[i].name;
    EXPECT_EQ(plan.layers[i].in, i == 0 ? plan.input : shapes[i - 1]);
  }
}

TEST(NetworkPlan, shapes_with_padded_pools_groups_dilation_and_concatenation) {
  LayerOptions grouped = convolution("grouped", 6, 3);
  grouped.groups = 2;
  LayerOptions dilated = convolution("dilated", 4, 3);
  dilated.dilation = 3;  // a window of 7, that keeps the image's size
  LayerOptions padded = pool(LayerType::max_pool, 3, "padded");
  padded.stride = 2;
  padded.padding = 1;
  LayerOptions up = pool(LayerType::average_pool, 2, "up");
  up.ceil = true;
  const NetworkPlan plan =
      plan_network(model_of({grouped,
                             dilated,
                             layer(LayerType::concat, "both", {"grouped", "dilated"}),
                             padded,
                             pool(LayerType::lrn, 5, "lrn"),
                             up,
                             linear("fc", 3)}),
                   {13, 12, 2},
                   3);
  const std::vector<ImageShape> shapes = {{13, 12, 6},
                                          {13, 12, 4},
                                          {13, 12, 10},
                                          {7, 6, 10},
                                          {7, 6, 10},
                                          {4, 3, 10},
                                          {1, 1, 3}};
  ASSERT_EQ(plan.layers.size(), shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    EXPECT_EQ(plan.layers[i].out, shapes[i]) << plan.layers[i].name;
  }
  EXPECT_EQ(tensors_of(plan).parameters[0].shape,
            (std::vector<std::int64_t>{6, 1, 3, 3}));
  // Two per product: forward and of the weights; of the images none is wanted.
  const double of_grouped = 2 * 2.0 * 13 * 12 * 6 * 1 * 9;
  const double of_dilated = 3 * 2.0 * 13 * 12 * 4 * 6 * 9;
  EXPECT_DOUBLE_EQ(training_flops(plan), of_grouped + of_dilated + 3 * 2.0 * 3 * 120);
}

TEST(NetworkPlan, a_named_network_has_the_initializer_of_the_model) {
  ModelOptions options;
  options.initializer = InitializerKind::he;
  for (const LayerPlan& layer : plan_network(options, {28, 28, 1}, 10).layers) {
    EXPECT_EQ(layer.options.initializer.kind, InitializerKind::he);
  }
  options.layers = {linear("fc", 10)};
  EXPECT_EQ(plan_network(options, {28, 28, 1}, 10).layers[0].options.initializer,
            Initializer());
}

TEST(NetworkPlan, inputs_are_the_layer_before_or_by_name) {
  const NetworkPlan plan =
      plan_network(model_of({convolution("a", 4, 3),
                             convolution("b", 4, 1, {"input"}),
                             layer(LayerType::add, "sum", {"a", "b"}),
                             linear("fc", 3)}),
                   {6, 6, 2},
                   3);
  ASSERT_EQ(names_of(plan), (Names{"a", "b", "sum", "fc"}));
  EXPECT_EQ(plan.layers[0].inputs, std::vector<int>{network_input});
  EXPECT_EQ(plan.layers[1].inputs, std::vector<int>{network_input});
  EXPECT_EQ(plan.layers[2].inputs, (std::vector<int>{0, 1}));
  EXPECT_EQ(plan.layers[3].inputs, std::vector<int>{2});
}

// ---- ReLU that may be fused and ReLU that may not
// --------------------------------------

TEST(NetworkPlan, relu_goes_into_what_it_follows) {
  const NetworkPlan plan = plan_network(model_of({convolution("conv", 4, 3),
                                                  layer(LayerType::relu, "r1"),
                                                  linear("fc1", 5),
                                                  layer(LayerType::relu, "r2"),
                                                  linear("fc2", 3)}),
                                        {6, 6, 2},
                                        3);
  EXPECT_EQ(names_of(plan), (Names{"conv", "fc1", "fc2"}));
  EXPECT_TRUE(plan.layers[0].relu && plan.layers[1].relu && !plan.layers[2].relu);
  EXPECT_EQ(plan.layers[1].inputs, std::vector<int>{0});
  EXPECT_EQ(plan.layers[2].inputs, std::vector<int>{1});
}

TEST(NetworkPlan, relu_on_both_sides_of_a_max_pooling) {
  const NetworkPlan plan = plan_network(model_of({convolution("conv", 4, 3),
                                                  layer(LayerType::relu, "before"),
                                                  pool(LayerType::max_pool, 2, "pool"),
                                                  layer(LayerType::relu, "after"),
                                                  linear("fc", 3)}),
                                        {6, 6, 2},
                                        3);
  EXPECT_EQ(plan.layers.back().inputs,
            std::vector<int>{static_cast<int>(plan.layers.size()) - 2});
  EXPECT_GE(fused_relus(plan), 1);
}

TEST(NetworkPlan, relu_stays_where_the_value_before_it_is_used_too) {
  const NetworkPlan plan =
      plan_network(model_of({convolution("conv", 4, 3),
                             layer(LayerType::relu, "r", {"conv"}),
                             layer(LayerType::add, "sum", {"conv", "r"}),
                             linear("fc", 3)}),
                   {6, 6, 2},
                   3);
  EXPECT_EQ(fused_relus(plan), 0);
  EXPECT_EQ(relu_layers(plan), 1);
}

TEST(NetworkPlan, relu_goes_into_batch_norm_and_sums) {
  const NetworkPlan plan =
      plan_network(model_of({convolution("conv", 2, 3),
                             layer(LayerType::batch_norm, "bn"),
                             layer(LayerType::relu, "of_bn"),
                             layer(LayerType::add, "sum", {"of_bn", "input"}),
                             layer(LayerType::relu, "of_sum"),
                             linear("fc", 3)}),
                   {6, 6, 2},
                   3);
  EXPECT_EQ(names_of(plan), (Names{"conv", "bn", "sum", "fc"}));
  EXPECT_TRUE(plan.layers[1].relu && plan.layers[2].relu);
  EXPECT_EQ(plan.layers[2].inputs, (std::vector<int>{1, network_input}));
}

TEST(NetworkPlan, relu_stays_where_nothing_can_take_it) {
  const NetworkPlan plan =
      plan_network(model_of({layer(LayerType::relu, "of_images"),
                             layer(LayerType::tanh, "t"),
                             layer(LayerType::relu, "of_tanh"),
                             pool(LayerType::average_pool, 2, "mean"),
                             layer(LayerType::relu, "of_mean"),
                             linear("fc", 3)}),
                   {6, 6, 2},
                   3);
  EXPECT_EQ(fused_relus(plan), 0);
  EXPECT_EQ(relu_layers(plan), 3);
}

// ---- Errors: one sentence that names layer, place, values and what to do
// ----------------

TEST(NetworkPlan, unknown_input) {
  LayerOptions bad = linear("fc", 3, {"nobody"});
  bad.where = "deck.toml:7:1";
  const std::string message = plan_error({bad});
  EXPECT_THAT(message, HasSubstr("nobody"));
  EXPECT_THAT(message, HasSubstr("layer fc"));
  EXPECT_THAT(message, HasSubstr("deck.toml:7:1"));
}

TEST(NetworkPlan, an_input_must_come_before) {
  EXPECT_THAT(
      plan_error(
          {convolution("a", 2, 1, {"b"}), convolution("b", 2, 1), linear("fc", 3)}),
      HasSubstr("input b"));
  EXPECT_THAT(plan_error({convolution("a", 2, 1, {"a"}), linear("fc", 3)}),
              HasSubstr("input a"));
}

TEST(NetworkPlan, shapes_differ_in_a_sum) {
  const std::string message = plan_error({convolution("a", 4, 3),
                                          convolution("b", 5, 3, {"input"}),
                                          layer(LayerType::add, "sum", {"a", "b"}),
                                          linear("fc", 3)});
  EXPECT_THAT(message, HasSubstr("6x6x4"));
  EXPECT_THAT(message, HasSubstr("6x6x5"));
  EXPECT_THAT(message, HasSubstr("layer sum"));
}

TEST(NetworkPlan, sizes_differ_in_a_concatenation) {
  LayerOptions valid = convolution("b", 5, 3, {"input"});
  valid.padding_same = false;
  const std::string message = plan_error({convolution("a", 4, 3),
                                          valid,
                                          layer(LayerType::concat, "joined", {"a", "b"}),
                                          linear("fc", 3)});
  EXPECT_THAT(message, HasSubstr("6x6x4 and 4x4x5"));
  EXPECT_THAT(message, HasSubstr("layer joined"));
  EXPECT_THAT(plan_error({convolution("a", 4, 3),
                          layer(LayerType::concat, "joined", {"a"}),
                          linear("fc", 3)}),
              HasSubstr("takes at least 2 inputs but has 1"));
}

TEST(NetworkPlan, groups_divide_channels_and_filters) {
  LayerOptions grouped = convolution("conv", 4, 3);  // of two channels
  grouped.groups = 2;
  EXPECT_EQ(plan_error({grouped, linear("fc", 3)}), "no error");
  grouped.filters = 5;
  EXPECT_THAT(plan_error({grouped, linear("fc", 3)}),
              HasSubstr("2 groups do not divide the channels (2 come in, 5 filters go "
                        "out, layer conv)"));
  grouped.filters = 4;
  grouped.groups = 4;
  EXPECT_THAT(plan_error({grouped, linear("fc", 3)}), HasSubstr("4 groups"));
}

TEST(NetworkPlan, padding_of_a_pool_is_at_most_half_of_it) {
  for (const LayerType type : {LayerType::max_pool, LayerType::average_pool}) {
    LayerOptions padded = pool(type, 3, "pool");
    padded.padding = 1;
    EXPECT_EQ(plan_error({padded, linear("fc", 3)}), "no error");
    padded.padding = 2;
    EXPECT_THAT(plan_error({padded, linear("fc", 3)}), HasSubstr("layer pool"));
  }
}

TEST(NetworkPlan, a_dilated_window_does_not_fit) {
  LayerOptions dilated = convolution("conv", 4, 3);
  dilated.padding_same = false;
  dilated.dilation = 3;
  EXPECT_THAT(plan_error({dilated, linear("fc", 3)}), HasSubstr("a window of 7 pixels"));
}

TEST(NetworkPlan, a_sum_takes_two_inputs_and_others_one) {
  EXPECT_THAT(
      plan_error(
          {convolution("a", 4, 3), layer(LayerType::add, "sum", {"a"}), linear("fc", 3)}),
      HasSubstr("layer sum"));
  EXPECT_THAT(
      plan_error({convolution("a", 4, 3), layer(LayerType::add, "sum"), linear("fc", 3)}),
      HasSubstr("layer sum"));
  EXPECT_THAT(
      plan_error(
          {convolution("a", 4, 3), convolution("b", 4, 3), linear("fc", 3, {"a", "b"})}),
      HasSubstr("layer fc"));
}

TEST(NetworkPlan, a_window_does_not_fit) {
  LayerOptions seven = convolution("conv", 4, 7);
  seven.padding_same = false;
  const std::string message = plan_error({seven, linear("fc", 3)});
  EXPECT_THAT(message, HasSubstr("7"));
  EXPECT_THAT(message, HasSubstr("6x6x2"));
  EXPECT_THAT(message, HasSubstr("layer conv"));
  EXPECT_THAT(plan_error({pool(LayerType::max_pool, 7, "pool"), linear("fc", 3)}),
              HasSubstr("layer pool"));
  seven.padding = 1;  // 6 + 2 >= 7
  EXPECT_EQ(plan_error({seven, linear("fc", 3)}), "no error");
}

TEST(NetworkPlan, a_max_pooling_whose_places_do_not_fit_a_byte) {
  const auto message = [](LayerType type, int size) {
    ModelOptions options;
    options.layers = {pool(type, size, "pool"), linear("fc", 3)};
    try {
      plan_network(options, {28, 28, 1}, 3);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message(LayerType::max_pool, 15), "no error");
  EXPECT_THAT(message(LayerType::max_pool, 16), HasSubstr("layer pool"));
  EXPECT_EQ(message(LayerType::average_pool, 28), "no error");
}

TEST(NetworkPlan, lenet_says_what_images_it_takes) {
  EXPECT_NO_THROW(named("lenet", {16, 16, 1}, 10));
  try {
    named("lenet", {15, 16, 1}, 10);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_THAT(error.what(), HasSubstr("15x16"));
    EXPECT_THAT(error.what(), HasSubstr("model.name"));
  }
}

TEST(NetworkPlan, a_layer_that_nobody_uses) {
  EXPECT_THAT(plan_error({convolution("idle", 4, 3), linear("fc", 3, {"input"})}),
              HasSubstr("layer idle"));
}

TEST(NetworkPlan, logits_must_be_one_value_per_class) {
  const std::string message = plan_error({linear("fc", 4)});
  EXPECT_THAT(message, HasSubstr("4"));
  EXPECT_THAT(message, HasSubstr("3 classes"));
  EXPECT_THAT(message, HasSubstr("layer fc"));
  EXPECT_THAT(plan_error({convolution("conv", 3, 3)}), HasSubstr("layer conv"));
}

TEST(NetworkPlan, two_layers_of_one_name) {
  EXPECT_THAT(plan_error({linear("fc", 4), linear("fc", 3)}),
              HasSubstr("two layers are named fc"));
}

TEST(NetworkPlan, an_unknown_network) {
  EXPECT_THROW(named("lenot", {28, 28, 1}, 10), Error);
}

}  // namespace
}  // namespace crossbow
