#include "training/step_profile.hpp"

#include <gtest/gtest.h>

#include "training/memory_rate.hpp"
#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// Two layers that cost next to nothing around one of three million products a sample.
TrainerOptions run_with_one_slow_layer() {
  TrainerOptions options = sma_run(1);
  options.model = model_of({convolution("quick", 4, 1),
                            convolution("slow", 100, 11),
                            convolution("quick_too", 1, 1),
                            linear("last", 4)});
  options.optimizer.learning_rate = 0;
  options.training.epochs = 1000;
  return options;
}

TEST(StepProfile, times_are_those_of_their_layers) {
  const MadeUpData data(40);
  const StepProfile profile =
      profile_step<Kokkos::Serial>(run_with_one_slow_layer(), data.train(), 0);
  ASSERT_EQ(profile.layers.size(), 4U);
  // Some hundred times as much, so no other load of the machine can turn it round.
  for (const std::size_t other : {0, 2, 3}) {
    EXPECT_GT(profile.layers[1].forward, 2 * profile.layers[other].forward) << other;
    EXPECT_GT(profile.layers[1].backward, 2 * profile.layers[other].backward) << other;
  }
  EXPECT_GT(profile.layers[1].forward, profile.loss);
  EXPECT_GT(profile.layers[1].forward, profile.fill);
  EXPECT_GE(profile.rounds, 5);
  EXPECT_GT(profile.round, profile.layers[1].forward);
}

TEST(StepProfile, measures_learner_0_of_every_method) {
  const MadeUpData data(40);
  for (const int k : {1, 4}) {
    for (const auto& [name, options] : all_methods(k)) {
      const StepProfile profile = profile_step<Kokkos::Serial>(options, data.train(), 0);
      EXPECT_GT(profile.update, 0) << name;
      EXPECT_GT(profile.round, 0) << name;
    }
    for (const auto& [name, options] : asynchronous_methods(k)) {
      EXPECT_GT(profile_step<Kokkos::Serial>(options, data.train(), 0).update, 0) << name;
    }
  }
}

TEST(StepProfile, a_bad_number_ends_it) {
  const MadeUpData data(40);
  TrainerOptions options = sma_run(1);
  options.optimizer.learning_rate = 1e30;
  try {
    profile_step<Kokkos::Serial>(options, data.train(), 0);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::numbers) << error.what();
  }
}

// Of any machine that this can run on, in these units.
TEST(MemoryRate, is_that_of_a_machine) {
  for (const int learners : {1, 3}) {
    const double rate = memory_rate<Kokkos::Serial>(sma_run(learners));
    EXPECT_GT(rate, 0.05) << learners;
    EXPECT_LT(rate, 20'000) << learners;
  }
}

}  // namespace
}  // namespace crossbow
