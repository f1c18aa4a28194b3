#pragma once
// Who adds up when: vectors are cut into chunks, every learner brings its part of each
// chunk, and the last to come adds all parts in a fixed order and completes the chunk. No
// extra thread, no barrier: a learner goes on to its next round as soon as its own parts
// are in. Learner j starts at chunk floor(jC/k) and goes round, so that last arrivals,
// and the sums, spread over the learners.

#include <atomic>
#include <cstdint>
#include <memory>

namespace crossbow {

/// Elements of a chunk: 64 KiB of each vector, so that a chunk of all of them fits a
/// second-level cache of 1 MiB; LeNet has 68 chunks, enough to spread.
inline constexpr std::int64_t reduction_chunk_elements = 16384;

/// Elements [offset, offset + size) of the vectors.
struct Chunk {
  int index = 0;
  std::int64_t offset = 0;
  std::int64_t size = 0;
};

/// The ledger of arrivals. Turns (reductions) are counted from 1; a learner brings its
/// part of turn a + 1 to a chunk only after the chunk is complete in turn a.
class ReductionExecutor {
 public:
  ReductionExecutor(int learners, std::int64_t elements, std::int64_t chunk_elements);

  int chunks() const { return chunks_; }
  /// The `step`-th chunk that learner j works on, 0 <= step < chunks().
  Chunk chunk(int j, int step) const;

  /// Block until `chunk` is complete in `turn`: spin 20 µs, then sleep. Throws Aborted.
  void wait_complete(int chunk, std::int32_t turn) const;
  /// Whether all other learners have brought their part: then the caller may add before
  /// arriving.
  bool others_arrived(int chunk, std::int32_t turn) const;
  /// Bring a part. True for the last one, who has to add and then complete the chunk.
  bool arrive(int chunk, std::int32_t turn);
  /// Open the chunk for everybody who waits for `turn`.
  void complete(int chunk, std::int32_t turn);
  /// Wake all who wait; they leave by Aborted.
  void abort() noexcept;

 private:
  static constexpr std::int32_t aborted = INT32_MAX;

  struct alignas(64) Entry {
    std::atomic<std::int64_t> arrivals{0};  // over all turns
    std::atomic<std::int32_t> complete{0};  // newest complete turn
  };

  int learners_;
  std::int64_t elements_, chunk_elements_;
  int chunks_;
  std::unique_ptr<Entry[]> entries_;
};

}  // namespace crossbow
