// Which round does what: the pure function, and that a training goes by it.

#include "training/round_schedule.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using Rounds = std::vector<std::int64_t>;

/// 3 learners with batches of 8 and 96 samples an epoch: 24 samples a round.
ScheduleInput input() {
  ScheduleInput input;
  input.training.batch = 8;
  input.training.epochs = 2;
  input.optimizer.learning_rate = 0.1;
  input.learners = 3;
  input.samples_per_epoch = 96;
  return input;
}

Rounds tests_of(const ScheduleInput& input) {
  const RoundSchedule schedule(input);
  Rounds rounds;
  for (std::int64_t t = 1; t <= schedule.rounds(); ++t) {
    if (schedule.plan(t).test) {
      rounds.push_back(t);
    }
  }
  return rounds;
}

TEST(RoundSchedule, the_last_round_is_the_first_to_reach_the_end_and_is_complete) {
  ScheduleInput i = input();
  EXPECT_EQ(RoundSchedule(i).rounds(), 8);  // 192 samples exactly
  i.training.epochs = 2.001;                // 192.096: 192
  EXPECT_EQ(RoundSchedule(i).rounds(), 8);
  i.training.epochs = 2.01;  // 192.96: 193
  EXPECT_EQ(RoundSchedule(i).rounds(), 9);
  EXPECT_EQ(RoundSchedule(i).samples_after(9), 216);
  EXPECT_DOUBLE_EQ(RoundSchedule(i).epochs_after(9), 2.25);
  i.training.epochs = 0.01;
  EXPECT_EQ(RoundSchedule(i).rounds(), 1);
}

TEST(RoundSchedule, tests_after_the_first_round_that_reaches_them_and_at_the_end) {
  ScheduleInput i = input();
  i.training.test_every = 1;
  EXPECT_EQ(tests_of(i), (Rounds{4, 8}));
  i.training.test_every = 0.4;  // 38 samples: 38, 76, 114, 152, 190
  EXPECT_EQ(tests_of(i), (Rounds{2, 4, 5, 7, 8}));
  i.training.test_every = 0.1;  // more often than there are rounds
  EXPECT_EQ(tests_of(i), (Rounds{1, 2, 3, 4, 5, 6, 7, 8}));
  i.training.test_every = 0;
  EXPECT_EQ(tests_of(i), Rounds{8});
  i.training.test_every = 50;
  EXPECT_EQ(tests_of(i), Rounds{8});
  i.training.epochs = 1.3;  // 125 samples: 6 rounds
  i.training.test_every = 1;
  EXPECT_EQ(tests_of(i), (Rounds{4, 6}));
}

TEST(RoundSchedule, checkpoints_after_the_first_round_that_reaches_them_and_at_the_end) {
  ScheduleInput i = input();
  i.checkpoint_epochs = 0.75;  // 72, 144 samples
  const RoundSchedule schedule(i);
  Rounds rounds;
  for (std::int64_t t = 1; t <= schedule.rounds(); ++t) {
    if (schedule.plan(t).checkpoint) {
      rounds.push_back(t);
    }
  }
  EXPECT_EQ(rounds, (Rounds{3, 6, 8}));
}

TEST(RoundSchedule, the_rate_changes_with_the_first_round_at_or_behind_a_boundary) {
  ScheduleInput i = input();
  i.optimizer.schedule = {SchedulePolicy::multistep, {0.5, 1.3}, 0.1};  // 48, 125
  const RoundSchedule schedule(i);
  const std::vector<double> expected = {0.1, 0.1, 0.01, 0.01, 0.01, 0.01, 0.001, 0.001};
  for (std::int64_t t = 1; t <= 8; ++t) {
    const RoundPlan plan = schedule.plan(t);
    EXPECT_DOUBLE_EQ(plan.rate, expected[static_cast<std::size_t>(t - 1)]) << t;
    EXPECT_FLOAT_EQ(plan.rule.step.rate, static_cast<float>(plan.rate)) << t;
    EXPECT_EQ(plan.restart.rate_changed, t == 3 || t == 7) << t;
  }
}

TEST(RoundSchedule, every_period_th_round_averages) {
  ScheduleInput i = input();
  for (const std::int64_t period : {0, 1, 3}) {
    i.averaging.period = period;
    const RoundSchedule schedule(i);
    for (std::int64_t t = 1; t <= 8; ++t) {
      EXPECT_EQ(schedule.plan(t).rule.averages, period > 0 && t % period == 0);
      EXPECT_EQ(schedule.plan(t).restart.averages, period > 0 && t % period == 0);
      EXPECT_EQ(schedule.plan(t).restart.previous_averaged,
                period > 0 && (t - 1) % period == 0);
    }
  }
}

TEST(RoundSchedule, the_step_has_the_options_of_the_optimizer) {
  ScheduleInput i = input();
  i.optimizer.momentum = 0.7;
  i.optimizer.weight_decay = 0.003;
  const RoundPlan plan = RoundSchedule(i).plan(5);
  EXPECT_EQ(plan.rule.number, 5);
  EXPECT_FLOAT_EQ(plan.rule.step.eta, 0.7F);
  EXPECT_FLOAT_EQ(plan.rule.step.lambda, 0.003F);
}

// ---- A training goes by it
// ----------------------------------------------------------------

// 100 samples are 12 batches of 8 and 4 over: 96 an epoch.
TEST(History, has_a_row_for_each_test) {
  const MadeUpData data(100);
  for (auto& [name, options] : all_methods(3)) {
    SCOPED_TRACE(name);
    options.training.epochs = 1.3;
    options.training.test_every = 0.4;
    options.optimizer.schedule = {SchedulePolicy::multistep, {0.7}, 0.1};  // sample 67
    Recorder recorder;
    const TrainingEnd end = run(options, data, recorder);
    EXPECT_TRUE(end.finished);
    EXPECT_FALSE(end.target_reached);
    EXPECT_EQ(end.rounds, 6);
    EXPECT_EQ(end.samples, 144);
    EXPECT_DOUBLE_EQ(end.epochs, 1.5);
    const Rounds rounds = {2, 4, 5, 6};
    ASSERT_EQ(recorder.tests.size(), rounds.size());
    std::int64_t before = 0;
    double seconds = 0;
    for (std::size_t i = 0; i < rounds.size(); ++i) {
      const TestResult& row = recorder.tests[i];
      EXPECT_EQ(row.rounds, rounds[i]);
      EXPECT_EQ(row.samples, 24 * rounds[i]);
      EXPECT_DOUBLE_EQ(row.epoch, 24.0 * rounds[i] / 96);
      EXPECT_DOUBLE_EQ(row.rate, rounds[i] >= 4 ? 0.05 * 0.1 : 0.05);
      EXPECT_EQ(row.learners, 3);
      EXPECT_NEAR(row.train_loss, recorder.mean_loss(before + 1, rounds[i]), 1e-12);
      EXPECT_GT(row.seconds, seconds);
      EXPECT_NEAR(row.images_per_second,
                  24.0 * (rounds[i] - before) / (row.seconds - seconds),
                  1e-6 * row.images_per_second);
      before = rounds[i];
      seconds = row.seconds;
    }
    EXPECT_EQ(end.seconds, seconds);
  }
}

TEST(History, a_reached_target_ends_the_run_with_a_checkpoint) {
  const MadeUpData data(100);
  for (auto& [name, options] : all_methods(3)) {
    options.training.test_every = 0.4;
    Recorder recorder;
    recorder.tests_until_target = 2;
    const TrainingEnd end = run(options, data, recorder);
    EXPECT_TRUE(end.finished) << name;
    EXPECT_TRUE(end.target_reached) << name;
    EXPECT_EQ(end.rounds, 4) << name;
    EXPECT_EQ(recorder.tests.size(), 2U) << name;
    ASSERT_EQ(recorder.checkpoints.size(), 1U) << name;
    EXPECT_EQ(recorder.checkpoints.back().round, 4) << name;
  }
}

TEST(History, a_stop_ends_the_run_unfinished_with_one_checkpoint) {
  const MadeUpData data(100);
  for (const int k : {1, 3}) {
    for (auto& [name, options] : all_methods(k)) {
      SCOPED_TRACE(name + ", " + std::to_string(k) + " learners");
      options.training.epochs = 50;
      Recorder recorder;
      recorder.stop_after = 5;
      const TrainingEnd end = run(options, data, recorder);
      EXPECT_FALSE(end.finished);
      EXPECT_FALSE(end.target_reached);
      EXPECT_GE(end.rounds, 5);
      ASSERT_EQ(recorder.checkpoints.size(), 1U);
      EXPECT_EQ(recorder.checkpoints.back().round, end.rounds);
      EXPECT_EQ(static_cast<std::int64_t>(recorder.rounds.size()), k * end.rounds);
    }
  }
}

TEST(History, seconds_are_those_of_training_without_tests) {
  class Slow : public Recorder {
   public:
    TestVerdict tested(const TestResult& result) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return Recorder::tested(result);
    }
  };
  const MadeUpData data(100);
  TrainerOptions options = sma_run(2);
  options.training.epochs = 1;
  options.training.test_every = 0.2;
  const auto start = std::chrono::steady_clock::now();
  Slow recorder;
  const TrainingEnd end = run(options, data, recorder);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  const auto slept = 0.1 * static_cast<double>(recorder.tests.size());
  EXPECT_GT(slept, 0.4);
  EXPECT_LT(end.seconds, all.count() - slept);
  EXPECT_EQ(recorder.checkpoints.back().seconds, end.seconds);
}

/// Takes 30 ms for a round and keeps what it is told meanwhile.
class Watcher : public Recorder {
 public:
  void round_done(int j, std::int64_t t, double loss) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    Recorder::round_done(j, t, loss);
  }
  void progress(const TrainingProgress& glance) override { glances.push_back(glance); }

  std::vector<TrainingProgress> glances;
};

// Also after a resume: rounds of another process are not this one's speed.
TEST(Progress, tells_speed_loss_and_time_left_a_few_times_a_second) {
  const MadeUpData data(100);
  TrainerOptions options = sma_run(1);
  options.training.test_every = 0;
  TrainingState state = final_state(options, data);
  state.round = 1200;
  state.samples = state.row_samples = 9600;  // 100 epochs
  options.training.epochs = 102;
  Watcher recorder;
  run(options, data, recorder, &state);
  ASSERT_GE(recorder.glances.size(), 1U);  // 24 rounds take 0.72 s
  EXPECT_LE(recorder.glances.size(), 12U);
  for (const TrainingProgress& glance : recorder.glances) {
    EXPECT_GT(glance.epoch, 100);
    EXPECT_DOUBLE_EQ(glance.epochs, 102);
    EXPECT_EQ(glance.learners, 1);
    EXPECT_GT(glance.images_per_second, 0);
    EXPECT_LT(glance.images_per_second, 8 / 0.029);
    const double images_left = (102 - glance.epoch) * 96;
    EXPECT_NEAR(glance.seconds_left * glance.images_per_second, images_left, 1e-6);
    EXPECT_TRUE(std::any_of(
        recorder.rounds.begin(),
        recorder.rounds.end(),
        [&](const Recorder::Round& round) { return round.loss == glance.loss; }))
        << glance.loss;
  }
}

}  // namespace
}  // namespace crossbow
