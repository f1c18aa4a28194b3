#include "training/learning_rate.hpp"

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace crossbow {
namespace {

OptimizerOptions multistep(std::vector<double> steps, double gamma) {
  OptimizerOptions options;
  options.learning_rate = 0.1;
  options.schedule = {SchedulePolicy::multistep, std::move(steps), gamma};
  return options;
}

nlohmann::json oracle_row(const std::string& policy) {
  std::ifstream file(std::string(CROSSBOW_SOURCE_DIR) +
                     "/regression/oracle/schedules.json");
  for (const nlohmann::json& row : nlohmann::json::parse(file)) {
    if (row.at("policy") == policy) {
      return row;
    }
  }
  throw std::runtime_error("no such policy: " + policy);
}

// The rates of PyTorch's schedulers, epoch by epoch; `last` is the last sample count
// before the next epoch that a round of 128 samples can start at.
void expect_rates(const OptimizerOptions& options, const nlohmann::json& row) {
  const std::int64_t samples_per_epoch = 59904;
  const std::int64_t last = samples_per_epoch - 128;
  ASSERT_EQ(row.at("rates").size(), 12U);
  for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
    const double expected = row.at("rates").at(epoch);
    const std::int64_t start = epoch * samples_per_epoch;
    EXPECT_DOUBLE_EQ(learning_rate(options, start, samples_per_epoch), expected);
    EXPECT_DOUBLE_EQ(learning_rate(options, start + last, samples_per_epoch), expected);
  }
}

TEST(LearningRate, fixed_follows_the_oracle) {
  OptimizerOptions options;
  const nlohmann::json row = oracle_row("fixed");
  options.learning_rate = row.at("base");
  expect_rates(options, row);
}

TEST(LearningRate, multistep_follows_the_oracle) {
  const nlohmann::json row = oracle_row("multistep");
  const nlohmann::json& parameters = row.at("parameters");
  OptimizerOptions options = multistep(parameters.at("steps").get<std::vector<double>>(),
                                       parameters.at("gamma"));
  options.learning_rate = row.at("base");
  expect_rates(options, row);
}

TEST(LearningRate, lengths_are_rounded_to_the_nearest_sample) {
  EXPECT_EQ(to_samples(1, 60000), 60000);
  EXPECT_EQ(to_samples(0, 60000), 0);
  EXPECT_EQ(to_samples(0.25, 1437), 359);         // 359.25
  EXPECT_EQ(to_samples(1.0 / 3, 1000), 333);      // 333.33
  EXPECT_EQ(to_samples(2.0 / 3, 1000), 667);      // 666.67
  EXPECT_EQ(to_samples(0.29, 100), 29);           // 28.999999999999996 in double
  EXPECT_EQ(to_samples(90, 1281024), 115292160);  // ImageNet
}

TEST(LearningRate, steps_at_the_first_round_that_reaches_a_boundary) {
  const OptimizerOptions options = multistep({0.5, 1.5}, 0.5);  // samples 50 and 150
  EXPECT_EQ(learning_rate(options, 49, 100), 0.1);
  EXPECT_EQ(learning_rate(options, 50, 100), 0.05);
  EXPECT_EQ(learning_rate(options, 149, 100), 0.05);
  EXPECT_EQ(learning_rate(options, 150, 100), 0.025);
}

TEST(LearningRate, boundaries_are_sorted_sample_counts) {
  const OptimizerOptions options = multistep({1.5, 0.333}, 0.5);
  EXPECT_EQ(rate_boundaries(options.schedule, 100), (std::vector<std::int64_t>{33, 150}));
  EXPECT_TRUE(rate_boundaries(OptimizerOptions{}.schedule, 100).empty());
}

// Rounds of 16 samples: 48 is before the boundary of 50, 64 behind it.
TEST(LearningRate, tells_between_which_rounds_the_rate_changes) {
  const OptimizerOptions options = multistep({0.5, 0.6, 1.5}, 0.1);
  EXPECT_FALSE(rate_changed_between(options, 32, 48, 100));
  EXPECT_TRUE(rate_changed_between(options, 48, 64, 100));  // two boundaries in one round
  EXPECT_FALSE(rate_changed_between(options, 64, 80, 100));
  EXPECT_TRUE(rate_changed_between(options, 144, 160, 100));
  EXPECT_DOUBLE_EQ(learning_rate(options, 64, 100), 0.001);
}

TEST(LearningRate, does_not_change_without_steps) {
  EXPECT_FALSE(rate_changed_between(OptimizerOptions{}, 0, 1000000, 100));
  EXPECT_FALSE(rate_changed_between(multistep({1}, 1.0), 0, 1000, 100));  // gamma 1
}

TEST(LearningRate, a_boundary_at_zero_is_passed_from_the_start) {
  const OptimizerOptions options = multistep({0}, 0.5);
  EXPECT_EQ(learning_rate(options, 0, 100), 0.05);
  EXPECT_FALSE(rate_changed_between(options, 0, 16, 100));
}

}  // namespace
}  // namespace crossbow
