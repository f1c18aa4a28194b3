// Methods in which learners go at their own pace: nobody is held up, nothing is lost, and
// with one learner they are what a synchronous method is.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// Learner 1 rests for a while after each of its batches.
class SlowLearner : public Recorder {
 public:
  void round_done(int j, std::int64_t t, double loss) override {
    Recorder::round_done(j, t, loss);
    if (j == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

  /// Batches that learner j took.
  std::int64_t taken_by(int j) const {
    return std::count_if(rounds.begin(), rounds.end(), [j](const Round& round) {
      return round.learner == j;
    });
  }
};

// 100 batches: while learner 1 takes one, the others take as many as they can.
TEST(Asynchronous, a_slow_learner_takes_fewer_batches_and_holds_nobody_up) {
  const MadeUpData data(400);
  for (auto& [name, options] : asynchronous_methods(3)) {
    options.training.test_every = 0;
    SlowLearner recorder;
    const TrainingEnd end = run(options, data, recorder);
    EXPECT_EQ(end.rounds, 34) << name;  // 800 samples, 24 a round
    EXPECT_EQ(recorder.rounds.size(), 102U) << name;
    EXPECT_LT(recorder.taken_by(1), 20) << name;
    EXPECT_GT(recorder.taken_by(0) + recorder.taken_by(2), 80) << name;
  }
}

// The control: a synchronous method waits for its slowest learner.
TEST(Asynchronous, a_synchronous_method_gives_all_learners_as_many) {
  const MadeUpData data(40);
  for (auto& [name, options] : all_methods(3)) {
    options.training.test_every = 0;
    SlowLearner recorder;
    run(options, data, recorder);
    EXPECT_EQ(recorder.taken_by(1), recorder.taken_by(0)) << name;
  }
}

TEST(Asynchronous, every_batch_of_the_stream_is_taken_once) {
  const MadeUpData data(200);
  for (auto& [name, options] : asynchronous_methods(4)) {
    options.optimizer.learning_rate = 0;  // then a batch's loss says which one it is
    options.training.epochs = 1.6;
    Recorder undisturbed;
    TrainerOptions one = options;
    one.learners = 1;
    run(one, data, undisturbed);
    Recorder recorder;
    recorder.delay_seed = 7;
    run(options, data, recorder);
    const auto losses = [](const Recorder& r) {
      std::vector<double> all;
      for (const auto& round : r.rounds) {
        all.push_back(round.loss);
      }
      std::sort(all.begin(), all.end());
      return all;
    };
    EXPECT_EQ(losses(recorder), losses(undisturbed)) << name;
    std::map<std::int64_t, int> batches_of_round;
    for (const auto& round : recorder.rounds) {
      ++batches_of_round[round.t];
    }
    for (const auto& [t, batches] : batches_of_round) {
      EXPECT_EQ(batches, 4) << name << ", round " << t;
    }
  }
}

/// Each row's loss is the mean over the batches of its rounds and of no others.
void expect_rows_of_their_rounds(const Recorder& recorder, const std::string& name) {
  std::int64_t before = 0;
  for (const TestResult& test : recorder.tests) {
    EXPECT_NEAR(test.train_loss, recorder.mean_loss(before + 1, test.rounds), 1e-12)
        << name << ", round " << test.rounds;
    before = test.rounds;
  }
}

// Rests that are asked for at any time fall between those of the schedule: nobody is left
// waiting, and each finds all batches of its rounds done and no others.
TEST(Asynchronous, all_rest_after_the_same_rounds_whenever_that_is_asked_for) {
  const MadeUpData data(200);
  for (auto& [name, options] : asynchronous_methods(3)) {
    options.training.test_every = 0.1;
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      Recorder recorder;
      recorder.delay_seed = seed;
      recorder.save_after = 0;
      recorder.save_distance = 0;
      const TrainingEnd end = run(options, data, recorder);
      EXPECT_EQ(end.rounds, 17) << name;  // 400 samples, 24 a round
      EXPECT_EQ(recorder.rounds.size(), 51U) << name;
      EXPECT_GE(recorder.checkpoints.size(), 5U) << name;
      for (const TrainingState& state : recorder.checkpoints) {
        EXPECT_EQ(state.samples, state.round * 24) << name;
      }
      expect_rows_of_their_rounds(recorder, name);
    }
  }
}

// A stop may come while one learner rests for a test that another has yet to come to.
TEST(Asynchronous, a_stop_at_any_time_leaves_nobody_waiting) {
  const MadeUpData data(200);
  for (auto& [name, options] : asynchronous_methods(3)) {
    options.training.test_every = 0.06;  // a test after nearly every round
    for (std::int64_t round = 0; round < 16; ++round) {
      Recorder recorder;
      recorder.delay_seed = static_cast<std::uint64_t>(round + 1);
      recorder.stop_after = round;
      const TrainingEnd end = run(options, data, recorder);
      EXPECT_EQ(recorder.rounds.size(), static_cast<std::size_t>(3 * end.rounds)) << name;
      EXPECT_EQ(recorder.checkpoints.back().round, end.rounds) << name;
    }
  }
}

TEST(Asynchronous, all_rest_for_tests_after_the_same_rounds) {
  const MadeUpData data(200);
  for (auto& [name, options] : asynchronous_methods(3)) {
    options.training.test_every = 0.25;
    for (const std::uint64_t seed : {1, 2, 3}) {
      Recorder recorder;
      recorder.delay_seed = seed;
      run(options, data, recorder);
      ASSERT_EQ(recorder.tests.size(), 8U) << name;  // the last is the end
      expect_rows_of_their_rounds(recorder, name);
    }
  }
}

TEST(Asynchronous, learns) {
  const MadeUpData data(400, 100);
  for (auto& [name, options] : asynchronous_methods(2)) {
    options.optimizer.learning_rate = 0.01;  // calm
    options.training.epochs = 8;
    Recorder recorder;
    recorder.delay_seed = 3;
    run(options, data, recorder);
    EXPECT_GT(recorder.tests.back().test_accuracy, 0.9) << name;
  }
}

TEST(Asynchronous, easgd_with_one_learner_is_bitwise_the_synchronous_one) {
  const MadeUpData data(100);
  for (const std::int64_t period : {1, 3}) {
    const TrainerOptions own_pace = run_of(AveragingMethodName::easgd_async, 1, period);
    const TrainerOptions in_step = run_of(AveragingMethodName::easgd, 1, period);
    const NamedTensors a = final_state(own_pace, data).tensors;
    const NamedTensors b = final_state(in_step, data).tensors;
    for (const auto& [name, tensor] : a) {
      expect_same_bits(tensor.values, b.at(name).values, name);
    }
  }
}

TEST(Asynchronous, downpour_and_hogwild_with_one_learner_are_plain_sgd) {
  const MadeUpData data(100);
  const NamedTensors plain = final_state(ssgd_run(1), data).tensors;
  for (const auto method :
       {AveragingMethodName::downpour, AveragingMethodName::hogwild}) {
    const NamedTensors own = final_state(run_of(method, 1), data).tensors;
    EXPECT_LT(distance(own, plain, "average/"), 1e-5);
  }
}

// Wherever it is stopped, all learners have done the same rounds, and what is saved goes
// on to the end.
TEST(Asynchronous, stops_and_goes_on_after_any_round) {
  const MadeUpData data(100);
  for (auto& [name, options] : asynchronous_methods(3)) {
    for (std::int64_t stop = 1; stop <= 8; ++stop) {
      SCOPED_TRACE(name + ", stop after round " + std::to_string(stop));
      Recorder first;
      first.stop_after = stop;
      first.delay_seed = static_cast<std::uint64_t>(stop);
      const TrainingEnd end = run(options, data, first);
      ASSERT_FALSE(first.checkpoints.empty());
      const TrainingState saved = first.checkpoints.back();
      EXPECT_EQ(saved.round, end.rounds);
      EXPECT_EQ(first.rounds.size(), static_cast<std::size_t>(3 * end.rounds));
      Recorder second;
      EXPECT_TRUE(run(options, data, second, &saved).finished);
      EXPECT_EQ(first.rounds.size() + second.rounds.size(), 24U);  // 192 samples
    }
  }
}

TEST(Asynchronous, a_bad_number_stops_all_learners_and_is_not_saved) {
  const MadeUpData data(100);
  for (auto& [name, options] : asynchronous_methods(3)) {
    options.optimizer.learning_rate = 1e20;
    options.training.test_every = 0.25;
    for (const std::uint64_t seed : {0, 1, 2, 3}) {
      SCOPED_TRACE(name);
      Recorder recorder;
      recorder.delay_seed = seed;
      try {
        run(options, data, recorder);
        ADD_FAILURE() << "the run ended as if nothing had happened";
      } catch (const Error& error) {
        EXPECT_EQ(error.exit_code(), ExitCode::numbers);
        EXPECT_THAT(error.what(), ::testing::HasSubstr("is not finite"));
      }
      EXPECT_TRUE(recorder.checkpoints.empty());
    }
  }
}

}  // namespace
}  // namespace crossbow
