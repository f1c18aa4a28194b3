#include "base/scoped_timer.hpp"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

// A sleep never ends early, but on a busy machine as late as it likes: only lower bounds
// are sure.
void sleep_20_ms() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

TEST(ScopedTimer, AddsTheTimeOfEveryScope) {
  double total = 1.0;
  for (int i = 0; i < 2; ++i) {
    const ScopedTimer timer(total);
    sleep_20_ms();
    EXPECT_GE(timer.seconds(), 0.020);
  }
  EXPECT_GE(total, 1.040);
  EXPECT_LT(total, 60.0);
}

TEST(Stopwatch, RestartReturnsWhatWasCounted) {
  Stopwatch watch;
  sleep_20_ms();
  const double first = watch.restart();
  EXPECT_GE(first, 0.020);
  sleep_20_ms();
  const double second = watch.seconds();
  EXPECT_GE(second, 0.020);
}

}  // namespace
}  // namespace crossbow
