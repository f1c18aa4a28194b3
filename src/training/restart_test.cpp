#include "training/restart.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

using Restarts = std::vector<std::pair<int, std::string>>;

RestartRound round_of(int t, int period, const std::vector<int>& drops) {
  RestartRound round;
  for (const int drop : drops) {
    round.rate_changed = round.rate_changed || t == drop;
  }
  round.previous_averaged = averages_in_round(t - 1, period);
  round.averages = averages_in_round(t, period);
  return round;
}

/// Run 40 rounds with rate changes at `drops`; give the rounds that restart, and on which
/// side.
Restarts restarts_of(int period, const std::vector<int>& drops, bool enabled = true) {
  AveragingRestart restart(enabled);
  Restarts found;
  for (int t = 1; t <= 40; ++t) {
    const RestartDecision decision = restart.next_round(round_of(t, period, drops));
    if (decision.before_round) {
      found.emplace_back(t, "before");
    }
    if (decision.after_round) {
      found.emplace_back(t, "after");
    }
  }
  return found;
}

// Expected, all by hand: averaging rounds are the multiples of the period.
TEST(Restart, every_round_averages) {
  EXPECT_EQ(restarts_of(1, {25}), (Restarts{{25, "before"}}));
}

TEST(Restart, round_before_averaged) {
  EXPECT_EQ(restarts_of(3, {25}), (Restarts{{25, "before"}}));  // 24 averaged
  EXPECT_EQ(restarts_of(4, {25}), (Restarts{{25, "before"}}));
}

TEST(Restart, waits_for_the_next_averaging_round) {
  EXPECT_EQ(restarts_of(4, {18}), (Restarts{{20, "after"}}));  // 17 did not average
  EXPECT_EQ(restarts_of(3, {18}), (Restarts{{18, "after"}}));  // 18 itself averages
  EXPECT_EQ(restarts_of(3, {26}), (Restarts{{27, "after"}}));
  EXPECT_EQ(restarts_of(7, {2, 17, 30}),
            (Restarts{{7, "after"}, {21, "after"}, {35, "after"}}));
}

TEST(Restart, two_changes_make_one_pending_restart) {
  EXPECT_EQ(restarts_of(4, {18, 19}), (Restarts{{20, "after"}}));
}

TEST(Restart, a_change_right_after_a_late_restart_restarts_again) {
  EXPECT_EQ(restarts_of(4, {18, 21}), (Restarts{{20, "after"}, {21, "before"}}));
}

TEST(Restart, nothing_without_a_change) {
  EXPECT_EQ(restarts_of(3, {}), Restarts{});
}

TEST(Restart, nothing_if_turned_off_or_never_averaged) {
  EXPECT_EQ(restarts_of(4, {18, 25}, false), Restarts{});
  EXPECT_EQ(restarts_of(0, {18, 25}), Restarts{});
  EXPECT_EQ(restarts_of(0, {18, 25}, false), Restarts{});
}

TEST(Restart, the_first_round_counts_as_following_an_averaging_one) {
  EXPECT_EQ(restarts_of(4, {1}), (Restarts{{1, "before"}}));
}

TEST(Restart, a_pending_restart_survives_a_checkpoint) {
  AveragingRestart before(true);
  for (int t = 1; t <= 18; ++t) {
    before.next_round(round_of(t, 4, {18}));
  }
  ASSERT_TRUE(before.pending());
  AveragingRestart resumed(true, before.pending());
  EXPECT_FALSE(resumed.next_round(round_of(19, 4, {18})).after_round);
  EXPECT_TRUE(resumed.next_round(round_of(20, 4, {18})).after_round);
  EXPECT_FALSE(resumed.pending());
  EXPECT_FALSE(resumed.next_round(round_of(24, 4, {18})).after_round);
  EXPECT_FALSE(AveragingRestart(false, true).pending());  // turned off when resumed
}

TEST(Restart, rounds_that_average) {
  EXPECT_TRUE(averages_in_round(0, 4));
  EXPECT_FALSE(averages_in_round(3, 4));
  EXPECT_TRUE(averages_in_round(4, 4));
  EXPECT_TRUE(averages_in_round(3, 1));
  EXPECT_FALSE(averages_in_round(0, 0));
  EXPECT_FALSE(averages_in_round(4, 0));
}

TEST(Restart, decks_that_restart) {
  AveragingOptions options;
  EXPECT_TRUE(restarts_averaging(options));
  options.period = 0;
  EXPECT_FALSE(restarts_averaging(options));
  options = {};
  options.restart = false;
  EXPECT_FALSE(restarts_averaging(options));
  options = {};
  options.method = AveragingMethodName::ssgd;
  EXPECT_FALSE(restarts_averaging(options));
}

}  // namespace
}  // namespace crossbow
