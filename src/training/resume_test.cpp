// A run that is stopped between rounds and resumed from its checkpoint ends bitwise as
// the run that was not.

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// Stop after `round` rounds of learner 0, then resume to the end; the rows of both
/// parts, and the last state.
struct Resumed {
  std::vector<TestResult> tests;
  TrainingState state;
  std::int64_t stopped_after = 0;
};

Resumed interrupt(const TrainerOptions& options,
                  const MadeUpData& data,
                  std::int64_t round) {
  Resumed result;
  Recorder first;
  first.stop_after = round;
  const TrainingEnd end = run(options, data, first);
  result.tests = first.tests;
  result.stopped_after = end.rounds;
  if (first.checkpoints.empty() || first.checkpoints.back().round != end.rounds) {
    ADD_FAILURE() << "stopped after round " << end.rounds << " without a checkpoint";
    return result;
  }
  const TrainingState saved = first.checkpoints.back();
  Recorder second;
  run(options, data, second, &saved);
  result.tests.insert(result.tests.end(), second.tests.begin(), second.tests.end());
  result.state = second.checkpoints.empty() ? saved : second.checkpoints.back();
  return result;
}

/// Interrupt after every round there is.
void expect_seamless(const std::string& name,
                     const TrainerOptions& options,
                     const MadeUpData& data) {
  Recorder whole;
  const TrainingEnd end = run(options, data, whole);
  ASSERT_GE(end.rounds, 8) << name;
  for (std::int64_t round = 1; round <= end.rounds; ++round) {
    SCOPED_TRACE(name + ", stop after round " + std::to_string(round));
    const Resumed resumed = interrupt(options, data, round);
    if (resumed.state.round == 0) {
      continue;  // has failed already
    }
    // Learners may be a round ahead of the first one, and more where they need not wait.
    EXPECT_GE(resumed.stopped_after, round);
    EXPECT_LE(resumed.stopped_after, end.rounds);
    expect_same_state(resumed.state, whole.checkpoints.back());
    expect_same_rows(resumed.tests, whole.tests);
  }
}

// 50 samples are 6 batches and two over; tests after 24, 48, 72, 96 samples and the end.
TrainerOptions with_memory(TrainerOptions options) {
  options.model = network_with_memory();
  options.training.epochs = 3;
  options.training.test_every = 0.5;
  return options;
}

TEST(Resume, any_method_after_any_round) {
  const MadeUpData data(50);
  for (const int k : {1, 2}) {
    for (auto& [name, options] : all_methods(k)) {
      options = with_memory(options);
      options.training.epochs = 1.5 * k;  // 9 rounds
      expect_seamless(name + ", " + std::to_string(k) + " learners", options, data);
    }
  }
}

// 16 samples a round and period 3: the drop at sample 48 comes with round 4, after round
// 3 averaged; that at 80 with round 6, which averages, and that at 112 with round 8, so
// that the restart is pending until round 9.
TEST(Resume, with_a_restart_of_averaging_at_once_and_a_pending_one) {
  const MadeUpData data(50);
  for (const double boundary : {48.0 / 48, 80.0 / 48, 112.0 / 48}) {
    for (const std::int64_t period : {1, 3}) {
      TrainerOptions options = with_memory(sma_run(2, period));
      options.training.test_every = 1;  // rounds 3, 6, 9: not while one is pending
      options.optimizer.schedule = {SchedulePolicy::multistep, {boundary}, 0.1};
      expect_seamless("period " + std::to_string(period) + ", drop at epoch " +
                          std::to_string(boundary),
                      options,
                      data);
    }
  }
}

TEST(Resume, a_pending_restart_is_in_the_checkpoint) {
  const MadeUpData data(50);
  TrainerOptions options = with_memory(sma_run(2, 3));
  options.optimizer.schedule = {SchedulePolicy::multistep, {112.0 / 48}, 0.1};
  checkpoint_each_round(options, data);
  Recorder recorder;
  run(options, data, recorder);
  for (const TrainingState& state : recorder.checkpoints) {
    EXPECT_EQ(state.restart_pending, state.round == 8) << "round " << state.round;
  }
}

// The restart must leave a trace, else the tests above show nothing.
TEST(Resume, a_restart_changes_the_run) {
  const MadeUpData data(50);
  for (const std::int64_t period : {1, 3}) {
    TrainerOptions options = with_memory(sma_run(2, period));
    options.optimizer.schedule = {SchedulePolicy::multistep, {112.0 / 48}, 0.1};
    const TrainingState with = final_state(options, data);
    options.averaging.restart = false;
    const TrainingState without = final_state(options, data);
    EXPECT_GT(distance(with.tensors, without.tensors, "replica0/"), 1e-4) << period;
  }
}

// Rounds that the stopped run did after its last checkpoint are done again.
TEST(Resume, from_any_checkpoint_of_a_run) {
  const MadeUpData data(50);
  for (auto& [name, options] : all_methods(2)) {
    options = with_memory(options);
    checkpoint_each_round(options, data);
    Recorder whole;
    run(options, data, whole);
    for (const TrainingState& state : whole.checkpoints) {
      SCOPED_TRACE(name + ", round " + std::to_string(state.round));
      Recorder rest;
      const TrainingEnd end = run(options, data, rest, &state);
      EXPECT_TRUE(end.finished);
      EXPECT_EQ(end.rounds, whole.checkpoints.back().round);
      if (state.round < end.rounds) {
        expect_same_state(rest.checkpoints.back(), whole.checkpoints.back());
      }
    }
  }
}

// Checkpoints by the clock come wherever they come: they change nothing, and each is as
// good as one of the schedule's.
TEST(Resume, from_checkpoints_that_were_asked_for_at_any_time) {
  const MadeUpData data(50);
  for (auto& [name, options] : all_methods(3)) {
    options = with_memory(options);
    Recorder whole;
    run(options, data, whole);
    for (const std::int64_t first : {0, 1, 2}) {
      SCOPED_TRACE(name + ", first after " + std::to_string(first));
      Recorder asked;
      asked.delay_seed = static_cast<std::uint64_t>(first + 1);
      asked.save_after = first;
      asked.save_distance = first;
      run(options, data, asked);
      EXPECT_GE(asked.checkpoints.size(), whole.checkpoints.size() + 2);
      expect_same_state(asked.checkpoints.back(), whole.checkpoints.back());
      expect_same_rows(asked.tests, whole.tests);
      for (const TrainingState& state : asked.checkpoints) {
        Recorder rest;
        const TrainingEnd end = run(options, data, rest, &state);
        if (state.round < end.rounds) {
          expect_same_state(rest.checkpoints.back(), whole.checkpoints.back());
        }
      }
    }
  }
}

TEST(Resume, many_times_with_delays) {
  const MadeUpData data(50);
  for (auto& [name, options] : all_methods(3)) {
    SCOPED_TRACE(name);
    options = with_memory(options);
    Recorder whole;
    const TrainingEnd end = run(options, data, whole);
    std::vector<TestResult> tests;
    TrainingState state;
    for (std::uint64_t part = 1; state.round < end.rounds; ++part) {
      Recorder recorder;
      recorder.delay_seed = part;
      recorder.stop_after = state.round + 1;
      run(options, data, recorder, part == 1 ? nullptr : &state);
      tests.insert(tests.end(), recorder.tests.begin(), recorder.tests.end());
      ASSERT_FALSE(recorder.checkpoints.empty());
      ASSERT_GT(recorder.checkpoints.back().round, state.round);
      state = recorder.checkpoints.back();
    }
    expect_same_state(state, whole.checkpoints.back());
    expect_same_rows(tests, whole.tests);
  }
}

TEST(Resume, a_finished_run_has_nothing_left_to_do) {
  const MadeUpData data(50);
  const TrainerOptions options = sma_run(2);
  const TrainingState state = final_state(options, data);
  Recorder recorder;
  const TrainingEnd end = run(options, data, recorder, &state);
  EXPECT_TRUE(end.finished);
  EXPECT_EQ(end.rounds, state.round);
  EXPECT_TRUE(recorder.rounds.empty());
  EXPECT_TRUE(recorder.tests.empty());
}

// DESIGN 2, "Auto-tuning": a learner that the state does not know starts from z with zero
// velocity.
TEST(Resume, with_another_learner_that_starts_from_z) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(2);
  const TrainingState state = final_state(options, data);
  options.learners = 3;
  options.training.epochs = 4;
  options.optimizer.learning_rate = 0;
  options.averaging.period = 0;  // so that nothing pulls
  Recorder recorder;
  run(options, data, recorder, &state);
  ASSERT_FALSE(recorder.checkpoints.empty());
  const NamedTensors& tensors = recorder.checkpoints.back().tensors;
  EXPECT_EQ(tensors.at("replica1/fc1.weight").values,
            state.tensors.at("replica1/fc1.weight").values);
  EXPECT_EQ(tensors.at("replica2/fc1.weight").values,
            state.tensors.at("average/fc1.weight").values);
}

// 50 samples are 6 batches of 8 an epoch. One learner has taken 5 of 12 batches when
// three go on: rounds of 3 batches from number 5 on, 7 batches in 3 rounds, each batch
// once.
TEST(Resume, with_more_learners_goes_on_in_the_stream_of_batches) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(1);
  options.training.test_every = 1;
  Recorder first;
  first.stop_after = 5;
  const TrainingEnd stopped = run(options, data, first);
  ASSERT_EQ(stopped.rounds, 5);
  const TrainingState state = first.checkpoints.back();
  EXPECT_EQ(state.samples, 40);
  EXPECT_EQ(state.last_round_samples, 8);
  options.learners = 3;
  Recorder second;
  const TrainingEnd end = run(options, data, second, &state);
  EXPECT_EQ(end.rounds, 8);
  EXPECT_EQ(end.samples, 40 + 3 * 24);
  EXPECT_EQ(end.epochs, 112.0 / 48);
  ASSERT_EQ(second.tests.size(),
            2U);  // after samples 64, the first beyond 48; 112, the end
  EXPECT_EQ(second.tests[0].samples, 64);
  EXPECT_EQ(second.tests[0].rounds, 6);
  // Losses of one learner's 5 batches and three learners' first round, 8 in all.
  EXPECT_NEAR(second.tests[0].train_loss,
              (5 * first.mean_loss(1, 5) + 3 * second.mean_loss(6, 6)) / 8,
              1e-12);
  EXPECT_EQ(second.checkpoints.back().samples, 112);
  EXPECT_EQ(second.checkpoints.back().last_round_samples, 24);
}

TEST(Resume, with_fewer_learners_keeps_the_losses_of_all) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(3);
  options.training.test_every = 0;
  Recorder first;
  first.stop_after = 2;
  run(options, data, first);
  const TrainingState state = first.checkpoints.back();
  const std::int64_t done = state.round;
  options.learners = 1;
  Recorder second;
  const TrainingEnd end = run(options, data, second, &state);
  EXPECT_EQ(end.samples, 96);  // two epochs
  const auto batches = static_cast<double>(3 * done);
  const std::int64_t rest = end.rounds - done;
  ASSERT_FALSE(second.tests.empty());
  const TestResult& test = second.tests.front();
  const auto alone = static_cast<double>(test.rounds - done);
  EXPECT_NEAR(test.train_loss,
              (batches * first.mean_loss(1, done) +
               alone * second.mean_loss(done + 1, test.rounds)) /
                  (batches + alone),
              1e-12);
  EXPECT_EQ(rest * 8 + done * 24, 96);
}

// A batch that a learner would have had next is the next that any number of learners
// take: with the rate at zero losses tell which batches these were.
TEST(Resume, no_batch_is_left_out_or_taken_twice) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(1);
  options.model = logistic();
  options.optimizer.learning_rate = 0;
  Recorder whole;
  run(options, data, whole);
  ASSERT_EQ(whole.rounds.size(), 12U);
  Recorder first;
  first.stop_after = 4;
  run(options, data, first);
  options.learners = 2;
  Recorder second;
  run(options, data, second, &first.checkpoints.back());
  ASSERT_EQ(second.rounds.size(), 8U);
  for (const Recorder::Round& round : second.rounds) {
    const auto batch = static_cast<std::size_t>(4 + (round.t - 5) * 2 + round.learner);
    EXPECT_EQ(round.loss, whole.rounds[batch].loss) << "batch " << batch;
  }
}

// The arithmetic of sma is flat, its tree only the order of sums; reference has a model
// for each device.
TEST(Resume, on_another_number_of_devices) {
  const MadeUpData data(50);
  for (const AveragingMethodName method :
       {AveragingMethodName::sma, AveragingMethodName::reference}) {
    for (const int before : {1, 2, 4}) {
      TrainerOptions options = run_of(method, 4);
      options.tree = star_of(before);
      Recorder whole;
      run(options, data, whole);
      Recorder first;
      first.stop_after = 1;
      run(options, data, first);
      for (const int after : {1, 2, 4}) {
        SCOPED_TRACE(std::to_string(before) + " devices, then " + std::to_string(after));
        options.tree = star_of(after);
        Recorder rest;
        EXPECT_TRUE(run(options, data, rest, &first.checkpoints.back()).finished);
        const TrainingState& end = rest.checkpoints.back();
        if (before == after) {
          expect_same_state(end, whole.checkpoints.back());
        } else if (method == AveragingMethodName::sma) {
          const NamedTensors& truth = whole.checkpoints.back().tensors;
          EXPECT_LT(distance(end.tensors, truth, "average/"), 1e-5);
        } else {
          EXPECT_EQ(end.tensors.count(fmt::format("reference{}/fc1.weight", after - 1)),
                    1U);
          EXPECT_EQ(end.tensors.count(fmt::format("reference{}/fc1.weight", after)), 0U);
        }
      }
    }
  }
}

TEST(Resume, by_another_method_starts_from_the_average) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(2);
  TrainingState state = final_state(options, data);
  const NamedTensors before = state.tensors;
  keep_average_only(state);
  for (auto& [name, other] : all_methods(2)) {
    SCOPED_TRACE(name);
    other.training.epochs = 4;
    other.optimizer.learning_rate = 0;
    Recorder recorder;
    run(other, data, recorder, &state);
    ASSERT_FALSE(recorder.checkpoints.empty());
    const NamedTensors& after = recorder.checkpoints.back().tensors;
    EXPECT_EQ(after.at("average/fc1.weight").values,
              before.at("average/fc1.weight").values);
    EXPECT_EQ(after.at("replica0/fc1.weight").values,
              before.at("average/fc1.weight").values);
  }
}

std::string resume_error(const TrainingState& state) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(2);
  options.training.epochs = 4;
  Recorder recorder;
  try {
    run(options, data, recorder, &state);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::data);
    return error.what();
  }
  return "no error";
}

TEST(Resume, a_state_that_lacks_a_tensor_or_has_another_shape_is_refused) {
  const MadeUpData data(50);
  const TrainingState state = final_state(sma_run(2), data);
  EXPECT_EQ(resume_error(state), "no error");
  for (const std::string name : {"average/fc1.weight",
                                 "replica1/fc2.bias",
                                 "velocity0/conv.bias",
                                 "previous/conv.weight"}) {
    TrainingState lacking = state;
    lacking.tensors.erase(name);
    EXPECT_NE(resume_error(lacking).find(name), std::string::npos)
        << resume_error(lacking);
    TrainingState reshaped = state;
    reshaped.tensors[name].shape.push_back(1);
    EXPECT_NE(resume_error(reshaped).find(name), std::string::npos) << name;
  }
  TrainingState of_another_network;
  of_another_network.tensors["average/other.weight"] = {{1}, {0.0F}};
  EXPECT_NE(resume_error(of_another_network).find("average/conv.weight"),
            std::string::npos);
}

}  // namespace
}  // namespace crossbow
