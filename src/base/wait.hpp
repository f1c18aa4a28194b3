#pragma once
// Waiting of one learner for another: spin for a moment, since the other is usually
// nearly there, then sleep. A wait that can never end, because the other has failed, is
// left by an exception.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

namespace crossbow {

/// Thrown out of a wait when another learner has failed. Not an error of its own.
class Aborted : public std::exception {
 public:
  const char* what() const noexcept override { return "another learner has failed"; }
};

inline void pause_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

/// Block until done(value) for the value of `word`: spin at most 20 µs, then sleep until
/// somebody notifies. Returns the value. std::int32_t, because that is what the kernel
/// can wait for.
template <class Done>
std::int32_t wait_until(const std::atomic<std::int32_t>& word, Done done) {
  constexpr auto spin = std::chrono::microseconds(20);
  std::int32_t value = word.load(std::memory_order_acquire);
  if (done(value)) {
    return value;
  }
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < spin) {
    for (int i = 0; i < 16; ++i) {
      pause_processor();
      value = word.load(std::memory_order_acquire);
      if (done(value)) {
        return value;
      }
    }
  }
  while (!done(value)) {
    word.wait(value, std::memory_order_acquire);
    value = word.load(std::memory_order_acquire);
  }
  return value;
}

/// A barrier whose last arriver does something for all before they go on, and which a
/// failure opens for good.
class Rendezvous {
 public:
  explicit Rendezvous(int parties) : parties_(parties) {}

  /// Block until all parties are here; the last one runs `action` first. Throws Aborted
  /// after abort(); what `action` throws comes out of the last one's call, and Aborted
  /// out of the others'.
  template <class Action>
  void arrive_and_wait(Action action) {
    const std::int32_t generation = generation_.load(std::memory_order_acquire);
    throw_if_aborted();
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parties_) {
      run(action);
      arrived_.store(0, std::memory_order_relaxed);
      generation_.fetch_add(1, std::memory_order_acq_rel);
      generation_.notify_all();
    } else {
      wait_until(generation_, [&](std::int32_t value) { return value != generation; });
    }
    throw_if_aborted();
  }

  void arrive_and_wait() {
    arrive_and_wait([] {});
  }

  void abort() noexcept {
    aborted_.store(true, std::memory_order_release);
    generation_.fetch_add(1, std::memory_order_acq_rel);
    generation_.notify_all();
  }

 private:
  void throw_if_aborted() const {
    if (aborted_.load(std::memory_order_acquire)) {
      throw Aborted();
    }
  }

  template <class Action>
  void run(Action& action) {
    try {
      action();
    } catch (...) {
      abort();
      throw;
    }
  }

  int parties_;
  std::atomic<int> arrived_{0};
  std::atomic<std::int32_t> generation_{0};
  std::atomic<bool> aborted_{false};
};

}  // namespace crossbow
