#include "driver/kernel_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace crossbow {
namespace {

using ::testing::HasSubstr;

LayerOptions layer(LayerType type, const std::string& name) {
  LayerOptions options;
  options.type = type;
  options.name = name;
  return options;
}

LayerOptions linear(const std::string& name, int units) {
  LayerOptions options = layer(LayerType::linear, name);
  options.units = units;
  return options;
}

/// 6 inputs, 5 hidden units, 4 classes; a ReLU in the first layer.
NetworkPlan small_plan() {
  ModelOptions model;
  model.layers = {linear("first", 5), layer(LayerType::relu, "relu"), linear("last", 4)};
  NetworkPlan plan = plan_network(model, {1, 2, 3}, 4);
  plan.name = "small";
  return plan;
}

/// Times that are powers of two, so that every sum is known.
StepProfile made_up_times() {
  StepProfile profile;
  profile.layers = {{1, 2}, {4, 8}};
  profile.fill = 16;
  profile.loss = 32;
  profile.check = 64;
  profile.update = 128;
  profile.round = 250;
  profile.rounds = 9;
  return profile;
}

TEST(KernelTable, every_part_is_in_the_sum) {
  EXPECT_EQ(made_up_times().sum(), 255);
}

TEST(KernelTable, data_have_all_rows) {
  const NetworkPlan plan = small_plan();
  const StepProfile profile = made_up_times();
  const nlohmann::json json = kernel_json({plan, 3, profile});
  EXPECT_EQ(json.at("network"), "small");
  EXPECT_EQ(json.at("batch"), 3);
  EXPECT_EQ(json.at("sum_seconds"), 255);
  EXPECT_EQ(json.at("round_seconds"), 250);
  const nlohmann::json& first = json.at("layers").at(0);
  EXPECT_EQ(first.at("name"), "first");
  EXPECT_EQ(first.at("type"), "linear+relu");
  EXPECT_EQ(first.at("backward_seconds"), 2);
  // Two passes of 2 x 6 x 5 operations for each of 3 samples, in 3 s.
  EXPECT_DOUBLE_EQ(first.at("gflops").get<double>(), 1e-9 * 2 * 60 * 3 / 3);
  // Three passes of 2 x 5 x 4, in 12 s.
  EXPECT_DOUBLE_EQ(json.at("layers").at(1).at("gflops").get<double>(),
                   1e-9 * 3 * 40 * 3 / 12);
  double others = 0;
  for (const nlohmann::json& row : json.at("others")) {
    others += row.at("forward_seconds").get<double>();
  }
  EXPECT_EQ(others, 16 + 32 + 64 + 128);
}

TEST(KernelTable, kinds_are_added_up_and_the_slowest_comes_first) {
  ModelOptions model;
  model.layers = {linear("a", 5), linear("b", 5), layer(LayerType::tanh, "tanh")};
  const NetworkPlan plan = plan_network(model, {1, 1, 5}, 5);
  StepProfile profile;
  profile.layers = {{1, 1}, {1, 1}, {10, 20}};
  const nlohmann::json kinds = kernel_json({plan, 1, profile}).at("kernels");
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].at("type"), "tanh");
  EXPECT_EQ(kinds[0].count("gflops"), 0U);
  EXPECT_EQ(kinds[1].at("forward_seconds"), 2);
  EXPECT_EQ(kinds[1].at("backward_seconds"), 2);
}

TEST(KernelTable, text_shows_what_is_missing) {
  const NetworkPlan plan = small_plan();
  const StepProfile profile = made_up_times();
  const std::string text = kernel_table({plan, 3, profile});
  EXPECT_THAT(text, HasSubstr("small, batch 3, one learner: medians of 9 rounds"));
  EXPECT_THAT(
      text, HasSubstr("sum 255000.0000 ms, whole round 250000.0000 ms, sum/round 1.02"));
}

}  // namespace
}  // namespace crossbow
