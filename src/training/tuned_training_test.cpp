// Trainings whose number of learners changes on the way. A window of time is a round
// here, and the tuner tries one learner and then more whatever the speed, so that nothing
// depends on the machine but which of them it settles on.

#include "training/tuned_training.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "training/first_failure.hpp"
#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

class TunedRecorder : public Recorder {
 public:
  void tuned(const TuningEvent& event) override {
    events.push_back(event);
    if (event.decision.step == TunerStep::settled && rounds_after_settling >= 0) {
      stop_after = event.round + rounds_after_settling;
    }
  }

  int count(TunerStep step) const {
    return static_cast<int>(
        std::count_if(events.begin(), events.end(), [step](const TuningEvent& event) {
          return event.decision.step == step;
        }));
  }
  /// The learners of round t.
  std::int64_t learners_of(std::int64_t t) const {
    return std::count_if(
        rounds.begin(), rounds.end(), [t](const Round& round) { return round.t == t; });
  }

  std::int64_t rounds_after_settling = -1;  // until it stops; -1: never
  std::vector<TuningEvent> events;
};

/// One learner, then two, ..., up to `most`, one thread each.
TuningSetup setup_of(const TrainerOptions& options, int most) {
  TuningSetup setup;
  setup.tuner.cores = 1;
  setup.tuner.most = most;
  setup.tuner.share = 1e12;     // of a run that takes no time
  setup.tuner.threshold = 0.5;  // half as fast as before: no drop makes it begin again
  setup.window = 1e-9;
  setup.options_for = [options](const LearnerCounts& counts) {
    TrainerOptions with = options;
    with.learners = counts.per_device;
    with.threads = counts.threads;
    return with;
  };
  return setup;
}

/// 20 epochs of 6 batches of 8.
TrainerOptions long_run(TrainerOptions options = sma_run(1)) {
  options.training.epochs = 20;
  return options;
}

TrainingEnd run_tuned(const TuningSetup& setup,
                      const MadeUpData& data,
                      Recorder& recorder,
                      const TrainingState* state = nullptr) {
  return train_tuned(setup, data.train(), data.test(), state, recorder);
}

TEST(TunedTraining, tries_learners_one_after_another_and_settles) {
  const MadeUpData data(50);
  TunedRecorder recorder;
  const TrainingEnd end = run_tuned(setup_of(long_run(), 2), data, recorder);
  EXPECT_TRUE(end.finished);
  EXPECT_EQ(recorder.count(TunerStep::measured), 2);
  EXPECT_EQ(recorder.count(TunerStep::settled), 1);
  ASSERT_GE(recorder.events.size(), 3U);
  EXPECT_EQ(recorder.events[0].learners, 1);
  EXPECT_EQ(recorder.events[1].learners, 2);
  EXPECT_EQ(recorder.learners_of(1), 1);
  EXPECT_EQ(recorder.learners_of(recorder.events[1].round), 2);
  // Where it began, one of warm-up, as many as the median is of, and one that has the
  // test after the 6 rounds of an epoch in it.
  EXPECT_EQ(recorder.events[0].round, 3 + AutoTuner::search_windows);
  EXPECT_EQ(recorder.events[0].samples, 8 * recorder.events[0].round);
  for (std::size_t i = 1; i < recorder.events.size(); ++i) {
    EXPECT_GE(recorder.events[i].round, recorder.events[i - 1].round);
    EXPECT_GE(recorder.events[i].seconds, recorder.events[i - 1].seconds);
  }
  EXPECT_GE(end.seconds, recorder.events.back().seconds);
}

// With the rate at zero losses tell which batches these were.
TEST(TunedTraining, no_batch_is_left_out_or_taken_twice) {
  const MadeUpData data(50);
  for (const AveragingMethodName method : {AveragingMethodName::sma,
                                           AveragingMethodName::ssgd,
                                           AveragingMethodName::reference,
                                           AveragingMethodName::easgd_async}) {
    TrainerOptions options = long_run(run_of(method, 1));
    options.model = logistic();
    options.optimizer.learning_rate = 0;
    TunedRecorder recorder;
    const TrainingEnd end = run_tuned(setup_of(options, 4), data, recorder);
    if (!is_asynchronous(method)) {  // else one learner may do all rounds of two
      EXPECT_GE(recorder.count(TunerStep::measured), 2);
    }
    options.training.epochs = 22;  // the last round may go beyond the end
    Recorder whole;
    run(options, data, whole);
    std::vector<double> wanted, taken;
    for (const Recorder::Round& round : whole.rounds) {
      wanted.push_back(round.loss);
    }
    wanted.resize(static_cast<std::size_t>(end.samples / 8));
    for (const Recorder::Round& round : recorder.rounds) {
      taken.push_back(round.loss);
    }
    std::sort(wanted.begin(), wanted.end());
    std::sort(taken.begin(), taken.end());
    EXPECT_EQ(taken, wanted) << averaging_method_name(method);
    EXPECT_GE(end.samples, 20 * 48);
  }
}

// A segment is what a resume from the state before it would be: learner 1 starts from z
// with zero velocity, alpha is that of two learners, bit for bit.
TEST(TunedTraining, a_new_learner_starts_from_z) {
  const MadeUpData data(50);
  TrainerOptions options = long_run();
  options.model = network_with_memory();
  TunedRecorder tuned;
  tuned.stop_after = 12;  // while two are measured
  run_tuned(setup_of(options, 2), data, tuned);
  const std::int64_t switched = tuned.events[0].round;
  ASSERT_EQ(tuned.learners_of(switched), 1);
  ASSERT_EQ(tuned.learners_of(switched + 1), 2);
  Recorder first;
  first.stop_after = switched;
  run(options, data, first);
  const TrainingState& state = first.checkpoints.back();
  ASSERT_EQ(state.round, switched);
  // z is not where replica 0 is, so the start of learner 1 can be told.
  EXPECT_NE(state.tensors.at("average/fc.weight").values,
            state.tensors.at("replica0/fc.weight").values);
  EXPECT_EQ(state.tensors.count("replica1/fc.weight"), 0U);
  options.learners = 2;
  Recorder second;
  second.stop_after = 12;
  run(options, data, second, &state);
  const TrainingState& end = tuned.checkpoints.back();
  EXPECT_EQ(end.tensors.count("replica1/fc.weight"), 1U);
  // Which round a stop comes to depends on how far the other learner is.
  if (end.round == second.checkpoints.back().round) {
    expect_same_state(end, second.checkpoints.back());
  }
  for (const Recorder::Round& round : tuned.rounds) {
    for (const Recorder::Round& other : second.rounds) {
      if (round.t == other.t && round.learner == other.learner) {
        EXPECT_EQ(round.loss, other.loss) << round.t << ", learner " << round.learner;
      }
    }
  }
}

TEST(TunedTraining, tests_and_checkpoints_are_those_of_one_training) {
  const MadeUpData data(50);
  TrainerOptions options = long_run();
  TunedRecorder recorder;
  run_tuned(setup_of(options, 2), data, recorder);
  EXPECT_EQ(recorder.checkpoints.size(), 1U) << "none but at the end";
  options.checkpoint_epochs = 1;
  TunedRecorder saved;
  const TrainingEnd end = run_tuned(setup_of(options, 2), data, saved);
  ASSERT_EQ(saved.checkpoints.size(), 20U);
  ASSERT_EQ(saved.tests.size(), 20U);
  for (std::size_t i = 0; i < 20; ++i) {
    const auto epochs = static_cast<std::int64_t>(i + 1);
    for (const std::int64_t samples :
         {saved.checkpoints[i].samples, saved.tests[i].samples}) {
      EXPECT_GE(samples, 48 * epochs);
      EXPECT_LT(samples, 48 * epochs + 16);
    }
    EXPECT_EQ(saved.learners_of(saved.tests[i].rounds), saved.tests[i].learners);
  }
  EXPECT_EQ(end.rounds, saved.checkpoints.back().round);
}

TEST(TunedTraining, checkpoints_are_written_when_the_observer_asks) {
  const MadeUpData data(50);
  TunedRecorder recorder;
  recorder.save_after = 3;
  recorder.save_distance = 1000000;
  run_tuned(setup_of(long_run(), 2), data, recorder);
  ASSERT_EQ(recorder.checkpoints.size(), 2U);
  EXPECT_GE(recorder.checkpoints[0].round, 3);
  EXPECT_LE(recorder.checkpoints[0].round, 4);
}

// A test after every second round, and a window of hundreds of rounds.
TEST(TunedTraining,
     tests_that_come_oftener_than_windows_end_do_not_keep_it_from_measuring) {
  const MadeUpData data(50);
  TrainerOptions options = long_run();
  options.training.epochs = 20000;
  options.training.test_every = 1.0 / 3;
  TuningSetup setup = setup_of(options, 1);
  setup.window = 0.002;
  TunedRecorder recorder;
  recorder.rounds_after_settling = 0;
  EXPECT_FALSE(run_tuned(setup, data, recorder).finished);
  EXPECT_EQ(recorder.count(TunerStep::measured), 1);
  EXPECT_EQ(recorder.count(TunerStep::settled), 1);
}

TEST(TunedTraining, no_room_is_an_answer) {
  const MadeUpData data(50);
  const TrainerOptions options = long_run();
  const TrainingState truth = final_state(options, data);
  for (const std::string what : {"bad_alloc", "Kokkos", "thread"}) {
    TuningSetup setup = setup_of(options, 8);
    setup.options_for = [&, before = setup.options_for](const LearnerCounts& counts) {
      if (counts.per_device > 1 && what == "Kokkos") {
        throw std::runtime_error(
            "Kokkos ERROR: HostSpace memory space failed to allocate 3 GiB");
      }
      if (counts.per_device > 1 && what == "thread") {
        std::rethrow_exception(no_thread(1, "Resource temporarily unavailable"));
      }
      if (counts.per_device > 1) {
        throw std::bad_alloc();
      }
      return before(counts);
    };
    TunedRecorder recorder;
    EXPECT_TRUE(run_tuned(setup, data, recorder).finished);
    EXPECT_EQ(recorder.count(TunerStep::no_room), 1);
    EXPECT_EQ(recorder.count(TunerStep::settled), 1);
    expect_same_state(recorder.checkpoints.back(), truth);
    ASSERT_TRUE(recorder.checkpoints.back().tuned.has_value());
    EXPECT_EQ(recorder.checkpoints.back().tuned->counts, (LearnerCounts{1, 1}));
  }
}

TEST(TunedTraining, no_room_for_one_learner_is_a_failure) {
  const MadeUpData data(50);
  TuningSetup setup = setup_of(long_run(), 8);
  setup.options_for = [](const LearnerCounts&) -> TrainerOptions {
    throw std::bad_alloc();
  };
  TunedRecorder recorder;
  EXPECT_THROW(run_tuned(setup, data, recorder), std::bad_alloc);
}

TEST(TunedTraining, other_failures_are_passed_on) {
  const MadeUpData data(50);
  TrainerOptions options = long_run();
  options.optimizer.learning_rate = 1e30;
  TunedRecorder recorder;
  try {
    run_tuned(setup_of(options, 2), data, recorder);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::numbers);
  }
}

TEST(TunedTraining, a_target_ends_it) {
  const MadeUpData data(50);
  TunedRecorder recorder;
  recorder.tests_until_target = 2;
  const TrainingEnd end = run_tuned(setup_of(long_run(), 2), data, recorder);
  EXPECT_TRUE(end.target_reached);
  EXPECT_EQ(recorder.tests.size(), 2U);
  ASSERT_EQ(recorder.checkpoints.size(), 1U);
  EXPECT_EQ(recorder.checkpoints[0].round, end.rounds);
}

TEST(TunedTraining, a_resumed_run_does_not_search_again) {
  const MadeUpData data(50);
  const TuningSetup setup = setup_of(long_run(), 2);
  TunedRecorder first;
  first.rounds_after_settling = 2;
  const TrainingEnd stopped = run_tuned(setup, data, first);
  ASSERT_FALSE(stopped.finished);
  ASSERT_EQ(first.checkpoints.size(), 1U);
  const TrainingState& state = first.checkpoints.back();
  EXPECT_EQ(state.round, stopped.rounds);
  ASSERT_TRUE(state.tuned.has_value());
  EXPECT_EQ(state.tuned->counts, first.events.back().decision.counts);
  TunedRecorder second;
  const TrainingEnd end = run_tuned(setup, data, second, &state);
  EXPECT_TRUE(end.finished);
  EXPECT_EQ(second.learners_of(stopped.rounds + 1), state.tuned->counts.per_device);
  EXPECT_TRUE(second.events.empty());
  EXPECT_GT(end.seconds, state.seconds);
}

TEST(TunedTraining, a_run_that_was_stopped_while_searching_searches_again) {
  const MadeUpData data(50);
  const TuningSetup setup = setup_of(long_run(), 2);
  TunedRecorder first;
  first.stop_after = 3;
  EXPECT_FALSE(run_tuned(setup, data, first).finished);
  ASSERT_EQ(first.checkpoints.size(), 1U);
  EXPECT_FALSE(first.checkpoints[0].tuned.has_value());
  TunedRecorder second;
  const TrainingEnd end = run_tuned(setup, data, second, &first.checkpoints[0]);
  EXPECT_TRUE(end.finished);
  EXPECT_GE(end.samples, 20 * 48);
  EXPECT_EQ(second.count(TunerStep::measured), 2);
}

}  // namespace
}  // namespace crossbow
