#include "base/stop_signal.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace crossbow {
namespace {

using std::chrono::milliseconds;

constexpr int survived = 42;

// Run `body` in a child of its own, because some of these signals end the program; return
// the child's exit status, or -signal if one killed it.
int status_of(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(survived);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(StopSignal, ReportsNothingWithoutASignal) {
  const StopSignal stop;
  EXPECT_FALSE(stop.requested().has_value());
}

TEST(StopSignal, ReportsTheFirstOfSeveral) {
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) {
    const StopSignal stop;
    std::raise(signal);
    std::raise(SIGUSR1);
    EXPECT_EQ(stop.requested(), signal);
  }
}

TEST(StopSignal, GivesTheSignalsBack) {
  EXPECT_EQ(status_of([] {
              { const StopSignal stop; }
              std::raise(SIGTERM);
            }),
            -SIGTERM);
}

TEST(StopSignal, SecondInterruptLeavesAtOnce) {
  EXPECT_EQ(status_of([] {
              const StopSignal stop;
              std::raise(SIGINT);
              std::raise(SIGINT);
            }),
            130);
}

TEST(StopSignal, TwoTerminatesInOneGoAreOneRequest) {
  EXPECT_EQ(status_of([] {
              const StopSignal stop;
              std::raise(SIGTERM);
              std::raise(SIGTERM);
            }),
            survived);
}

TEST(StopSignal, LaterTerminateLeavesAtOnce) {
  EXPECT_EQ(status_of([] {
              const StopSignal stop(milliseconds(20));
              std::raise(SIGTERM);
              std::this_thread::sleep_for(milliseconds(60));
              std::raise(SIGTERM);
            }),
            143);
}

TEST(StopSignal, LaterInterruptAfterATerminateLeavesAtOnce) {
  EXPECT_EQ(status_of([] {
              const StopSignal stop(milliseconds(20));
              std::raise(SIGTERM);
              std::this_thread::sleep_for(milliseconds(60));
              std::raise(SIGINT);
            }),
            130);
}

TEST(StopSignal, TerminateLongAfterTheEarlyWarningIsStillARequest) {
  EXPECT_EQ(status_of([] {
              const StopSignal stop(milliseconds(20));
              std::raise(SIGUSR1);
              std::this_thread::sleep_for(milliseconds(60));
              std::raise(SIGUSR1);
              std::raise(SIGTERM);
            }),
            survived);
}

TEST(StopSignal, HearsSignalsThatTheParentHadBlocked) {
  EXPECT_EQ(status_of([] {
              sigset_t all;
              sigfillset(&all);
              sigprocmask(SIG_BLOCK, &all, nullptr);
              const StopSignal stop;
              std::raise(SIGTERM);
              if (stop.requested() != SIGTERM) {
                _exit(1);
              }
            }),
            survived);
}

TEST(StopSignal, HearsASignalSentToAnyThread) {
  const StopSignal stop;
  std::thread other([] { pthread_kill(pthread_self(), SIGUSR1); });
  other.join();
  EXPECT_EQ(stop.requested(), SIGUSR1);
}

}  // namespace
}  // namespace crossbow
