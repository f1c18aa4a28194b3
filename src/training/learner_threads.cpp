#include "training/learner_threads.hpp"

#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace crossbow {

void run_learner_threads(int learners,
                         const std::function<void(int)>& body,
                         const std::function<void()>& abort,
                         FirstFailure& failure) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(learners));
  try {
    for (int j = 0; j < learners; ++j) {
      threads.emplace_back([&body, j] { body(j); });
    }
  } catch (const std::system_error& error) {
    failure.add(0, 0, no_thread(static_cast<int>(threads.size()), error.what()));
    abort();
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  failure.rethrow();
}

}  // namespace crossbow
