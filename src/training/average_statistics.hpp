#pragma once
// Batch-norm statistics of the average model (DESIGN 2, "Batch normalisation of z"), in
// buffers of its own: the mean of the replicas' running statistics, or measured anew by
// forward passes of z over training samples.

#include <cstdint>

#include "kernels/spaces.hpp"

#include "model/model_options.hpp"
#include "model/replica.hpp"
#include "training/learner.hpp"

namespace crossbow {

template <class Exec>
class AverageStatistics {
 public:
  /// `elements` of statistics in all, 0 where the network has none; batches of `batch`
  /// samples, of which an epoch has `batches_per_epoch`.
  AverageStatistics(const Exec& exec,
                    const BatchNormOptions& options,
                    const ReplicaSizes& sizes,
                    std::int64_t batch,
                    std::int64_t batches_per_epoch);

  Span<Exec> span() const { return as_span(statistics_); }
  /// Whether all learners have to call `measure` before they are what z needs.
  bool is_measured() const { return measured_batches_ > 0; }

  /// At rest, by one thread: the mean of the replicas'; done on return.
  void average(const Exec& exec, const ReplicaStore<Exec>& store) const;
  /// At rest, by every learner j of k for itself: forward passes of z over its share of
  /// the first batches of epoch 0; done on return.
  void measure(Learner<Exec>& learner, Span<Exec> z, int j) const;
  /// Then, by one thread: the mean over all these batches; done on return.
  void combine(const Exec& exec, const ReplicaStore<Exec>& store) const;

 private:
  ReplicaSizes sizes_;
  float momentum_;
  std::int64_t measured_batches_ = 0;
  Buffer<Exec> statistics_;
  Buffer<Exec> sums_;     // over a learner's batches, one part a learner
  Buffer<Exec> scratch_;  // of one batch, one part a learner
};

}  // namespace crossbow
