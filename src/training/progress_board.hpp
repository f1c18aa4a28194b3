#pragma once
// What learners tell of themselves while they train: each writes its own cache line;
// others read when all learners rest.

#include <cstdint>
#include <vector>

namespace crossbow {

class ProgressBoard {
 public:
  /// All learners have done `round` rounds; `loss_sums` of an earlier run, or empty.
  ProgressBoard(int learners,
                std::int64_t round,
                bool restart_pending,
                const std::vector<double>& loss_sums)
      : entries_(static_cast<std::size_t>(learners)) {
    for (std::size_t j = 0; j < entries_.size(); ++j) {
      entries_[j].round = round;
      entries_[j].restart_pending = restart_pending;
      entries_[j].loss_sum = j < loss_sums.size() ? loss_sums[j] : 0;
    }
  }

  /// Learner j has done round t with this loss.
  void done(int j, std::int64_t t, double loss, bool restart_pending) {
    Entry& own = entry(j);
    own.round = t;
    own.loss_sum += loss;
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
  /// At rest: the sum of all losses since the last call.
  double take_loss_sum() {
    double sum = 0;
    for (Entry& each : entries_) {
      sum += each.loss_sum;
      each.loss_sum = 0;
    }
    return sum;
  }

 private:
  struct alignas(64) Entry {
    double loss_sum = 0;
    double last_loss = 0;
    std::int64_t round = 0;
    bool restart_pending = false;
  };

  Entry& entry(int j) { return entries_[static_cast<std::size_t>(j)]; }
  const Entry& entry(int j) const { return entries_[static_cast<std::size_t>(j)]; }

  std::vector<Entry> entries_;
};

}  // namespace crossbow
