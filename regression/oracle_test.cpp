// What the oracle's checker must not miss: NaN, missing rounds and tensors, other batches
// and other rates.

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "io/h5_handle.hpp"
#include "io/test_support.hpp"

#include "config/run_config.hpp"
#include "regression/oracle_case.hpp"
#include "regression/oracle_distance.hpp"
#include "regression/oracle_run.hpp"

namespace crossbow {
namespace {

using testing_support::expect_error;
using testing_support::TestFolder;

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

template <class T>
void write_tensors(H5File& file, const std::string& group, const OracleTensors& tensors) {
  for (const auto& [name, tensor] : tensors) {
    const std::vector<T> values(tensor.values.begin(), tensor.values.end());
    std::string path = group;
    path.append("/").append(name);
    file.write(path, tensor.shape, values.data());
  }
}

/// Write `o` as the oracle does, without the attribute or data set `left_out`.
void write_case(const std::string& path,
                const OracleCase& o,
                const std::string& left_out = "") {
  AtomicFile target(path, 4096);
  H5File file = H5File::create(target);
  file.write_text("deck", o.layers);
  file.write_text("method", o.method);
  const std::vector<std::pair<std::string, std::int64_t>> integers = {
      {"seed", o.seed},
      {"iterations", o.iterations},
      {"k", o.learners},
      {"devices", o.devices},
      {"batch", o.batch},
      {"period", o.period},
      {"drop_at", o.drop_at},
      {"restart", o.restart ? 1 : 0}};
  const std::vector<std::pair<std::string, double>> numbers = {
      {"rate", o.rate},
      {"drop", o.drop},
      {"momentum", o.momentum},
      {"weight_decay", o.weight_decay},
      {"alpha", o.alpha},
      {"averaging_momentum", o.averaging_momentum}};
  for (const auto& [name, value] : integers) {
    if (name != left_out) {
      file.write_integer(name, value);
    }
  }
  for (const auto& [name, value] : numbers) {
    if (name != left_out) {
      file.write_number(name, value);
    }
  }
  const auto t = static_cast<std::int64_t>(o.rates.size());
  const auto k = static_cast<std::int64_t>(o.replicas.size());
  file.write("order", {t, k, o.batch}, o.order.data());
  if (left_out != "loss") {
    file.write("loss", {t, k}, o.losses.data());
  }
  file.write("rate", {t}, o.rates.data());
  write_tensors<float>(file, "initial", o.initial);
  write_tensors<double>(file, "average", o.average);
  for (std::size_t j = 0; j < o.replicas.size(); ++j) {
    if (left_out != "replica" + std::to_string(j)) {
      write_tensors<double>(file, "replica" + std::to_string(j), o.replicas[j]);
    }
  }
  file.close();
  target.commit();
}

TEST(OracleCase, ComesBackFromItsFile) {
  const TestFolder folder;
  const OracleCase written = small_case();
  write_case(folder / "small.h5", written);
  const OracleCase read = read_oracle_case(folder / "small.h5", {});
  EXPECT_EQ(read.name, "small");
  EXPECT_EQ(oracle_deck(read, samples), oracle_deck(written, samples));
  EXPECT_EQ(read.order, written.order);
  EXPECT_EQ(read.losses, written.losses);
  EXPECT_EQ(read.rates, written.rates);
  EXPECT_TRUE(is_near(distances(read, same_outcome(written))));
}

TEST(OracleCase, TakesChangesInPlaceOfAttributes) {
  const TestFolder folder;
  write_case(folder / "small.h5", small_case());
  const auto change = [&](const std::string& text) {
    return read_oracle_case(folder / "small.h5", {text});
  };
  EXPECT_EQ(change("alpha=0.25").alpha, 0.25);
  EXPECT_EQ(change("period=7").period, 7);
  EXPECT_FALSE(change("restart=false").restart);
  EXPECT_EQ(change("method=easgd").method, "easgd");
  for (const char* wrong :
       {"alpha=x", "alpha=", "period=1.5", "colour=1", "alpha", "="}) {
    expect_error([&] { change(wrong); }, {}, ExitCode::usage);
  }
}

TEST(OracleCase, RefusesAFileOfAnotherKind) {
  const TestFolder folder;
  const std::string path = folder / "small.h5";
  for (const char* part : {"k", "alpha", "restart", "loss", "replica1"}) {
    write_case(path, small_case(), part);
    expect_error([&] { read_oracle_case(path, {}); },
                 {"not a file of the oracle", part, path});
  }
  OracleCase other = small_case();
  other.batch = 2;
  other.order.resize(12);
  write_case(path, other);
  expect_error([&] { read_oracle_case(path, {"batch=4"}); },
               {"order is 3x2x2 but should be 3x2x4"});
  other = small_case();
  other.replicas[1]["fc.bias"] = {{1}, {0}};
  write_case(path, other);
  expect_error([&] { read_oracle_case(path, {}); }, {"/replica1", "as in /initial"});
}

TEST(OracleDistance, IsZeroOfTheSame) {
  const OracleCase oracle = small_case();
  const OracleDistances d = distances(oracle, same_outcome(oracle));
  EXPECT_EQ(d.loss.value, 0);
  EXPECT_EQ(d.average.value, 0);
  EXPECT_EQ(d.replicas.value, 0);
  EXPECT_TRUE(is_near(d));
  EXPECT_EQ(far_places(d), "");
}

TEST(OracleDistance, IsRelativeAndNamesThePlace) {
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

TEST(OracleDistance, OfANanIsFarWhereverItStands) {
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

TEST(OracleDistance, TakesOneSetOfWeightsForEveryReplica) {
  OracleCase oracle = small_case();
  OracleOutcome outcome = same_outcome(oracle);
  outcome.tensors.erase("replica1/fc.weight");
  EXPECT_TRUE(is_near(distances(oracle, outcome)));
  oracle.replicas[1]["fc.weight"].values[3] = 4.1;
  EXPECT_FALSE(is_near(distances(oracle, outcome).replicas));
}

TEST(OracleDistance, NeedsTheSameTensors) {
  const OracleCase oracle = small_case();
  OracleOutcome outcome = same_outcome(oracle);
  outcome.tensors["average/fc.bias"] = {{1}, {0}};
  expect_error([&] { distances(oracle, outcome); }, {"that the oracle lacks"});
  outcome = same_outcome(oracle);
  outcome.tensors.erase("average/fc.weight");
  expect_error([&] { distances(oracle, outcome); }, {"fc.weight is not in the network"});
  outcome = same_outcome(oracle);
  outcome.tensors["average/fc.weight"].shape = {4};
  expect_error([&] { distances(oracle, outcome); }, {"fc.weight is not in the network"});
}

TEST(OracleDeck, HasTheParametersOfTheCase) {
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

TEST(OracleDeck, MakesTheRoundsAndRatesOfTheOracle) {
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

TEST(OracleRun, RefusesOtherRates) {
  OracleCase oracle = small_case();
  const TrainerOptions options = options_of(oracle);
  check_rates(oracle, options, samples);
  for (const double rate : {0.1000002, 0.0, nan}) {
    oracle.rates[1] = rate;
    expect_error([&] { check_rates(oracle, options, samples); }, {"round 2"});
  }
  oracle.iterations = 2;
  expect_error([&] { check_rates(oracle, options, samples); }, {"makes 3 rounds"});
}

TEST(OracleRun, RefusesBatchesInAnotherOrder) {
  OracleCase oracle = small_case();
  check_order(oracle, samples);
  std::swap(oracle.order[9], oracle.order[10]);
  expect_error([&] { check_order(oracle, samples); }, {"batch 2 of learner 0"});
}

}  // namespace
}  // namespace crossbow
