#include "training/learning_rate.hpp"

#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace crossbow {
namespace {

LearningRate rate_of(const ScheduleOptions& schedule, double epochs = 12) {
  OptimizerOptions options;
  options.learning_rate = 0.1;
  options.schedule = schedule;
  return LearningRate(options, epochs, 100);
}

ScheduleOptions multistep(std::vector<double> steps, double gamma) {
  ScheduleOptions schedule;
  schedule.policy = SchedulePolicy::multistep;
  schedule.steps = std::move(steps);
  schedule.gamma = gamma;
  return schedule;
}

ScheduleOptions of_policy(SchedulePolicy policy) {
  ScheduleOptions schedule;
  schedule.policy = policy;
  return schedule;
}

/// A row of regression/oracle/schedules.json: rates of PyTorch's schedulers, epoch by
/// epoch.
ScheduleOptions schedule_of(const nlohmann::json& row) {
  static const std::map<std::string, SchedulePolicy> policies = {
      {"fixed", SchedulePolicy::fixed},
      {"multistep", SchedulePolicy::multistep},
      {"step", SchedulePolicy::step},
      {"exponential", SchedulePolicy::exponential},
      {"inverse", SchedulePolicy::inverse},
      {"polynomial", SchedulePolicy::polynomial},
      {"cosine", SchedulePolicy::cosine}};
  ScheduleOptions schedule = of_policy(policies.at(row.at("policy")));
  const nlohmann::json& given = row.at("parameters");
  schedule.steps = given.value("steps", std::vector<double>());
  schedule.gamma = given.value("gamma", schedule.gamma);
  schedule.size = given.value("size", schedule.size);
  schedule.power = given.value("power", schedule.power);
  schedule.minimum = given.value("minimum", schedule.minimum);
  schedule.warmup_epochs = given.value("warmup_epochs", 0.0);
  schedule.warmup_factor = given.value("warmup_factor", schedule.warmup_factor);
  return schedule;
}

TEST(LearningRate, every_policy_follows_the_oracle) {
  std::ifstream file(std::string(CROSSBOW_SOURCE_DIR) +
                     "/regression/oracle/schedules.json");
  const nlohmann::json rows = nlohmann::json::parse(file);
  ASSERT_EQ(rows.size(), 8U);
  const std::int64_t samples_per_epoch = 59904;
  for (const nlohmann::json& row : rows) {
    SCOPED_TRACE(row.at("policy").get<std::string>());
    OptimizerOptions options;
    options.learning_rate = row.at("base");
    options.schedule = schedule_of(row);
    const LearningRate rate(options, 12, samples_per_epoch);
    ASSERT_EQ(row.at("rates").size(), 12U);
    for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
      const double expected = row.at("rates").at(static_cast<std::size_t>(epoch));
      EXPECT_NEAR(rate.at(epoch * samples_per_epoch) / expected, 1, 1e-12) << epoch;
    }
  }
}

TEST(LearningRate, step_policies_stay_within_an_epoch) {
  for (const LearningRate& rate :
       {rate_of(multistep({3, 7, 8}, 0.1)), rate_of(of_policy(SchedulePolicy::step))}) {
    for (std::int64_t epoch = 0; epoch < 12; ++epoch) {
      EXPECT_EQ(rate.at(epoch * 100 + 99), rate.at(epoch * 100));
    }
  }
}

// Hand calculation at a quarter of an epoch, in which PyTorch's schedulers do not step.
TEST(LearningRate, smooth_policies_are_continuous_in_the_samples) {
  ScheduleOptions schedule = of_policy(SchedulePolicy::exponential);
  schedule.gamma = 0.9;
  EXPECT_NEAR(rate_of(schedule).at(125), 0.0876603, 1e-7);  // 0.1 x 0.9^1.25
  schedule = of_policy(SchedulePolicy::inverse);
  schedule.gamma = 0.8;
  schedule.power = 2;
  EXPECT_NEAR(rate_of(schedule).at(125), 0.025, 1e-12);  // 0.1 / (1 + 1)^2
  schedule = of_policy(SchedulePolicy::polynomial);
  EXPECT_NEAR(rate_of(schedule).at(300), 0.075, 1e-12);
  EXPECT_NEAR(rate_of(schedule, 4).at(350), 0.0125, 1e-12);
  schedule = of_policy(SchedulePolicy::cosine);
  schedule.minimum = 0.02;
  EXPECT_NEAR(rate_of(schedule).at(450), 0.02 + 0.04 * (1 + 0.38268343236), 1e-10);
}

// The last round may start short of the end and finish behind it; a resumed run with
// fewer epochs may even start there.
TEST(LearningRate, stays_at_its_last_value_behind_the_end) {
  ScheduleOptions schedule = of_policy(SchedulePolicy::cosine);
  schedule.minimum = 0.02;
  EXPECT_DOUBLE_EQ(rate_of(schedule).at(1300), 0.02);
  EXPECT_DOUBLE_EQ(rate_of(of_policy(SchedulePolicy::polynomial)).at(1300), 0);
}

// Within rounding: in epochs the warm-up ends before the training, in samples with it.
TEST(LearningRate, a_warm_up_that_lasts_to_the_end_is_not_cut_to_zero) {
  ScheduleOptions schedule = of_policy(SchedulePolicy::cosine);
  schedule.warmup_epochs = 0.999;
  EXPECT_NEAR(rate_of(schedule, 1).at(50), 0.055, 1e-12);
}

TEST(LearningRate, many_steps_take_no_time) {
  ScheduleOptions schedule = of_policy(SchedulePolicy::step);
  schedule.size = 1e-6;
  schedule.gamma = 0.999999;
  // The step at 1000.4999 samples, rounded to 1000, is the last that counts.
  EXPECT_NEAR(rate_of(schedule).at(1000), 0.1 * std::pow(0.999999, 10004999), 1e-10);
}

TEST(LearningRate, warms_up_to_what_the_policy_begins_with) {
  ScheduleOptions schedule = of_policy(SchedulePolicy::step);
  schedule.size = 2;
  schedule.gamma = 0.5;
  schedule.warmup_epochs = 1.5;
  schedule.warmup_factor = 0.2;
  const LearningRate rate = rate_of(schedule);
  EXPECT_DOUBLE_EQ(rate.at(0), 0.02);
  EXPECT_DOUBLE_EQ(rate.at(75), 0.06);
  EXPECT_DOUBLE_EQ(rate.at(150), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(349), 0.1);
  EXPECT_DOUBLE_EQ(rate.at(350), 0.05);  // steps count from the end of the warm-up
  ScheduleOptions steps = multistep({1, 2}, 0.5);  // and here from the start
  steps.warmup_epochs = 1.5;
  steps.warmup_factor = 0.2;
  EXPECT_DOUBLE_EQ(rate_of(steps).at(75), 0.06);
  EXPECT_DOUBLE_EQ(rate_of(steps).at(150), 0.05);
  EXPECT_DOUBLE_EQ(rate_of(steps).at(200), 0.025);
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
  const LearningRate rate = rate_of(multistep({0.5, 1.5}, 0.5));  // samples 50 and 150
  EXPECT_EQ(rate.at(49), 0.1);
  EXPECT_EQ(rate.at(50), 0.05);
  EXPECT_EQ(rate.at(149), 0.05);
  EXPECT_EQ(rate.at(150), 0.025);
}

// A third of an epoch of 100 samples: boundaries at 33, 67, 100, 133, ..., each rounded
// once, not 33 apart.
TEST(LearningRate, steps_of_a_fraction_do_not_drift) {
  ScheduleOptions schedule = of_policy(SchedulePolicy::step);
  schedule.size = 1.0 / 3;
  schedule.gamma = 0.5;
  const LearningRate rate = rate_of(schedule);
  for (const auto& [samples, steps] : std::map<std::int64_t, int>{{32, 0},
                                                                  {33, 1},
                                                                  {66, 1},
                                                                  {67, 2},
                                                                  {99, 2},
                                                                  {100, 3},
                                                                  {132, 3},
                                                                  {133, 4},
                                                                  {999, 29},
                                                                  {1000, 30}}) {
    EXPECT_DOUBLE_EQ(rate.at(samples), 0.1 * std::pow(0.5, steps)) << samples;
  }
}

// Rounds of 16 samples: 48 is before the boundary of 50, 64 behind it.
TEST(LearningRate, tells_between_which_rounds_a_step_policy_steps) {
  const LearningRate rate = rate_of(multistep({0.6, 0.5, 1.5}, 0.1));
  EXPECT_FALSE(rate.steps_between(32, 48));
  EXPECT_TRUE(rate.steps_between(48, 64));  // two boundaries in one round
  EXPECT_FALSE(rate.steps_between(64, 80));
  EXPECT_TRUE(rate.steps_between(144, 160));
  EXPECT_DOUBLE_EQ(rate.at(64), 0.001);
  ScheduleOptions schedule = of_policy(SchedulePolicy::step);
  EXPECT_TRUE(rate_of(schedule).steps_between(99, 100));
  EXPECT_FALSE(rate_of(schedule).steps_between(100, 199));
}

TEST(LearningRate, smooth_policies_and_the_warm_up_do_not_step) {
  for (const SchedulePolicy policy : {SchedulePolicy::fixed,
                                      SchedulePolicy::exponential,
                                      SchedulePolicy::inverse,
                                      SchedulePolicy::polynomial,
                                      SchedulePolicy::cosine}) {
    EXPECT_FALSE(rate_of(of_policy(policy)).steps_between(0, 1000));
  }
  EXPECT_FALSE(rate_of(multistep({1}, 1.0)).steps_between(0, 1000));  // gamma 1
  ScheduleOptions schedule = multistep({3}, 0.1);
  schedule.warmup_epochs = 2;
  EXPECT_NE(rate_of(schedule).at(16), rate_of(schedule).at(0));
  EXPECT_FALSE(rate_of(schedule).steps_between(0, 16));
}

TEST(LearningRate, a_boundary_at_zero_is_passed_from_the_start) {
  const LearningRate rate = rate_of(multistep({0}, 0.5));
  EXPECT_EQ(rate.at(0), 0.05);
  EXPECT_FALSE(rate.steps_between(0, 16));
}

}  // namespace
}  // namespace crossbow
