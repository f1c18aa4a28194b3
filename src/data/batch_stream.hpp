#pragma once
// Training data as one endless stream of batches (DESIGN 2, "Batches"). Epoch e is a
// permutation of the samples that is a pure function of (seed, e), cut into floor(N/b)
// full batches; what is left over is skipped in this epoch. As batch number -> samples is
// a function without history, a resumed run, or one with another number of learners,
// meets the samples that it should.

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace crossbow {

/// Give the samples 0..n_samples-1 in the order of `epoch` (Fisher and Yates).
std::vector<std::int64_t> epoch_permutation(std::int64_t n_samples,
                                            std::uint64_t seed,
                                            std::int64_t epoch);

/// Maps batch numbers to samples, for any number of threads. Keeps the permutations of
/// two epochs, as a round may straddle them; cursors keep theirs alive a little longer.
class BatchStream {
 public:
  /// Throw Error(usage) if a batch is larger than the data, Error(data) if there is none.
  BatchStream(std::int64_t n_samples,
              std::int64_t batch,
              std::uint64_t seed,
              bool shuffle);

  std::int64_t batch() const { return batch_; }
  std::int64_t batches_per_epoch() const { return batches_per_epoch_; }
  std::int64_t samples_per_epoch() const { return batches_per_epoch_ * batch_; }

  /// Fill `out` (batch) with the samples of batch `number`, counted from 0 at the start
  /// of training. Takes a lock; a learner's Cursor does not.
  void indices(std::int64_t number, std::span<std::int64_t> out) const;

  class Cursor;

 private:
  struct Epoch {
    std::int64_t number;
    std::vector<std::int64_t> order;
  };
  using EpochPointer = std::shared_ptr<const Epoch>;

  EpochPointer epoch(std::int64_t number) const;
  void fill_in_file_order(std::int64_t place, std::span<std::int64_t> out) const;
  void fill(const Epoch& epoch, std::int64_t place, std::span<std::int64_t> out) const;

  std::int64_t n_samples_;
  std::int64_t batch_;
  std::int64_t batches_per_epoch_;
  std::uint64_t seed_;
  bool shuffle_;
  mutable std::mutex mutex_;
  mutable std::array<EpochPointer, 2> recent_;
};

/// One thread's view of a stream, which must outlive it: remembers the epoch of its last
/// batch, so that a lock is taken once an epoch only.
class BatchStream::Cursor {
 public:
  explicit Cursor(const BatchStream& stream) : stream_(&stream) {}

  /// As BatchStream::indices, for the one thread that owns the cursor.
  void indices(std::int64_t number, std::span<std::int64_t> out);

 private:
  const BatchStream* stream_;
  EpochPointer epoch_;
};

}  // namespace crossbow
