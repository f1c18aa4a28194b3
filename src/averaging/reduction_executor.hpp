#pragma once
// Who adds up when: vectors are cut into chunks, every learner brings its part of each
// chunk to its device, and the last to come there adds all parts in a fixed order and
// brings the sum to the next device of the tree; who is last at the root completes the
// chunk. No extra thread, no barrier: a learner goes on to its next round as soon as its
// own parts are in. Learner j starts at chunk floor(jC/k) and goes round, so that last
// arrivals, and the sums, spread over the learners.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "topology/reduction_tree.hpp"

namespace crossbow {

/// Elements of a chunk; LeNet has 68 chunks, enough to spread.
inline constexpr std::int64_t reduction_chunk_elements =
    reduction_chunk_bytes / static_cast<std::int64_t>(sizeof(float));

/// Elements [offset, offset + size) of the vectors.
struct Chunk {
  int index = 0;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// How often a sum has gone from one device to another.
struct ExecutedEdge {
  int from = 0, to = 0;
  std::int64_t chunks = 0;

  bool operator==(const ExecutedEdge&) const = default;
};

/// The ledger of arrivals. Turns (reductions) are counted from 1; a learner brings its
/// part of turn a + 1 to a chunk only after the chunk is complete in turn a.
class ReductionExecutor {
 public:
  /// For learners of one device.
  ReductionExecutor(int learners, std::int64_t elements, std::int64_t chunk_elements);
  /// For the devices of a tree with so many learners on each (>= 1), in order.
  ReductionExecutor(ReductionTree tree,
                    const std::vector<int>& learners_of_device,
                    std::int64_t elements,
                    std::int64_t chunk_elements);

  int chunks() const { return chunks_; }
  const ReductionTree& tree() const { return tree_; }
  int learners() const { return first_learner_.back(); }
  int device_of(int j) const { return device_of_learner_[static_cast<std::size_t>(j)]; }
  /// The first learner of a device, and how many it has.
  int first_learner(int device) const {
    return first_learner_[static_cast<std::size_t>(device)];
  }
  int learners_of(int device) const {
    return first_learner(device + 1) - first_learner(device);
  }
  /// The `step`-th chunk that learner j works on, 0 <= step < chunks().
  Chunk chunk(int j, int step) const;

  /// Block until `chunk` is complete in `turn`: spin 20 µs, then sleep. Throws Aborted.
  void wait_complete(int chunk, std::int32_t turn) const;
  /// Whether nothing but the caller's part is missing: then it may add before arriving.
  /// Always false where there are several devices.
  bool others_arrived(int chunk, std::int32_t turn) const;
  /// Bring a part to a device: a learner's, or the sum of a device below. True for the
  /// last one, who has to add them and then bring the sum to the parent, or, at the root,
  /// complete the chunk.
  bool arrive(int chunk, std::int32_t turn, int device = 0);
  /// Note that the sum of device `from` has been added at device `to`.
  void note_added(int from, int to);
  /// Open the chunk for everybody who waits for `turn`.
  void complete(int chunk, std::int32_t turn);
  /// Wake all who wait; they leave by Aborted.
  void abort() noexcept;

  /// At rest: what note_added was told, by `from` and `to`.
  std::vector<ExecutedEdge> executed_edges() const;

 private:
  static constexpr std::int32_t aborted = INT32_MAX;

  struct alignas(64) Arrivals {
    std::atomic<std::int64_t> count{0};  // over all turns
  };
  struct alignas(64) Completion {
    std::atomic<std::int32_t> turn{0};  // newest complete one
  };

  std::int64_t parts_at(int device) const;
  Arrivals& arrivals(int chunk, int device) const;

  ReductionTree tree_;
  std::vector<int> first_learner_;  // by device, and in all
  std::vector<int> device_of_learner_;
  std::int64_t elements_, chunk_elements_;
  int chunks_;
  std::unique_ptr<Arrivals[]> arrivals_;  // (chunks, devices)
  std::unique_ptr<Completion[]> completions_;
  std::unique_ptr<std::atomic<std::int64_t>[]> added_;  // (devices, devices)
};

}  // namespace crossbow
