#include "base/wait.hpp"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.hpp"

namespace crossbow {
namespace {

using std::chrono::milliseconds;
using testing::in_threads;

/// Whether `call` throws Aborted.
template <class Call>
bool is_aborted(Call call) {
  try {
    call();
  } catch (const Aborted&) {
    return true;
  }
  return false;
}

TEST(WaitUntil, returns_at_once_what_is_done) {
  const std::atomic<std::int32_t> word{7};
  EXPECT_EQ(wait_until(word, [](std::int32_t value) { return value == 7; }), 7);
}

// Steps come both while the other spins (at once) and while it sleeps (after 2 ms).
TEST(WaitUntil, sees_a_value_that_comes_early_or_late) {
  for (const milliseconds delay : {milliseconds(0), milliseconds(2)}) {
    std::atomic<std::int32_t> word{0};
    std::int32_t seen = 0;
    std::thread waiter(
        [&] { seen = wait_until(word, [](std::int32_t value) { return value >= 3; }); });
    for (int i = 1; i <= 3; ++i) {  // the first two must not let it go
      std::this_thread::sleep_for(delay);
      word.store(i, std::memory_order_release);
      word.notify_all();
    }
    waiter.join();
    EXPECT_EQ(seen, 3);
  }
}

// The plain arrays would also show a missing happens-before to a thread sanitizer.
TEST(Rendezvous, runs_the_action_once_when_all_are_there) {
  constexpr int parties = 7, generations = 300;
  Rendezvous rendezvous(parties);
  std::vector<int> arrived(parties, 0);
  int actions = 0, wrong_inside = 0;
  std::vector<int> wrong(parties, 0);
  in_threads(parties, [&](int j) {
    for (int generation = 1; generation <= generations; ++generation) {
      arrived[static_cast<std::size_t>(j)] = generation;
      rendezvous.arrive_and_wait([&] {
        const int sum = std::accumulate(arrived.begin(), arrived.end(), 0);
        wrong_inside += sum == parties * generation ? 0 : 1;
        ++actions;
      });
      wrong[static_cast<std::size_t>(j)] += actions == generation ? 0 : 1;
      rendezvous.arrive_and_wait();  // nobody goes on while others still look
    }
  });
  EXPECT_EQ(actions, generations);
  EXPECT_EQ(wrong_inside, 0) << "an action ran before all were there";
  EXPECT_EQ(wrong, std::vector<int>(parties, 0))
      << "somebody did not wait for the action";
}

TEST(Rendezvous, a_single_party_never_waits) {
  Rendezvous rendezvous(1);
  int actions = 0;
  for (int i = 0; i < 5; ++i) {
    rendezvous.arrive_and_wait([&] { ++actions; });
  }
  EXPECT_EQ(actions, 5);
}

TEST(Rendezvous, late_and_early_parties_meet) {
  Rendezvous rendezvous(3);
  std::atomic<int> through{0};
  in_threads(3, [&](int j) {
    for (int generation = 0; generation < 6; ++generation) {
      if (generation % 3 == j) {  // everybody is late once; the others have gone to sleep
        std::this_thread::sleep_for(milliseconds(2));
      }
      rendezvous.arrive_and_wait();
      ++through;
    }
  });
  EXPECT_EQ(through, 18);
}

TEST(Rendezvous, an_exception_of_the_action_aborts_the_others) {
  constexpr int parties = 5;
  Rendezvous rendezvous(parties);
  std::atomic<int> thrown{0}, aborted{0};
  in_threads(parties, [&](int j) {
    std::this_thread::sleep_for(milliseconds(j % 2));
    try {
      rendezvous.arrive_and_wait([] { throw std::runtime_error("no space left"); });
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "no space left");
      ++thrown;
    } catch (const Aborted&) {
      ++aborted;
    }
  });
  EXPECT_EQ(thrown, 1);
  EXPECT_EQ(aborted, parties - 1);
  EXPECT_THROW(rendezvous.arrive_and_wait(), Aborted);
}

TEST(Rendezvous, abort_wakes_all_who_wait) {
  constexpr int waiting = 4;
  Rendezvous rendezvous(waiting + 1);
  std::atomic<int> aborted{0};
  in_threads(waiting + 1, [&](int j) {
    if (j == waiting) {
      std::this_thread::sleep_for(milliseconds(5));  // most of them sleep by now
      rendezvous.abort();
    } else if (is_aborted([&] { rendezvous.arrive_and_wait(); })) {
      ++aborted;
    }
  });
  EXPECT_EQ(aborted, waiting);
}

TEST(Rendezvous, who_comes_after_an_abort_leaves_at_once) {
  Rendezvous rendezvous(3);
  rendezvous.abort();
  bool action_ran = false;
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(
        is_aborted([&] { rendezvous.arrive_and_wait([&] { action_ran = true; }); }));
  }
  EXPECT_FALSE(action_ran);
}

// Whoever leaves leaves all: an abort that comes while all arrive must not strand one.
TEST(Rendezvous, abort_at_any_moment_strands_nobody) {
  for (int repetition = 0; repetition < 100; ++repetition) {
    Rendezvous rendezvous(3);
    in_threads(4, [&](int j) {
      if (j == 3) {
        std::this_thread::sleep_for(std::chrono::microseconds(3 * repetition));
        rendezvous.abort();
      } else {
        while (!is_aborted([&] { rendezvous.arrive_and_wait(); })) {
        }
      }
    });
  }
}

}  // namespace
}  // namespace crossbow
