#include "driver/memory_need.hpp"

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "model/model_options.hpp"

namespace crossbow {
namespace {

NetworkPlan mlp(std::vector<int> hidden) {
  ModelOptions model;
  model.name = "mlp";
  model.hidden = std::move(hidden);
  return plan_network(model, {10, 10, 1}, 5);
}

// 100 inputs, 20 hidden units, 5 classes: 2125 parameters, 25 outputs (the ReLU is
// fused).
TEST(MemoryNeed, counts_each_learner_and_what_all_share) {
  const auto need_of = [](AveragingMethodName method, int learners, int test_samples) {
    return memory_need(mlp({20}), {method, 8, learners, test_samples});
  };
  using Name = AveragingMethodName;
  const MemoryNeed one = need_of(Name::sma, 1, 1000);
  EXPECT_DOUBLE_EQ(one.replicas, 4 * 2125 * 6);  // w, g, v, c; z, z_prev
  EXPECT_DOUBLE_EQ(one.activations, 4 * 25 * (2 * 8 + 125));
  EXPECT_DOUBLE_EQ(one.checkpoint, 4 * 2125 * 3);
  const MemoryNeed three = need_of(Name::sma, 3, 10);
  EXPECT_DOUBLE_EQ(three.replicas, 4 * 2125 * (12 + 2));
  EXPECT_DOUBLE_EQ(three.activations, 3 * 4 * 25 * (2 * 8 + 10));
  const MemoryNeed ssgd = need_of(Name::ssgd, 8, 10);
  EXPECT_DOUBLE_EQ(ssgd.replicas, 4 * 2125 * 25);
  EXPECT_DOUBLE_EQ(ssgd.checkpoint, 4 * 2125 * 3);  // one replica is all replicas
}

std::string refusal(const MemoryNeed& need, std::optional<double> limit) {
  try {
    check_memory(need, limit);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "none";
}

TEST(MemoryNeed, beyond_the_deck_s_limit_is_told_with_figures) {
  const MemoryNeed need = {3e6, 2e6, 1e6};
  EXPECT_EQ(refusal(need, 6e6), "none");
  EXPECT_EQ(refusal(need, std::nullopt), "none");
  const std::string text = refusal(need, 5.9e6);
  EXPECT_EQ(
      text,
      "the training needs about 6.0 MB of memory (3.0 MB for replicas, 2.0 MB for "
      "activations, 1.0 MB for the copy that checkpoints are written from; "
      "run.memory_limit has 5.9 MB). Lower training.batch or the number of learners, "
      "or use a smaller network");
}

// 2^48 weights are a petabyte, which no integer of 32 bits and no machine holds.
TEST(MemoryNeed, of_absurd_networks_is_told_too) {
  const MemoryNeed need = memory_need(mlp({1 << 24, 1 << 24, 1 << 24}),
                                      {AveragingMethodName::sma, 65536, 1024, 100});
  EXPECT_GT(need.total(), 1e18);
  EXPECT_NE(refusal(need, std::nullopt).find("of memory"), std::string::npos);
}

}  // namespace
}  // namespace crossbow
