#include "io/importers/workers.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace crossbow {

void share_turns(std::int64_t n, const std::function<void(Turns&, bool)>& work) {
  Turns turns(n);
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto guarded = [&](bool is_caller) {
    try {
      work(turns, is_caller);
    } catch (...) {
      const std::lock_guard lock(mutex);
      thrown = std::current_exception();
    }
  };
  const std::int64_t processors = std::thread::hardware_concurrency();
  std::vector<std::thread> threads;
  try {
    for (std::int64_t i = 1; i < std::min(processors, n); ++i) {
      threads.emplace_back(guarded, false);
    }
  } catch (const std::system_error&) {
    // No more threads are allowed here: those that there are do it.
  }
  guarded(true);
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace crossbow
