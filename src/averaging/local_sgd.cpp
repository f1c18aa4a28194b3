#include "averaging/local_sgd.hpp"

#include "averaging/replica_mean.hpp"

namespace crossbow {

template <class Exec>
LocalSgd<Exec>::LocalSgd(const Exec& exec,
                         const MethodOptions& options,
                         const ReplicaStore<Exec>& store,
                         const ParameterLayout& layout)
    : OwnReplicas<Exec>(exec, options, store, layout), rendezvous_(store.learners()) {}

template <class Exec>
RoundOutcome LocalSgd<Exec>::finish_round(int j,
                                          const Exec& exec,
                                          const RoundRule& round) {
  const Replica<Exec> own = store().replica(j);
  const RoundOutcome step = step_alone(exec, round.step, own);
  if (!round.averages) {
    return step;
  }
  const bool good = step == RoundOutcome::good;
  if (!good) {
    // The rendezvous orders it.
    bad_round_.store(round.number, std::memory_order_relaxed);
  }
  rendezvous_.arrive_and_wait();
  if (bad_round_.load(std::memory_order_relaxed) == round.number) {
    return good ? RoundOutcome::bad_somewhere : step;
  }
  if (!average_own_share(j, exec)) {
    bad_round_.store(round.number, std::memory_order_relaxed);
  }
  rendezvous_.arrive_and_wait();
  if (bad_round_.load(std::memory_order_relaxed) == round.number) {
    return RoundOutcome::bad_somewhere;  // the mean itself overflows
  }
  // Nobody writes z again before all have come to the next averaging, and so copied this.
  Kokkos::deep_copy(exec, own.w, z());
  exec.fence("crossbow::local_sgd");
  return RoundOutcome::good;
}

template <class Exec>
bool LocalSgd<Exec>::average_own_share(int j, const Exec& exec) {
  const Chunk share = share_of_learner(layout().size(), j, store().learners());
  scaled_sum<Exec>(
      exec,
      1.0F / static_cast<float>(store().learners()),
      store().all_weights(share.offset),
      Span<Exec>(z().data() + share.offset, static_cast<std::size_t>(share.size)),
      store().replica(j).not_finite);
  return outcome_of(exec, store().replica(j)) == RoundOutcome::good;
}

template <class Exec>
void LocalSgd<Exec>::start_from(const Exec& exec, Span<Exec> model) {
  Kokkos::deep_copy(exec, z(), model);
  exec.fence("crossbow::local_sgd");
}

#define CROSSBOW_INSTANTIATE(Exec) template class LocalSgd<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
