#include "averaging/reference.hpp"

#include "kernels/model_average.hpp"
#include "kernels/reference_average.hpp"

namespace crossbow {
namespace {

std::string reference_name(int d) {
  return "reference" + std::to_string(d) + "/";
}

}  // namespace

template <class Exec>
TwoLevelAveraging<Exec>::TwoLevelAveraging(const Exec& exec,
                                           const MethodOptions& options,
                                           const ReplicaStore<Exec>& store,
                                           const ParameterLayout& layout)
    : OwnReplicas<Exec>(exec, options, store, layout),
      devices_(options.tree.devices()),
      learners_per_device_(store.learners() / options.tree.devices()),
      alpha_inside_(1.0F / static_cast<float>(learners_per_device_ + 1)),
      alpha_across_(1.0F / static_cast<float>(devices_ + 1)),
      mu_(static_cast<float>(averaging_momentum_of(options.averaging, options.eta))),
      across_(devices_, layout.size(), reduction_chunk_elements) {
  c_ = this->make_vectors(exec, "crossbow::corrections", store.learners());
  q_ = this->make_vectors(exec, "crossbow::reference_models", devices_);
  z_prev_ = this->make_vectors(exec, "crossbow::previous_average_model", 1);
  for (int d = 0; d < devices_; ++d) {
    inside_.push_back(std::make_unique<ReductionExecutor>(
        learners_per_device_, layout.size(), reduction_chunk_elements));
  }
}

template <class Exec>
Span<Exec> TwoLevelAveraging<Exec>::part(const Buffer<Exec>& vectors,
                                         int index,
                                         const Chunk& chunk) const {
  return Span<Exec>(vectors.data() + index * layout().size() + chunk.offset,
                    static_cast<std::size_t>(chunk.size));
}

template <class Exec>
RoundOutcome TwoLevelAveraging<Exec>::finish_round(int j,
                                                   const Exec& exec,
                                                   const RoundRule& round) {
  for (int step = 0; step < across_.chunks(); ++step) {
    const ReductionExecutor& inside =
        *inside_[static_cast<std::size_t>(j / learners_per_device_)];
    average_chunk(j, exec, round, inside.chunk(j % learners_per_device_, step));
  }
  return outcome_of(exec, store().replica(j));
}

template <class Exec>
void TwoLevelAveraging<Exec>::average_chunk(int j,
                                            const Exec& exec,
                                            const RoundRule& round,
                                            const Chunk& chunk) {
  const int d = j / learners_per_device_;
  ReductionExecutor& inside = *inside_[static_cast<std::size_t>(d)];
  const auto turn = static_cast<std::int32_t>(round.number - first_round_);
  const Replica<Exec> own = store().replica(j);
  const auto slice = [&](Span<Exec> vector) {
    return Span<Exec>(vector.data() + chunk.offset, static_cast<std::size_t>(chunk.size));
  };
  const Span<Exec> q = part(q_, d, chunk);
  inside.wait_complete(chunk.index, turn - 1);
  sma_step<Exec>(exec,
                 {round.step, alpha_inside_, slice(own.g), q, slice(own.w), slice(own.v)},
                 part(c_, j, chunk),
                 own.not_finite);
  exec.fence("crossbow::average_chunk");
  if (!inside.arrive(chunk.index, turn)) {
    return;
  }
  const Summands<Exec> corrections{part(c_, d * learners_per_device_, chunk).data(),
                                   layout().size(),
                                   learners_per_device_};
  average_update<Exec>(exec, {0, corrections, q, q, q});
  exec.fence("crossbow::average_chunk");
  if (!round.averages) {
    inside.complete(chunk.index, turn);
    return;
  }
  const auto turn_across = static_cast<std::int32_t>(round.number / this->period() -
                                                     first_round_ / this->period());
  if (across_.arrive(chunk.index, turn_across)) {
    reference_average<Exec>(exec,
                            {alpha_across_,
                             mu_,
                             devices_,
                             layout().size(),
                             part(q_, 0, chunk),
                             slice(z()),
                             slice(as_span(z_prev_))});
    exec.fence("crossbow::average_chunk");
    complete_all(chunk, turn);
  }
}

template <class Exec>
void TwoLevelAveraging<Exec>::complete_all(const Chunk& chunk, std::int32_t turn) {
  for (const auto& inside : inside_) {
    inside->complete(chunk.index, turn);
  }
}

template <class Exec>
void TwoLevelAveraging<Exec>::restart(const Exec& exec) {
  for (int j = 0; j < store().learners(); ++j) {
    Kokkos::deep_copy(exec, store().replica(j).w, z());
  }
  for (int d = 0; d < devices_; ++d) {
    Kokkos::deep_copy(exec, part(q_, d, whole()), z());
  }
  Kokkos::deep_copy(exec, as_span(z_prev_), z());
  exec.fence("crossbow::restart");
}

template <class Exec>
void TwoLevelAveraging<Exec>::save(const Exec& exec, PackedTensors& tensors) const {
  OwnReplicas<Exec>::save(exec, tensors);
  save_vector<Exec>(exec, layout(), "previous/", as_span(z_prev_), tensors);
  for (int d = 0; d < devices_; ++d) {
    save_vector<Exec>(exec, layout(), reference_name(d), part(q_, d, whole()), tensors);
  }
}

template <class Exec>
void TwoLevelAveraging<Exec>::restore(const Exec& exec,
                                      const NamedTensors& tensors,
                                      std::int64_t round) {
  OwnReplicas<Exec>::restore(exec, tensors, round);
  load_vector<Exec>(exec, layout(), "previous/", tensors, as_span(z_prev_));
  for (int d = 0; d < devices_; ++d) {
    const std::string own = reference_name(d);
    const bool saved = tensors.count(own + layout().slots().front().name) > 0;
    // At the start every reference model is z.
    load_vector<Exec>(
        exec, layout(), saved ? own : "average/", tensors, part(q_, d, whole()));
  }
  first_round_ = round;
}

template <class Exec>
void TwoLevelAveraging<Exec>::abort() noexcept {
  across_.abort();
  for (const auto& inside : inside_) {
    inside->abort();
  }
}

#define CROSSBOW_INSTANTIATE(Exec) template class TwoLevelAveraging<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
