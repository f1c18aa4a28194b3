// A NaN or Inf stops the run before it reaches z, and names learner, round, rate and
// place (DESIGN section 2, "Numbers").

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// Run; give the message of the Error(numbers) that it must end with.
std::string failure_of(const TrainerOptions& options,
                       const MadeUpData& data,
                       Recorder& recorder,
                       const TrainingState* state = nullptr) {
  try {
    run(options, data, recorder, state);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::numbers) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "the run ended as if nothing had happened";
  return "no error";
}

void expect_all_finite(const TrainingState& state) {
  for (const auto& [name, tensor] : state.tensors) {
    EXPECT_TRUE(std::all_of(tensor.values.begin(),
                            tensor.values.end(),
                            [](float value) { return std::isfinite(value); }))
        << name << " was saved with a bad number after round " << state.round;
  }
}

/// Black images but for one white pixel in sample `bright`, which `scale` makes a number
/// that float has no room for (or nearly). Without shuffling sample (t-1) k + j is
/// learner j's in round t at batch 1.
struct OneBrightSample : MadeUpData {
  OneBrightSample(std::int64_t bright, double white) : MadeUpData(24, 5) {
    std::fill(train_data.images.begin(), train_data.images.end(), std::uint8_t{0});
    std::fill(test_data.images.begin(), test_data.images.end(), std::uint8_t{0});
    train_data.images[static_cast<std::size_t>(bright * 64 + 27)] = 255;
    scale = {static_cast<float>(white / 255), 0};
  }
};

TrainerOptions one_by_one(TrainerOptions options) {
  options.training.batch = 1;
  options.training.epochs = 1;
  options.shuffle = false;
  return options;
}

constexpr double beyond = 255e37;  // more than floats hold, while beyond / 255 is less

// ---- The place is named
// ------------------------------------------------------------------

TEST(Numbers, names_the_learner_and_round_that_met_a_bad_loss) {
  const int k = 3;
  for (auto& [name, options] : all_methods(k)) {
    options = one_by_one(options);
    for (const std::int64_t t : {1, 2, 5}) {
      for (int j = 0; j < k; ++j) {
        SCOPED_TRACE(name);
        const OneBrightSample data((t - 1) * k + j, beyond);
        Recorder recorder;
        const std::string message = failure_of(options, data, recorder);
        EXPECT_THAT(message, HasSubstr("learner " + std::to_string(j) + ","));
        EXPECT_THAT(message, HasSubstr("round " + std::to_string(t) + ","));
        EXPECT_THAT(message, HasSubstr("learning rate 0.05"));
        EXPECT_THAT(message, HasSubstr("layer conv"));
      }
    }
  }
}

TEST(Numbers, names_the_rate_of_the_round) {
  for (TrainerOptions options : {sma_run(2), ssgd_run(2)}) {
    options = one_by_one(options);
    options.optimizer.schedule = {SchedulePolicy::multistep, {8.0 / 24}, 0.1};
    Recorder recorder;  // sample 11 is of learner 1 in round 6, after 10 samples
    EXPECT_THAT(failure_of(options, OneBrightSample(11, beyond), recorder),
                HasSubstr("learner 1, round 6, learning rate 0.005"));
  }
}

/// A network whose loss is finite on a bright sample (the convolution's weights are
/// zero), while the gradient of the convolution, of 64 pixels times 100 times the pixel,
/// is not.
TrainingState silent_convolution(const TrainerOptions& options, const MadeUpData& data) {
  TrainingState state;
  state.tensors = initial_average(options, data);
  for (const std::string prefix : {"average/", "previous/"}) {
    for (const std::string name : {"conv.weight", "conv.bias"}) {
      std::vector<float>& values = state.tensors.at(prefix + name).values;
      std::fill(values.begin(), values.end(), 0.0F);
    }
    for (float& value : state.tensors.at(prefix + "fc.weight").values) {
      value = value > 0 ? 100.0F : -100.0F;
    }
  }
  return state;
}

TEST(Numbers, names_the_tensor_whose_gradient_is_bad) {
  for (auto& [name, options] : all_methods(2)) {
    SCOPED_TRACE(name);
    options = one_by_one(options);
    options.model =
        model_of({convolution("conv", 2, 3), layer(LayerType::tanh), linear("fc", 4)});
    for (const int j : {0, 1}) {
      const OneBrightSample data(j, 3e37);
      const TrainingState state = silent_convolution(options, data);
      Recorder recorder;
      const std::string message = failure_of(options, data, recorder, &state);
      EXPECT_THAT(message, HasSubstr("gradient of conv.weight"));
      EXPECT_THAT(message, HasSubstr("learner " + std::to_string(j) + ", round 1,"));
    }
  }
}

// Weights that meet only zeros change no loss, but the correction has no room for their
// distance from z.
TEST(Numbers, a_bad_correction_alone_stops_the_run) {
  TrainerOptions options = one_by_one(sma_run(3));
  options.model = logistic();
  const OneBrightSample data(23, 1.0);
  for (int j = 0; j < 3; ++j) {
    TrainingState state;
    state.tensors = initial_average(options, data);
    for (int i = 0; i < 3; ++i) {
      const std::string own = std::to_string(i);
      for (const char* tensor : {"/fc.weight", "/fc.bias"}) {
        const NamedTensor& average = state.tensors.at(std::string("average") + tensor);
        state.tensors[std::string("replica").append(own).append(tensor)] = average;
        state.tensors[std::string("velocity").append(own).append(tensor)] = average;
      }
    }
    state.tensors.at("average/fc.weight").values[5] = -3e38F;
    state.tensors.at("previous/fc.weight").values[5] = -3e38F;
    for (int i = 0; i < 3; ++i) {
      state.tensors.at("replica" + std::to_string(i) + "/fc.weight").values[5] =
          i == j ? 3e38F : -3e38F;
    }
    Recorder recorder;
    const std::string message = failure_of(options, data, recorder, &state);
    EXPECT_THAT(message, HasSubstr("round 1"));
    EXPECT_THAT(message, HasSubstr("learner " + std::to_string(j)));
    EXPECT_TRUE(recorder.checkpoints.empty());
  }
}

// ---- The first is named whatever the timing
// ----------------------------------------------

/// A run that diverges by itself, all learners at about the same time.
TrainerOptions diverging(TrainerOptions options) {
  options.optimizer.learning_rate = 3000;
  options.training.epochs = 20;
  return options;
}

TEST(Numbers, says_the_same_in_every_run) {
  const MadeUpData data(100);
  for (auto& [name, options] : all_methods(3)) {
    SCOPED_TRACE(name);
    options = diverging(options);
    Recorder undisturbed;
    const std::string message = failure_of(options, data, undisturbed);
    EXPECT_THAT(message, HasSubstr("learning rate 3000"));
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      Recorder delayed;
      delayed.delay_seed = seed;
      ASSERT_EQ(failure_of(options, data, delayed), message) << seed;
    }
  }
}

// The earliest round counts, then the lowest learner, even if another one, which is ahead
// because nothing makes it wait, has failed before.
TEST(Numbers, the_earliest_round_counts_then_the_lowest_learner) {
  for (auto& [name, options] : all_methods(3)) {
    SCOPED_TRACE(name);
    options = one_by_one(options);
    OneBrightSample data(0, beyond);
    std::fill(data.train_data.images.begin(), data.train_data.images.end(), 0);
    for (const std::size_t bright : {11, 13, 15, 16}) {  // round 4, 2; 5, 1; 6, 0; 6, 1
      data.train_data.images[bright * 64 + 27] = 255;
    }
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Recorder recorder;
      recorder.delay_seed = seed;
      ASSERT_THAT(failure_of(options, data, recorder), HasSubstr("learner 2, round 4,"));
    }
    data.train_data.images[11 * 64 + 27] = 0;
    data.train_data.images[13 * 64 + 27] = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      Recorder recorder;
      recorder.delay_seed = seed;
      ASSERT_THAT(failure_of(options, data, recorder), HasSubstr("learner 0, round 6,"));
    }
  }
}

// ---- Nothing bad is saved
// ----------------------------------------------------------------

TEST(Numbers, no_checkpoint_or_test_of_the_bad_round_or_later) {
  for (auto& [name, options] : all_methods(3)) {
    SCOPED_TRACE(name);
    options = one_by_one(options);
    options.training.test_every = 3.0 / 24;         // each round
    const OneBrightSample data(3 * 4 + 1, beyond);  // round 5
    checkpoint_each_round(options, data);
    Recorder recorder;
    EXPECT_THAT(failure_of(options, data, recorder), HasSubstr("round 5"));
    ASSERT_EQ(recorder.checkpoints.size(), 4U);
    EXPECT_EQ(recorder.checkpoints.back().round, 4);
    expect_all_finite(recorder.checkpoints.back());
    EXPECT_EQ(recorder.tests.size(), 4U);
  }
}

// Rates so large that the weights, not the gradients, are the first to overflow.
TEST(Numbers, whatever_overflows_first_is_not_saved) {
  const MadeUpData data(100);
  for (auto& [name, options] : all_methods(2)) {
    for (const double rate : {3e3, 1e20, 1e30, 1e37, 3e38}) {
      for (const double test_every : {0.0, 1.0 / 6}) {
        SCOPED_TRACE(name + ", rate " + std::to_string(rate));
        options.optimizer.learning_rate = rate;
        options.training.test_every = test_every;
        options.training.epochs = 10;
        checkpoint_each_round(options, data);
        Recorder recorder;
        failure_of(options, data, recorder);
        for (const TrainingState& state : recorder.checkpoints) {
          expect_all_finite(state);
        }
        for (const TestResult& test : recorder.tests) {
          EXPECT_TRUE(std::isfinite(test.test_loss));
          EXPECT_TRUE(std::isfinite(test.train_loss));
        }
      }
    }
  }
}

// Gradients of some thousands, times a rate that is itself near the largest float: the
// weights are Inf after the first step, and nothing else is bad.
TEST(Numbers, weights_that_overflow_in_a_step_are_not_saved) {
  for (auto& [name, options] : all_methods(2)) {
    SCOPED_TRACE(name);
    const OneBrightSample data(1, 1e5);
    options = one_by_one(options);
    options.model = logistic();
    options.optimizer.learning_rate = 1e37;
    checkpoint_each_round(options, data);
    Recorder recorder;
    failure_of(options, data, recorder);
    for (const TrainingState& state : recorder.checkpoints) {
      expect_all_finite(state);
    }
  }
}

// Pixels whose square has no room in a float: batch normalisation takes them to numbers
// near 1, so that loss and gradient are good, but the variance is Inf.
TEST(Numbers, statistics_that_overflow_are_not_saved) {
  for (auto& [name, options] : all_methods(2)) {
    SCOPED_TRACE(name);
    const OneBrightSample data(3, 1e25);  // learner 1, round 2
    options = one_by_one(options);
    options.model = model_of(
        {layer(LayerType::batch_norm, "bn"), layer(LayerType::tanh), linear("fc", 4)});
    checkpoint_each_round(options, data);
    Recorder recorder;
    EXPECT_THAT(failure_of(options, data, recorder), HasSubstr("learner 1, round 2,"));
    for (const TrainingState& state : recorder.checkpoints) {
      expect_all_finite(state);
    }
  }
}

}  // namespace
}  // namespace crossbow
