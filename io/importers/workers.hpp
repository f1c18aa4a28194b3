#pragma once
// A loop whose turns are shared by as many threads as the process may use.

#include <atomic>
#include <cstdint>
#include <functional>

namespace crossbow {

/// Hands out the numbers 0 to n - 1, each once.
class Turns {
 public:
  explicit Turns(std::int64_t n) : n_(n) {}
  /// Return the next number, n or more when all are gone.
  std::int64_t next() { return next_.fetch_add(1, std::memory_order_relaxed); }
  std::int64_t count() const { return n_; }

 private:
  std::int64_t n_;
  std::atomic<std::int64_t> next_{0};
};

/// Call `work(turns, is_caller)` in this thread (`is_caller`) and in one more for each
/// further processor, with the same turns; return when all have returned, and throw what
/// one of them threw.
void share_turns(std::int64_t n, const std::function<void(Turns&, bool)>& work);

}  // namespace crossbow
