// What the oracle's checker must not miss: NaN, missing rounds and tensors, other batches
// and other rates.

#include <cmath>
#include <functional>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

#include "config/run_config.hpp"
#include "regression/oracle_case.hpp"
#include "regression/oracle_distance.hpp"
#include "regression/oracle_run.hpp"

namespace crossbow {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t samples = 1000;  // of the training set that decks are made for
const double nan = std::numeric_limits<double>::quiet_NaN();

/// Two learners, three rounds of four samples each, one tensor.
OracleCase small_case() {
  OracleCase oracle;
  oracle.path = "small.h5";
  oracle.layers = "[[model.layer]]\ntype = \"linear\"\nunits = 10\n";
  oracle.method = "sma";
  oracle.iterations = 3;
  oracle.learners = 2;
  oracle.batch = 4;
  oracle.alpha = 0.3;
  oracle.averaging_momentum = 0.6;
  oracle.rate = 0.1;
  oracle.drop = 0.5;
  oracle.momentum = 0.9;
  for (std::int32_t i = 0; i < 24; ++i) {
    oracle.order.push_back(i);
  }
  oracle.losses = {2, 3, 2, 3, 2, 0};
  oracle.rates = {0.1, 0.1, 0.1};
  oracle.initial = {{"fc.weight", {{2, 2}, {0, 0, 0, 0}}}};
  oracle.average = {{"fc.weight", {{2, 2}, {3, 0, 0, 4}}}};
  oracle.replicas = {oracle.average, oracle.average};
  return oracle;
}

OracleOutcome same_outcome(const OracleCase& oracle) {
  const NamedTensor tensor = {{2, 2}, {3, 0, 0, 4}};
  return {oracle.losses,
          {{"average/fc.weight", tensor},
           {"replica0/fc.weight", tensor},
           {"replica1/fc.weight", tensor},
           {"velocity0/fc.weight", tensor}}};
}

TrainerOptions options_of(const OracleCase& oracle) {
  const RunConfig config =
      parse_run_config(oracle_deck(oracle, samples), "small.toml", {});
  TrainerOptions options;
  options.training = config.training;
  options.optimizer = config.optimizer;
  options.averaging = config.averaging;
  options.learners = config.learners.per_device;
  return options;
}

void expect_error(const std::function<void()>& action, const std::string& part) {
  try {
    action();
    ADD_FAILURE() << "no error; expected one with '" << part << "'";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(OracleDistance, is_zero_of_the_same) {
  const OracleCase oracle = small_case();
  const OracleDistances d = distances(oracle, same_outcome(oracle));
  EXPECT_EQ(d.loss.value, 0);
  EXPECT_EQ(d.average.value, 0);
  EXPECT_EQ(d.replicas.value, 0);
  EXPECT_TRUE(is_near(d));
  EXPECT_EQ(far_places(d), "");
}

TEST(OracleDistance, is_relative_and_names_the_place) {
  const OracleCase oracle = small_case();
  OracleOutcome outcome = same_outcome(oracle);
  outcome.losses[3] += 0.3;
  outcome.losses[5] = 1e-6;  // the loss of the oracle is 0: relative to 1e-3
  outcome.tensors["replica1/fc.weight"].values[1] = 0.5F;
  const OracleDistances d = distances(oracle, outcome);
  EXPECT_NEAR(d.loss.value, 0.1, 1e-12);
  EXPECT_EQ(d.average.value, 0);
  EXPECT_NEAR(d.replicas.value, 0.1, 1e-7);
  EXPECT_FALSE(is_near(d));
  EXPECT_EQ(far_places(d), "loss of round 2, learner 1; replica1/fc.weight");
}

TEST(OracleDistance, of_a_nan_is_far_wherever_it_stands) {
  OracleDistance d;
  for (const double value : {1.0, nan, 2.0}) {
    d.include(value, std::to_string(value));
  }
  EXPECT_TRUE(std::isnan(d.value));
  EXPECT_EQ(d.place, std::to_string(nan));
  EXPECT_FALSE(is_near(d));

  OracleCase oracle = small_case();
  const OracleOutcome outcome = same_outcome(oracle);
  oracle.losses[2] = nan;
  oracle.average["fc.weight"].values[0] = nan;
  const OracleDistances all = distances(oracle, outcome);
  EXPECT_FALSE(is_near(all.loss));
  EXPECT_FALSE(is_near(all.average));
  EXPECT_TRUE(is_near(all.replicas));
}

TEST(OracleDistance, takes_one_set_of_weights_for_every_replica) {
  OracleCase oracle = small_case();
  OracleOutcome outcome = same_outcome(oracle);
  outcome.tensors.erase("replica1/fc.weight");
  EXPECT_TRUE(is_near(distances(oracle, outcome)));
  oracle.replicas[1]["fc.weight"].values[3] = 4.1;
  EXPECT_FALSE(is_near(distances(oracle, outcome).replicas));
}

TEST(OracleDistance, needs_the_same_tensors) {
  const OracleCase oracle = small_case();
  OracleOutcome outcome = same_outcome(oracle);
  outcome.tensors["average/fc.bias"] = {{1}, {0}};
  expect_error([&] { distances(oracle, outcome); }, "that the oracle lacks");
  outcome = same_outcome(oracle);
  outcome.tensors.erase("average/fc.weight");
  expect_error([&] { distances(oracle, outcome); }, "fc.weight is not in the network");
  outcome = same_outcome(oracle);
  outcome.tensors["average/fc.weight"].shape = {4};
  expect_error([&] { distances(oracle, outcome); }, "fc.weight is not in the network");
}

TEST(OracleDeck, has_the_parameters_of_the_case) {
  const OracleCase oracle = small_case();
  const TrainerOptions options = options_of(oracle);
  EXPECT_EQ(options.learners, 2);
  EXPECT_EQ(options.training.batch, 4);
  EXPECT_EQ(options.averaging.method, AveragingMethodName::sma);
  EXPECT_EQ(options.averaging.alpha_rule, AlphaRule::number);
  EXPECT_EQ(options.averaging.alpha, 0.3);
  EXPECT_EQ(options.averaging.momentum, 0.6);
  EXPECT_EQ(options.optimizer.momentum, 0.9);
}

TEST(OracleDeck, makes_the_rounds_and_rates_of_the_oracle) {
  OracleCase oracle = small_case();
  for (const std::int64_t drop_at : {0, 1, 2, 3, 4}) {
    for (const std::int64_t set_size : {samples, std::int64_t{13}, std::int64_t{60000}}) {
      oracle.drop_at = drop_at;
      for (std::int64_t t = 1; t <= 3; ++t) {
        oracle.rates[static_cast<std::size_t>(t - 1)] =
            drop_at > 0 && t >= drop_at ? 0.05 : 0.1;
      }
      const RunConfig config =
          parse_run_config(oracle_deck(oracle, set_size), "small.toml", {});
      TrainerOptions options = options_of(oracle);
      options.training = config.training;
      options.optimizer = config.optimizer;
      EXPECT_NO_THROW(check_rates(oracle, options, set_size)) << drop_at;
    }
  }
}

TEST(OracleRun, refuses_other_rates) {
  OracleCase oracle = small_case();
  const TrainerOptions options = options_of(oracle);
  check_rates(oracle, options, samples);
  for (const double rate : {0.1000002, 0.0, nan}) {
    oracle.rates[1] = rate;
    expect_error([&] { check_rates(oracle, options, samples); }, "round 2");
  }
  oracle.iterations = 2;
  expect_error([&] { check_rates(oracle, options, samples); }, "makes 3 rounds");
}

TEST(OracleRun, refuses_batches_in_another_order) {
  OracleCase oracle = small_case();
  check_order(oracle, samples);
  std::swap(oracle.order[9], oracle.order[10]);
  expect_error([&] { check_order(oracle, samples); }, "batch 2 of learner 0");
}

}  // namespace
}  // namespace crossbow
