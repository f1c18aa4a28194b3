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

bool goes(RoundGate& gate, int j, std::int64_t t, std::int64_t scheduled = 0) {
  return gate.enter(j, t, scheduled).kind == GateAnswer::Kind::go;
}
bool stops(RoundGate& gate, int j, std::int64_t t, std::int64_t scheduled = 0) {
  return gate.enter(j, t, scheduled).kind == GateAnswer::Kind::stop;
}
GateAnswer rest_after(std::int64_t round) {
  return {GateAnswer::Kind::rest, round};
}

TEST(RoundGate, lets_all_in_up_to_the_last_round) {
  RoundGate gate(2, 4, 6);
  for (const std::int64_t t : {5, 6}) {
    EXPECT_TRUE(goes(gate, 0, t));
    EXPECT_TRUE(goes(gate, 1, t));
  }
  EXPECT_TRUE(stops(gate, 0, 7));
  EXPECT_TRUE(stops(gate, 1, 7));
  EXPECT_EQ(gate.last(), 6);
}

TEST(RoundGate, nobody_enters_where_nothing_is_left_to_do) {
  RoundGate gate(1, 6, 6);
  EXPECT_TRUE(stops(gate, 0, 7));
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
    EXPECT_TRUE(goes(gate, 0, t));
  }
  for (const std::int64_t t : {1, 2, 3}) {
    EXPECT_TRUE(goes(gate, 2, t));
  }
  for (const int j : {0, 1, 2}) {
    EXPECT_TRUE(stops(gate, j, 4));
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
  EXPECT_TRUE(stops(gate, 0, 8));
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
      for (std::int64_t t = 1; goes(gate, j, t); ++t) {
        done[static_cast<std::size_t>(j)] = t;
        gate.finish(j, t);
      }
    });
    EXPECT_EQ(done, std::vector<std::int64_t>(3, gate.last()));
  }
}

TEST(RoundGate, all_rest_where_the_schedule_says) {
  RoundGate gate(2, 0, 6);
  EXPECT_TRUE(goes(gate, 0, 1));
  EXPECT_EQ(gate.enter(0, 2, 1), rest_after(1));
  EXPECT_FALSE(gate.take_rest(1)) << "nobody asked for it";
  EXPECT_TRUE(goes(gate, 0, 2)) << "it has rested";
}

TEST(RoundGate, a_rest_that_is_asked_for_is_after_the_latest_round_that_anybody_began) {
  RoundGate gate(2, 0, 100);
  EXPECT_TRUE(goes(gate, 0, 1));
  EXPECT_TRUE(goes(gate, 0, 2));
  EXPECT_TRUE(goes(gate, 1, 1));
  gate.ask_for_rest();
  EXPECT_TRUE(goes(gate, 1, 2));
  gate.ask_for_rest();  // again: it stays where it is
  EXPECT_EQ(gate.enter(0, 3), rest_after(2));
  EXPECT_EQ(gate.enter(1, 3), rest_after(2));
  EXPECT_TRUE(gate.take_rest(2));
  EXPECT_FALSE(gate.take_rest(2));
  EXPECT_TRUE(goes(gate, 0, 3));
  EXPECT_TRUE(goes(gate, 1, 3));
}

TEST(RoundGate, rests_come_in_order) {
  RoundGate gate(2, 0, 100);
  EXPECT_TRUE(goes(gate, 0, 8));
  gate.ask_for_rest();  // after 8
  EXPECT_EQ(gate.enter(1, 12, 6), rest_after(6));
  EXPECT_FALSE(gate.take_rest(6));
  EXPECT_EQ(gate.enter(1, 12, 10), rest_after(8));
  EXPECT_TRUE(gate.take_rest(8));
  EXPECT_EQ(gate.enter(1, 12, 10), rest_after(10));
}

// Where learners keep no step one may rest already while another has yet to begin the
// round: neither a rest nor a stop may then come to lie before it.
TEST(RoundGate, nothing_comes_to_lie_before_a_rest_that_somebody_has_begun) {
  RoundGate gate(2, 0, 100);
  EXPECT_TRUE(goes(gate, 0, 5));
  EXPECT_EQ(gate.enter(1, 9, 7), rest_after(7));
  gate.ask_for_rest();
  EXPECT_TRUE(goes(gate, 0, 6)) << "a rest after 5 would have been passed by learner 1";
  EXPECT_EQ(gate.enter(0, 9, 7), rest_after(7));
  EXPECT_TRUE(gate.take_rest(7));

  RoundGate stopped(2, 0, 100);
  EXPECT_TRUE(goes(stopped, 0, 5));
  EXPECT_EQ(stopped.enter(1, 9, 7), rest_after(7));
  stopped.stop();
  EXPECT_EQ(stopped.last(), 7);
}

TEST(RoundGate, a_rest_after_the_last_round_is_taken_one_beyond_is_not) {
  RoundGate gate(1, 0, 3);
  EXPECT_TRUE(goes(gate, 0, 3));
  EXPECT_EQ(gate.enter(0, 9, 3), rest_after(3));
  EXPECT_TRUE(stops(gate, 0, 9, 5));
}

TEST(RoundGate, all_rest_after_the_same_rounds_whenever_that_is_asked_for) {
  RoundGate gate(3, 0, 1'000'000'000);
  std::vector<std::vector<std::int64_t>> rests(3);
  std::atomic<int> running{3};
  std::atomic<int> resting{0};
  std::atomic<std::int64_t> rested{0};
  in_threads(4, [&](int j) {
    if (j == 3) {
      while (running > 0) {
        gate.ask_for_rest();
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      return;
    }
    std::vector<std::int64_t>& own = rests[static_cast<std::size_t>(j)];
    for (std::int64_t t = 1; own.size() < 30;) {
      const GateAnswer answer = gate.enter(j, t);
      ASSERT_NE(answer.kind, GateAnswer::Kind::stop);
      if (answer.kind == GateAnswer::Kind::rest) {
        own.push_back(answer.round);
        if (++resting == 3) {  // the last to come ends the rest
          EXPECT_TRUE(gate.take_rest(answer.round));
          resting = 0;
          rested = answer.round;
        }
        while (rested < answer.round) {
          std::this_thread::yield();
        }
        continue;
      }
      gate.finish(j, t++);
    }
    --running;
  });
  EXPECT_EQ(rests[0], rests[1]);
  EXPECT_EQ(rests[0], rests[2]);
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
