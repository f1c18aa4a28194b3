#pragma once
// What learners tell of themselves while they train: each writes its own cache line;
// others read when all learners rest.

#include <cstdint>
#include <vector>

#include "training/training_state.hpp"

namespace crossbow {

class ProgressBoard {
 public:
  /// All learners stand where `state` does, which may be of more or fewer learners.
  ProgressBoard(int learners, const TrainingState& state)
      : entries_(static_cast<std::size_t>(learners)) {
    for (Entry& each : entries_) {
      each.round = state.round;
      each.restart_pending = state.restart_pending;
    }
    entries_.front().losses = state.losses;
    for (std::size_t j = 0; j < state.loss_sums.size(); ++j) {
      entries_[j < entries_.size() ? j : 0].loss_sum += state.loss_sums[j];
    }
  }

  /// Learner j has done round t with this loss.
  void done(int j, std::int64_t t, double loss, bool restart_pending) {
    Entry& own = entry(j);
    own.round = t;
    own.loss_sum += loss;
    ++own.losses;
    own.last_loss = loss;
    own.restart_pending = restart_pending;
  }

  /// Learner j's last round and its loss; by itself, or at rest.
  std::int64_t round(int j) const { return entry(j).round; }
  double last_loss(int j) const { return entry(j).last_loss; }
  /// At rest: whether a restart of averaging waits; the same for all learners.
  bool restart_pending() const { return entries_.front().restart_pending; }
  /// At rest: losses of each learner since they were taken last.
  std::vector<double> loss_sums() const {
    std::vector<double> sums;
    sums.reserve(entries_.size());
    for (const Entry& each : entries_) {
      sums.push_back(each.loss_sum);
    }
    return sums;
  }
  /// At rest: how many losses these are the sums of.
  std::int64_t losses() const {
    std::int64_t count = 0;
    for (const Entry& each : entries_) {
      count += each.losses;
    }
    return count;
  }
  /// At rest: the mean of all losses since the last call.
  double take_mean_loss() {
    const auto count = static_cast<double>(losses());
    double sum = 0;
    for (Entry& each : entries_) {
      sum += each.loss_sum;
      each.loss_sum = 0;
      each.losses = 0;
    }
    return sum / count;
  }

 private:
  struct alignas(64) Entry {
    double loss_sum = 0;
    double last_loss = 0;
    std::int64_t round = 0;
    std::int64_t losses = 0;
    bool restart_pending = false;
  };

  Entry& entry(int j) { return entries_[static_cast<std::size_t>(j)]; }
  const Entry& entry(int j) const { return entries_[static_cast<std::size_t>(j)]; }

  std::vector<Entry> entries_;
};

}  // namespace crossbow
