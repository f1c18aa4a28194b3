#pragma once
// Helpers of tests with several threads.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace crossbow::testing {

/// Run body(j), 0 <= j < count, each in a thread of its own, to the end.
template <class Body>
void in_threads(int count, Body body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int j = 0; j < count; ++j) {
    threads.emplace_back([&body, j] { body(j); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

/// Sleep for up to `longest`, or half of the times not at all: the same for the same
/// (seed, who, when). What must not depend on timing is run with several seeds.
inline void random_delay(std::uint64_t seed,
                         std::uint64_t who,
                         std::uint64_t when,
                         std::chrono::microseconds longest) {
  const float share = random_uniform(seed, RandomPurpose::augment, who, when);
  if (share > 0.5F) {
    std::this_thread::sleep_for((2 * share - 1) * longest);
  }
}

}  // namespace crossbow::testing
