#include "training/round_gate.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using std::chrono::milliseconds;

TEST(RoundGate, lets_all_in_up_to_the_last_round) {
  RoundGate gate(2, 4, 6);
  for (const std::int64_t t : {5, 6}) {
    EXPECT_TRUE(gate.enter(0, t));
    EXPECT_TRUE(gate.enter(1, t));
  }
  EXPECT_FALSE(gate.enter(0, 7));
  EXPECT_FALSE(gate.enter(1, 7));
  EXPECT_EQ(gate.last(), 6);
}

TEST(RoundGate, nobody_enters_where_nothing_is_left_to_do) {
  RoundGate gate(1, 6, 6);
  EXPECT_FALSE(gate.enter(0, 7));
}

TEST(RoundGate, stop_is_after_the_latest_round_that_anybody_began) {
  RoundGate gate(3, 0, 100);
  gate.enter(0, 1);
  gate.enter(1, 1);
  gate.enter(1, 2);
  gate.enter(1, 3);
  gate.stop();
  EXPECT_EQ(gate.last(), 3);
  for (const std::int64_t t : {2, 3}) {  // the others catch up
    EXPECT_TRUE(gate.enter(0, t));
  }
  for (const std::int64_t t : {1, 2, 3}) {
    EXPECT_TRUE(gate.enter(2, t));
  }
  for (const int j : {0, 1, 2}) {
    EXPECT_FALSE(gate.enter(j, 4));
  }
}

TEST(RoundGate, a_second_stop_moves_nothing) {
  RoundGate gate(2, 0, 100);
  gate.enter(0, 5);
  gate.stop();
  gate.enter(1, 2);
  gate.stop();
  EXPECT_EQ(gate.last(), 5);
}

TEST(RoundGate, a_stop_before_the_first_round_is_after_the_rounds_done) {
  RoundGate gate(2, 7, 100);
  gate.stop();
  EXPECT_EQ(gate.last(), 7);
  EXPECT_FALSE(gate.enter(0, 8));
}

TEST(RoundGate, all_stand_after_the_same_round_whenever_the_stop_comes) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    RoundGate gate(3, 0, 1000000);
    std::vector<std::int64_t> done(3, 0);
    in_threads(4, [&](int j) {
      if (j == 3) {
        std::this_thread::sleep_for(std::chrono::microseconds(50 * repetition));
        gate.stop();
        return;
      }
      for (std::int64_t t = 1; gate.enter(j, t); ++t) {
        done[static_cast<std::size_t>(j)] = t;
        gate.finish(j, t);
      }
    });
    EXPECT_EQ(done, std::vector<std::int64_t>(3, gate.last()));
  }
}

TEST(RoundGate, who_fails_waits_until_the_others_have_ended_the_round) {
  RoundGate gate(3, 0, 100);
  for (int j = 0; j < 3; ++j) {
    gate.enter(j, 1);
  }
  std::atomic<bool> gone_on{false};
  std::thread failed([&] {
    gate.stop_and_wait_for(1, 1);
    gone_on = true;
  });
  gate.finish(0, 1);
  std::this_thread::sleep_for(milliseconds(5));
  EXPECT_FALSE(gone_on) << "learner 2 has not ended the round";
  gate.finish(2, 1);
  failed.join();
  EXPECT_EQ(gate.last(), 1);
}

TEST(RoundGate, two_who_fail_do_not_wait_for_each_other) {
  RoundGate gate(3, 0, 100);
  for (int j = 0; j < 3; ++j) {
    gate.enter(j, 1);
  }
  gate.enter(0, 2);
  in_threads(3, [&](int j) {
    std::this_thread::sleep_for(milliseconds(j));
    if (j == 0) {  // ahead: it fails in round 2
      gate.finish(0, 1);
      gate.stop_and_wait_for(0, 2);
    } else {
      gate.stop_and_wait_for(j, 1);
      gate.leave(j);
    }
  });
  EXPECT_EQ(gate.last(), 2);
}

TEST(RoundGate, nobody_waits_for_one_who_has_left) {
  RoundGate gate(2, 0, 100);
  gate.enter(0, 1);
  gate.enter(1, 1);
  std::thread failed([&] { gate.stop_and_wait_for(0, 1); });
  std::this_thread::sleep_for(milliseconds(2));
  gate.leave(1);
  failed.join();
}

}  // namespace
}  // namespace crossbow
