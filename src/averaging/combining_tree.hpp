#pragma once
// The sum of all learners' corrections, travelling along the reduction tree chunk by
// chunk: the last to bring a part to a device adds all parts there in the fixed order,
// the device's learners first and then the devices below, and brings the sum to the next
// device; at the root it makes z of it (DESIGN 2, "Task engine").

#include <cstdint>
#include <vector>

#include "kernels/model_average.hpp"
#include "kernels/spaces.hpp"

#include "averaging/reduction_executor.hpp"

namespace crossbow {

template <class Exec>
class CombiningTree {
 public:
  /// Corrections of `elements` each for learners_of_device[d] learners on each device d
  /// of `tree`, not touched yet: each learner's come to lie near who writes them first.
  CombiningTree(const Exec& exec,
                const ReductionTree& tree,
                const std::vector<int>& learners_of_device,
                std::int64_t elements);

  int chunks() const { return ledger_.chunks(); }
  int first_learner_of_root() const { return ledger_.first_learner(ledger_.tree().root); }
  Chunk chunk(int j, int step) const { return ledger_.chunk(j, step); }
  void wait_complete(const Chunk& chunk, std::int32_t turn) const {
    ledger_.wait_complete(chunk.index, turn);
  }
  /// Whether all but the caller's corrections of a chunk are here, on one device: then it
  /// may add its own without storing them, and bring none (bring_added).
  bool others_arrived(const Chunk& chunk, std::int32_t turn) const {
    return ledger_.others_arrived(chunk.index, turn);
  }

  /// Learner j's corrections of a chunk, which it writes and then brings. Those of a
  /// device's first learner become the device's sum.
  Span<Exec> corrections(int j, const Chunk& chunk) const {
    return Span<Exec>(c_.data() + j * elements_ + chunk.offset,
                      static_cast<std::size_t>(chunk.size));
  }
  /// All corrections of one device's tree, as they are added.
  Summands<Exec> all_corrections(const Chunk& chunk) const {
    return {c_.data() + chunk.offset, elements_, ledger_.learners()};
  }

  /// Learner j's corrections are written: add whatever is complete by that, up to z if
  /// everything is (`average` without corrections). Done on return.
  void bring(int j,
             const Exec& exec,
             const Chunk& chunk,
             std::int32_t turn,
             AverageUpdate<Exec> average);
  /// The caller has added everybody's corrections and made z.
  void bring_added(const Chunk& chunk, std::int32_t turn) {
    ledger_.arrive(chunk.index, turn);
    ledger_.complete(chunk.index, turn);
  }

  std::vector<ExecutedEdge> executed_edges() const { return ledger_.executed_edges(); }
  void abort() noexcept { ledger_.abort(); }

 private:
  void add_up(int device, const Exec& exec, const Chunk& chunk);

  std::int64_t elements_;
  Buffer<Exec> c_;  // (learners, elements)
  ReductionExecutor ledger_;
};

}  // namespace crossbow
