#include "averaging/reduction_executor.hpp"

#include <algorithm>

#include "base/wait.hpp"

namespace crossbow {

ReductionExecutor::ReductionExecutor(int learners,
                                     std::int64_t elements,
                                     std::int64_t chunk_elements)
    : learners_(learners),
      elements_(elements),
      chunk_elements_(chunk_elements),
      chunks_(static_cast<int>((elements + chunk_elements - 1) / chunk_elements)),
      entries_(std::make_unique<Entry[]>(static_cast<std::size_t>(chunks_))) {}

Chunk ReductionExecutor::chunk(int j, int step) const {
  const auto start = static_cast<int>(static_cast<std::int64_t>(j) * chunks_ / learners_);
  const int index = (start + step) % chunks_;
  const std::int64_t offset = index * chunk_elements_;
  return {index, offset, std::min(chunk_elements_, elements_ - offset)};
}

void ReductionExecutor::wait_complete(int chunk, std::int32_t turn) const {
  const std::int32_t reached =
      wait_until(entries_[static_cast<std::size_t>(chunk)].complete,
                 [turn](std::int32_t complete) { return complete >= turn; });
  if (reached == aborted) {
    throw Aborted();
  }
}

bool ReductionExecutor::others_arrived(int chunk, std::int32_t turn) const {
  const Entry& entry = entries_[static_cast<std::size_t>(chunk)];
  return entry.arrivals.load(std::memory_order_acquire) ==
         static_cast<std::int64_t>(learners_) * turn - 1;
}

bool ReductionExecutor::arrive(int chunk, std::int32_t turn) {
  Entry& entry = entries_[static_cast<std::size_t>(chunk)];
  return entry.arrivals.fetch_add(1, std::memory_order_acq_rel) + 1 ==
         static_cast<std::int64_t>(learners_) * turn;
}

void ReductionExecutor::complete(int chunk, std::int32_t turn) {
  Entry& entry = entries_[static_cast<std::size_t>(chunk)];
  std::int32_t before = turn - 1;
  // After an abort the entry keeps saying so.
  if (entry.complete.compare_exchange_strong(before, turn, std::memory_order_acq_rel)) {
    entry.complete.notify_all();
  }
}

void ReductionExecutor::abort() noexcept {
  for (int i = 0; i < chunks_; ++i) {
    entries_[static_cast<std::size_t>(i)].complete.store(aborted,
                                                         std::memory_order_release);
    entries_[static_cast<std::size_t>(i)].complete.notify_all();
  }
}

}  // namespace crossbow
