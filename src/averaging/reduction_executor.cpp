#include "averaging/reduction_executor.hpp"

#include <algorithm>
#include <utility>

#include "base/contract.hpp"
#include "base/wait.hpp"

namespace crossbow {

ReductionExecutor::ReductionExecutor(int learners,
                                     std::int64_t elements,
                                     std::int64_t chunk_elements)
    : ReductionExecutor(ReductionTree(), {learners}, elements, chunk_elements) {}

ReductionExecutor::ReductionExecutor(ReductionTree tree,
                                     const std::vector<int>& learners_of_device,
                                     std::int64_t elements,
                                     std::int64_t chunk_elements)
    : tree_(std::move(tree)),
      first_learner_{0},
      elements_(elements),
      chunk_elements_(chunk_elements),
      chunks_(static_cast<int>((elements + chunk_elements - 1) / chunk_elements)),
      arrivals_(std::make_unique<Arrivals[]>(static_cast<std::size_t>(chunks_) *
                                             tree_.parent.size())),
      completions_(std::make_unique<Completion[]>(static_cast<std::size_t>(chunks_))),
      added_(std::make_unique<std::atomic<std::int64_t>[]>(tree_.parent.size() *
                                                           tree_.parent.size())) {
  CROSSBOW_EXPECT(
      static_cast<int>(learners_of_device.size()) == tree_.devices() &&
      *std::min_element(learners_of_device.begin(), learners_of_device.end()) >= 1);
  for (const int learners : learners_of_device) {
    device_of_learner_.insert(
        device_of_learner_.end(),
        static_cast<std::size_t>(learners),
        device_of_learner_.empty() ? 0 : device_of_learner_.back() + 1);
    first_learner_.push_back(static_cast<int>(device_of_learner_.size()));
  }
}

Chunk ReductionExecutor::chunk(int j, int step) const {
  const auto start =
      static_cast<int>(static_cast<std::int64_t>(j) * chunks_ / learners());
  const int index = (start + step) % chunks_;
  const std::int64_t offset = index * chunk_elements_;
  return {index, offset, std::min(chunk_elements_, elements_ - offset)};
}

void ReductionExecutor::wait_complete(int chunk, std::int32_t turn) const {
  const std::int32_t reached =
      wait_until(completions_[static_cast<std::size_t>(chunk)].turn,
                 [turn](std::int32_t complete) { return complete >= turn; });
  if (reached == aborted) {
    throw Aborted();
  }
}

std::int64_t ReductionExecutor::parts_at(int device) const {
  return learners_of(device) +
         static_cast<std::int64_t>(
             tree_.children[static_cast<std::size_t>(device)].size());
}

ReductionExecutor::Arrivals& ReductionExecutor::arrivals(int chunk, int device) const {
  return arrivals_[static_cast<std::size_t>(chunk) * tree_.parent.size() +
                   static_cast<std::size_t>(device)];
}

bool ReductionExecutor::others_arrived(int chunk, std::int32_t turn) const {
  return tree_.devices() == 1 &&
         arrivals(chunk, 0).count.load(std::memory_order_acquire) ==
             static_cast<std::int64_t>(learners()) * turn - 1;
}

bool ReductionExecutor::arrive(int chunk, std::int32_t turn, int device) {
  return arrivals(chunk, device).count.fetch_add(1, std::memory_order_acq_rel) + 1 ==
         parts_at(device) * turn;
}

void ReductionExecutor::note_added(int from, int to) {
  added_[static_cast<std::size_t>(from) * tree_.parent.size() +
         static_cast<std::size_t>(to)]
      .fetch_add(1, std::memory_order_relaxed);
}

std::vector<ExecutedEdge> ReductionExecutor::executed_edges() const {
  std::vector<ExecutedEdge> edges;
  for (int from = 0; from < tree_.devices(); ++from) {
    for (int to = 0; to < tree_.devices(); ++to) {
      const std::int64_t chunks =
          added_[static_cast<std::size_t>(from) * tree_.parent.size() +
                 static_cast<std::size_t>(to)]
              .load(std::memory_order_relaxed);
      if (chunks > 0) {
        edges.push_back({from, to, chunks});
      }
    }
  }
  return edges;
}

void ReductionExecutor::complete(int chunk, std::int32_t turn) {
  std::atomic<std::int32_t>& newest = completions_[static_cast<std::size_t>(chunk)].turn;
  std::int32_t before = turn - 1;
  // After an abort the entry keeps saying so.
  if (newest.compare_exchange_strong(before, turn, std::memory_order_acq_rel)) {
    newest.notify_all();
  }
}

void ReductionExecutor::abort() noexcept {
  for (int i = 0; i < chunks_; ++i) {
    completions_[static_cast<std::size_t>(i)].turn.store(aborted,
                                                         std::memory_order_release);
    completions_[static_cast<std::size_t>(i)].turn.notify_all();
  }
}

}  // namespace crossbow
