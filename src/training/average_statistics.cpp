#include "training/average_statistics.hpp"

#include <algorithm>

#include "kernels/elementwise.hpp"

namespace crossbow {

template <class Exec>
AverageStatistics<Exec>::AverageStatistics(const Exec& exec,
                                           const BatchNormOptions& options,
                                           const ReplicaSizes& sizes,
                                           std::int64_t batch,
                                           std::int64_t batches_per_epoch)
    : sizes_(sizes), momentum_(static_cast<float>(options.momentum)) {
  const auto elements = static_cast<std::size_t>(sizes.statistics);
  statistics_ = make_buffer(exec, "crossbow::average_statistics", elements);
  if (options.statistics == BatchNormStatistics::recompute && elements > 0) {
    measured_batches_ =
        std::min((options.samples + batch - 1) / batch, batches_per_epoch);
    const auto all = static_cast<std::size_t>(sizes.learners) * elements;
    sums_ = make_buffer(exec, "crossbow::statistics_sums", all);
    scratch_ = make_buffer(exec, "crossbow::statistics_of_a_batch", all);
  }
}

template <class Exec>
void AverageStatistics<Exec>::average(const Exec& exec,
                                      const ReplicaStore<Exec>& store) const {
  if (sizes_.statistics > 0) {
    scaled_sum<Exec>(exec,
                     1.0F / static_cast<float>(sizes_.learners),
                     store.all_statistics(),
                     span(),
                     store.average_not_finite());
    exec.fence("crossbow::average_statistics");
  }
}

/// A forward pass leaves momentum times the batch's statistics where the running ones
/// were zero: their sum, divided by the momentum, is what is wanted.
template <class Exec>
void AverageStatistics<Exec>::measure(Learner<Exec>& learner, Span<Exec> z, int j) const {
  const auto size = static_cast<std::size_t>(sizes_.statistics);
  const Span<Exec> sums(sums_.data() + j * sizes_.statistics, size);
  const Span<Exec> scratch(scratch_.data() + j * sizes_.statistics, size);
  const Exec& exec = learner.exec();
  Kokkos::deep_copy(exec, sums, 0.0F);
  for (std::int64_t b = j; b < measured_batches_; b += sizes_.learners) {
    Kokkos::deep_copy(exec, scratch, 0.0F);
    learner.forward_with(z, scratch, b);
    add<Exec>(exec, sums, scratch, sums);
  }
  exec.fence("crossbow::measure_statistics");
}

template <class Exec>
void AverageStatistics<Exec>::combine(const Exec& exec,
                                      const ReplicaStore<Exec>& store) const {
  scaled_sum<Exec>(exec,
                   1.0F / (momentum_ * static_cast<float>(measured_batches_)),
                   {sums_.data(), sizes_.statistics, sizes_.learners},
                   span(),
                   store.average_not_finite());
  exec.fence("crossbow::measure_statistics");
}

#define CROSSBOW_INSTANTIATE(Exec) template class AverageStatistics<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
