#include "base/stop_signal.hpp"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <ctime>
#include <system_error>

#include <unistd.h>

#include "base/contract.hpp"

namespace crossbow {
namespace {

// A handler can reach nothing but static data; these are the program's only mutable
// globals.
struct SignalState {
  std::atomic<int> first{0};               // first signal of any kind, 0: none
  std::atomic<bool> interrupted{false};    // a SIGINT came
  std::atomic<std::int64_t> stop_time{0};  // [ms] of the first SIGINT or SIGTERM, 0: none
  std::atomic<std::int64_t> patience{5000};  // [ms]
  std::atomic<bool> installed{false};
};
static_assert(std::atomic<int>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

SignalState state;

// clock_gettime is on POSIX's list of what a handler may call; the chrono clocks are not.
std::int64_t now_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1000 + now.tv_nsec / 1000000 + 1;
}

extern "C" void on_stop_signal(int signal) {
  const int saved_errno = errno;
  int none = 0;
  state.first.compare_exchange_strong(none, signal);
  if (signal != SIGUSR1) {
    const std::int64_t now = now_ms();
    std::int64_t begin = 0;
    const bool is_first = state.stop_time.compare_exchange_strong(begin, now);
    const bool late = !is_first && now - begin > state.patience.load();
    const bool again = signal == SIGINT && state.interrupted.exchange(true);
    if (late || again) {
      _exit(128 + signal);
    }
  }
  errno = saved_errno;
}

void install(int signal, void (*handler)(int), struct sigaction& old) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal, &action, &old) != 0) {
    throw std::system_error(errno, std::generic_category(), "sigaction");
  }
}

// A parent may have left them blocked, and a blocked signal would never arrive.
void unblock_stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGUSR1);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

}  // namespace

StopSignal::StopSignal(std::chrono::milliseconds patience) {
  CROSSBOW_EXPECT(!state.installed.load());
  state.installed = true;
  state.first = 0;
  state.interrupted = false;
  state.stop_time = 0;
  state.patience = patience.count();
  install(SIGINT, on_stop_signal, old_int_);
  install(SIGTERM, on_stop_signal, old_term_);
  install(SIGUSR1, on_stop_signal, old_usr1_);
  install(SIGXFSZ, SIG_IGN, old_xfsz_);
  install(SIGPIPE, SIG_IGN, old_pipe_);
  unblock_stop_signals();
}

StopSignal::~StopSignal() {
  sigaction(SIGINT, &old_int_, nullptr);
  sigaction(SIGTERM, &old_term_, nullptr);
  sigaction(SIGUSR1, &old_usr1_, nullptr);
  sigaction(SIGXFSZ, &old_xfsz_, nullptr);
  sigaction(SIGPIPE, &old_pipe_, nullptr);
  state.installed = false;
}

std::optional<int> StopSignal::requested() const {
  const int first = state.first.load();
  return first == 0 ? std::nullopt : std::optional<int>(first);
}

}  // namespace crossbow
