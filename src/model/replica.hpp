#pragma once
// The memory of the learners' replicas on one device: weights w_j, gradients g_j,
// velocities v_j and batch-norm statistics, each as one array for all learners so that
// kernels can sum over them.

#include <cstdint>

#include "kernels/sgd_update.hpp"
#include "kernels/spaces.hpp"

namespace crossbow {

/// The arrays of one learner.
template <class Exec>
struct Replica {
  Span<Exec> w, g, v;     // parameters().size() elements
  Span<Exec> statistics;  // statistics().size() elements, may be none
  NotFiniteFlag<Exec> not_finite;
};

struct ReplicaSizes {
  int learners = 1;
  std::int64_t parameters = 0;
  std::int64_t statistics = 0;
};

template <class Exec>
class ReplicaStore {
 public:
  /// Allocate without touching, so that each learner's pages come to lie near its own
  /// core.
  ReplicaStore(const Exec& exec, const ReplicaSizes& sizes) : sizes_(sizes) {
    w_ = untouched<float>(exec, "crossbow::weights", sizes.parameters);
    g_ = untouched<float>(exec, "crossbow::gradients", sizes.parameters);
    v_ = untouched<float>(exec, "crossbow::velocities", sizes.parameters);
    statistics_ = untouched<float>(exec, "crossbow::statistics", sizes.statistics);
    not_finite_ = untouched<std::uint32_t>(exec, "crossbow::not_finite", 1);
    average_not_finite_ =
        make_buffer<std::uint32_t>(exec, "crossbow::average_not_finite", 1);
  }

  /// Fill learner j's part with zeros. To be called by the learner's own thread.
  void touch(const Exec& exec, int j) const {
    const Replica<Exec> mine = replica(j);
    Kokkos::deep_copy(exec, mine.w, 0.0F);
    Kokkos::deep_copy(exec, mine.g, 0.0F);
    Kokkos::deep_copy(exec, mine.v, 0.0F);
    Kokkos::deep_copy(exec, mine.statistics, 0.0F);
    Kokkos::deep_copy(exec, mine.not_finite, 0U);
  }

  Replica<Exec> replica(int j) const {
    return {part(w_, j, sizes_.parameters),
            part(g_, j, sizes_.parameters),
            part(v_, j, sizes_.parameters),
            part(statistics_, j, sizes_.statistics),
            part(not_finite_, j, 1)};
  }

  int learners() const { return sizes_.learners; }
  /// The flag of means over all learners that are taken at rest: no learner's own.
  NotFiniteFlag<Exec> average_not_finite() const { return as_span(average_not_finite_); }
  /// The same elements, from `offset` on, of all learners' weights, gradients or
  /// statistics.
  Summands<Exec> all_weights(std::int64_t offset = 0) const {
    return all(w_, offset, sizes_.parameters);
  }
  Summands<Exec> all_gradients(std::int64_t offset) const {
    return all(g_, offset, sizes_.parameters);
  }
  Summands<Exec> all_statistics() const { return all(statistics_, 0, sizes_.statistics); }

 private:
  // [elements] of 4 KiB: at most one page holds parts of two learners.
  static constexpr std::int64_t page = 1024;

  static std::int64_t stride(std::int64_t size) {
    return (size + page - 1) / page * page;
  }

  template <class T>
  Buffer<Exec, T> untouched(const Exec& exec,
                            const char* label,
                            std::int64_t size) const {
    const auto elements = static_cast<std::size_t>(sizes_.learners * stride(size));
    return Buffer<Exec, T>(
        Kokkos::view_alloc(exec, std::string(label), Kokkos::WithoutInitializing),
        elements);
  }

  template <class T>
  Span<Exec, T> part(const Buffer<Exec, T>& all, int j, std::int64_t size) const {
    return Span<Exec, T>(all.data() + j * stride(size), static_cast<std::size_t>(size));
  }

  Summands<Exec> all(const Buffer<Exec>& values,
                     std::int64_t offset,
                     std::int64_t size) const {
    return {values.data() + offset, stride(size), sizes_.learners};
  }

  ReplicaSizes sizes_;
  Buffer<Exec> w_, g_, v_, statistics_;
  Buffer<Exec, std::uint32_t> not_finite_, average_not_finite_;
};

}  // namespace crossbow
