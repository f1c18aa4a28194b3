// The tuner's decisions on throughput curves made by hand: images/s as a function of
// learners and threads, 0 where there is no room.

#include "training/auto_tuner.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace crossbow {
namespace {

using Curve = std::function<double(const LearnerCounts&)>;
using Counts = std::vector<LearnerCounts>;
using Steps = std::vector<TunerStep>;

constexpr TunerTime endless{0, 1e9};

/// A GPU or core by itself, or `cores` together, with at most `most` learners.
TunerOptions device(int cores, int most) {
  TunerOptions options;
  options.cores = cores;
  options.most = most;
  return options;
}

/// Feed windows of the curve until the tuner has settled; what it tried, in order.
Counts search(AutoTuner& tuner, const Curve& curve, const TunerTime& time = endless) {
  Counts tried;
  while (tuner.is_searching() && tried.size() < 100) {
    const LearnerCounts counts = tuner.current();
    tried.push_back(counts);
    if (curve(counts) == 0) {
      tuner.add_no_room(time);
      continue;
    }
    for (int window = 0; window < AutoTuner::search_windows; ++window) {
      EXPECT_EQ(tuner.current(), counts);
      tuner.add_window(curve(counts), time);
    }
  }
  EXPECT_FALSE(tuner.is_searching());
  return tried;
}

Steps steps_of(AutoTuner& tuner) {
  Steps steps;
  for (const TunerDecision& decision : tuner.take_decisions()) {
    steps.push_back(decision.step);
  }
  return steps;
}

/// Feed `medians` times as many windows as are looked at together.
void watch(AutoTuner& tuner, double rate, int medians, const TunerTime& time = endless) {
  for (int i = 0; i < medians * AutoTuner::watch_windows; ++i) {
    tuner.add_window(rate, time);
  }
}

Curve by_learners(const std::vector<double>& rates) {
  return [rates](const LearnerCounts& counts) {
    return rates.at(static_cast<std::size_t>(counts.per_device - 1));
  };
}

TEST(AutoTuner, goes_on_while_throughput_rises_and_never_beyond_the_most) {
  AutoTuner tuner(device(4, 8));
  const Counts tried =
      search(tuner, [](const LearnerCounts& c) { return 100.0 * c.per_device; });
  EXPECT_EQ(tried, (Counts{{1, 4}, {2, 2}, {4, 1}, {8, 1}, {6, 1}}));
  EXPECT_EQ(tuner.current(), (LearnerCounts{8, 1}));
  ASSERT_TRUE(tuner.settled().has_value());
  EXPECT_EQ(*tuner.settled(), (TunedLearners{{8, 1}, 800, 4}));
  AutoTuner bounded(device(4, 3));
  EXPECT_EQ(search(bounded, [](const LearnerCounts& c) { return 100.0 * c.per_device; }),
            (Counts{{1, 4}, {2, 2}, {3, 1}}));
  EXPECT_EQ(bounded.current(), (LearnerCounts{3, 1}));
}

TEST(AutoTuner, two_learners_on_two_cores) {
  // A second core helps a learner less than a learner of its own.
  AutoTuner tuner(device(2, 8));
  const Counts tried = search(tuner, [](const LearnerCounts& c) {
    return c.per_device == 1 ? (c.threads == 2 ? 150 : 100) : 200 - 2.0 * c.per_device;
  });
  EXPECT_EQ(tuner.current(), (LearnerCounts{2, 1}));
  EXPECT_EQ(tried, (Counts{{1, 2}, {2, 1}, {4, 1}, {3, 1}}));
}

TEST(AutoTuner, a_flat_curve_gives_the_fewest_learners) {
  AutoTuner tuner(device(4, 32));
  const Counts tried = search(tuner, [](const LearnerCounts&) { return 100.0; });
  // All ways of sharing the cores, not more learners than cores, and fewer threads.
  EXPECT_EQ(tried, (Counts{{1, 4}, {2, 2}, {4, 1}, {1, 2}}));
  EXPECT_EQ(tuner.current(), (LearnerCounts{1, 4}));
}

TEST(AutoTuner, more_learners_must_be_faster_by_more_than_the_threshold) {
  for (const double gain : {1.04, 1.06}) {
    AutoTuner tuner(device(1, 2));
    search(tuner, by_learners({100, 100 * gain}));
    EXPECT_EQ(tuner.current().per_device, gain > 1.05 ? 2 : 1) << gain;
  }
  // Beyond the cores only as long as it rises by more than that.
  AutoTuner beyond(device(1, 4));
  EXPECT_EQ(search(beyond, by_learners({100, 104, 500, 500})), (Counts{{1, 1}, {2, 1}}));
  // Small gains do not add up to a loss: 4 against 1 is more than the threshold.
  AutoTuner tuner(device(4, 4));
  search(tuner, by_learners({100, 104, 108, 110}));
  EXPECT_EQ(tuner.current().per_device, 3);
}

TEST(AutoTuner, finds_a_peak_between_the_powers_of_two) {
  AutoTuner tuner(device(1, 8));
  const Counts tried =
      search(tuner, by_learners({100, 150, 200, 160, 140, 120, 110, 100}));
  EXPECT_EQ(tried, (Counts{{1, 1}, {2, 1}, {4, 1}, {8, 1}, {6, 1}, {5, 1}, {3, 1}}));
  EXPECT_EQ(tuner.current(), (LearnerCounts{3, 1}));
}

TEST(AutoTuner, finds_fewer_threads_where_they_are_the_faster) {
  AutoTuner tuner(device(8, 8));
  const Counts tried = search(tuner, [](const LearnerCounts& c) {
    return 100.0 / c.threads / (c.per_device == 1 ? 1 : 20);
  });
  EXPECT_EQ(tried, (Counts{{1, 8}, {2, 4}, {4, 2}, {8, 1}, {1, 4}, {1, 2}, {1, 1}}));
  EXPECT_EQ(tuner.current(), (LearnerCounts{1, 1}));
}

TEST(AutoTuner, keeps_the_threads_that_are_given) {
  TunerOptions options = device(4, 8);
  options.threads = 2;
  AutoTuner tuner(options);
  EXPECT_EQ(search(tuner, [](const LearnerCounts&) { return 100.0; }),
            (Counts{{1, 2}, {2, 2}}));
}

TEST(AutoTuner, one_core_and_one_learner) {
  AutoTuner tuner(device(1, 1));
  EXPECT_EQ(search(tuner, [](const LearnerCounts&) { return 100.0; }), (Counts{{1, 1}}));
  EXPECT_EQ(steps_of(tuner), (Steps{TunerStep::measured, TunerStep::settled}));
}

TEST(AutoTuner, no_room_is_an_answer) {
  AutoTuner tuner(device(1, 8));
  const Counts tried = search(tuner, by_learners({100, 190, 0, 0}));
  EXPECT_EQ(tried, (Counts{{1, 1}, {2, 1}, {4, 1}, {3, 1}}));
  EXPECT_EQ(tuner.current(), (LearnerCounts{2, 1}));
  EXPECT_EQ(steps_of(tuner),
            (Steps{TunerStep::measured,
                   TunerStep::measured,
                   TunerStep::no_room,
                   TunerStep::no_room,
                   TunerStep::settled}));
}

TEST(AutoTuner, where_there_is_no_room_for_two_four_are_not_tried) {
  AutoTuner tuner(device(4, 4));
  EXPECT_EQ(search(tuner, by_learners({100, 0, 0, 0})), (Counts{{1, 4}, {2, 2}, {1, 2}}));
}

TEST(AutoTuner, has_nothing_else_where_not_even_one_learner_has_room) {
  AutoTuner tuner(device(2, 8));
  EXPECT_FALSE(tuner.has_others());
  for (int window = 0; window < AutoTuner::search_windows; ++window) {
    tuner.add_window(100, endless);
  }
  EXPECT_EQ(tuner.current(), (LearnerCounts{2, 1}));
  EXPECT_TRUE(tuner.has_others());
}

// Up to 10 % more or less in each window, and a stall of half the speed in every fifth.
TEST(AutoTuner, noise_does_not_lead_it_astray) {
  const std::vector<std::pair<Curve, LearnerCounts>> curves = {
      {by_learners({100, 130, 169, 220}), {4, 1}},
      {by_learners({100, 160, 120, 90}), {2, 2}},
      {by_learners({200, 120, 90, 80}), {1, 4}}};
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    for (const auto& [curve, expected] : curves) {
      AutoTuner tuner(device(4, 4));
      std::uint64_t number = 0;
      const auto window = [&, &curve = curve](const LearnerCounts& counts) {
        const double noise =
            0.2 * random_uniform(seed, RandomPurpose::initialise, 9, ++number) - 0.1;
        return curve(counts) * (number % 5 == 0 ? 0.5 : 1 + noise);
      };
      const Curve noisy = [&](const LearnerCounts& counts) {
        // Threads below the share of the cores are slower.
        const double share =
            counts.threads * counts.per_device >= 4 || counts.per_device == 3 ? 1 : 0.6;
        return share * window(counts);
      };
      search(tuner, noisy);
      EXPECT_EQ(tuner.current(), expected) << "seed " << seed;
      tuner.take_decisions();
      for (int i = 0; i < 20 * AutoTuner::watch_windows; ++i) {
        tuner.add_window(noisy(tuner.current()), endless);
      }
      EXPECT_EQ(steps_of(tuner), Steps()) << "seed " << seed;
    }
  }
}

TEST(AutoTuner, begins_again_after_a_drop_that_lasts) {
  AutoTuner tuner(device(1, 4));
  search(tuner, by_learners({100, 180, 150, 150}));
  ASSERT_EQ(tuner.current().per_device, 2);
  watch(tuner, 180, 3);
  watch(tuner, 90, 1);  // for a while
  watch(tuner, 180, 1);
  tuner.take_decisions();
  watch(tuner, 90, 1);
  EXPECT_FALSE(tuner.is_searching());
  watch(tuner, 90, 1);
  EXPECT_TRUE(tuner.is_searching());
  // Somebody else has taken the cores: one learner is the fastest now.
  const Counts tried = search(tuner, by_learners({140, 90, 80, 70}));
  EXPECT_EQ(tried, (Counts{{1, 1}}));
  EXPECT_EQ(tuner.current().per_device, 1);
  EXPECT_EQ(steps_of(tuner),
            (Steps{TunerStep::retune, TunerStep::measured, TunerStep::settled}));
  watch(tuner, 140, 5);
  EXPECT_EQ(steps_of(tuner), Steps());
}

TEST(AutoTuner, a_small_drop_is_none) {
  AutoTuner tuner(device(1, 1));
  search(tuner, by_learners({100}));
  watch(tuner, 100, 1);
  tuner.take_decisions();
  watch(tuner, 91, 10);
  EXPECT_EQ(steps_of(tuner), Steps());
  watch(tuner, 89, 2);
  EXPECT_EQ(steps_of(tuner).front(), TunerStep::retune);
}

TEST(AutoTuner, searches_for_a_tenth_of_the_run_at_most) {
  AutoTuner tuner(device(4, 8));
  const Curve rising = [](const LearnerCounts& c) { return 100.0 * c.per_device; };
  // One trial took 1 s; another would make 2 s of 19.
  EXPECT_EQ(search(tuner, rising, {1, 19}), (Counts{{1, 4}}));
  EXPECT_EQ(tuner.current(), (LearnerCounts{1, 4}));
  const std::vector<TunerDecision> decisions = tuner.take_decisions();
  EXPECT_NE(decisions.back().reason.find("10 % of the run"), std::string::npos)
      << decisions.back().reason;
  AutoTuner longer(device(4, 8));
  EXPECT_EQ(search(longer, rising, {1, 21}).size(), 5U);
}

TEST(AutoTuner, a_drop_when_the_time_is_spent_changes_nothing) {
  AutoTuner tuner(device(1, 4));
  search(tuner, by_learners({100, 180, 150, 150}));
  watch(tuner, 180, 1);
  tuner.take_decisions();
  constexpr TunerTime spent{10, 99};
  watch(tuner, 90, 2, spent);
  EXPECT_FALSE(tuner.is_searching());
  EXPECT_EQ(steps_of(tuner), Steps{TunerStep::kept});
  watch(tuner, 90, 10, spent);
  EXPECT_EQ(steps_of(tuner), Steps());
  EXPECT_EQ(tuner.settled()->images_per_second, 90);
}

TEST(AutoTuner, goes_on_with_what_it_had_settled_on) {
  const TunedLearners before{{2, 1}, 180, 2};
  AutoTuner tuner(device(2, 8), before);
  EXPECT_FALSE(tuner.is_searching());
  EXPECT_EQ(tuner.current(), before.counts);
  EXPECT_TRUE(AutoTuner(device(4, 8), before).is_searching()) << "other cores";
  EXPECT_TRUE(AutoTuner(device(2, 1), before).is_searching()) << "fewer learners";
  // There is no room for them any more.
  EXPECT_TRUE(tuner.has_others());
  tuner.add_no_room(endless);
  EXPECT_TRUE(tuner.is_searching());
  EXPECT_EQ(tuner.current(), (LearnerCounts{1, 2}));
}

TEST(MostLearners, are_within_the_maximum_and_stable) {
  AveragingOptions averaging;
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 1, 8), 8);
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 2, 9), 4);
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 2, 1), 1);
  // alpha (k + 1 + mu) < 2 (1 + mu) with mu = 0.5: 0.5 (k + 1.5) < 3, so k < 4.5.
  averaging.alpha_rule = AlphaRule::number;
  averaging.alpha = 0.5;
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 1, 32), 4);
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 2, 32), 2);
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 3, 32), 1);
  averaging.method = AveragingMethodName::ssgd;
  EXPECT_EQ(most_learners_per_device(averaging, 0.9, 1, 32), 32);
}

}  // namespace
}  // namespace crossbow
