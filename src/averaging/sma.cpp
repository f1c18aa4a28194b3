#include "averaging/sma.hpp"

#include <algorithm>

#include "base/contract.hpp"

#include "averaging/replica_mean.hpp"

namespace crossbow {
namespace {

template <class Exec>
Span<Exec> slice(Span<Exec> vector, const Chunk& chunk) {
  return Span<Exec>(vector.data() + chunk.offset, static_cast<std::size_t>(chunk.size));
}

}  // namespace

template <class Exec>
Sma<Exec>::Sma(const Exec& exec,
               const MethodOptions& options,
               const ReplicaStore<Exec>& store,
               const ParameterLayout& layout)
    : store_(store),
      layout_(layout),
      alpha_(static_cast<float>(alpha_of(options.averaging, store.learners()))),
      mu_(static_cast<float>(averaging_momentum_of(options.averaging, options.eta))),
      period_(options.averaging.period),
      elements_(layout.size()),
      turns_of_learner_(static_cast<std::size_t>(store.learners()), 0),
      reduction_(
          exec, options.tree, learners_of_device(options, store.learners()), elements_) {
  for (Buffer<Exec>& z : z_) {
    z = Buffer<Exec>(
        Kokkos::view_alloc(exec, "crossbow::average_model", Kokkos::WithoutInitializing),
        static_cast<std::size_t>(elements_));
  }
}

template <class Exec>
void Sma<Exec>::touch(int j, const Exec& exec) {
  if (j == reduction_.first_learner_of_root()) {
    for (const Buffer<Exec>& z : z_) {
      Kokkos::deep_copy(exec, z, 0.0F);
    }
    exec.fence("crossbow::touch");
  }
}

template <class Exec>
std::int64_t Sma<Exec>::turn_of(std::int64_t round) const {
  return period_ == 0 ? 0 : round / period_ - first_turn_;
}

template <class Exec>
RoundOutcome Sma<Exec>::finish_round(int j, const Exec& exec, const RoundRule& round) {
  if (!round.averages) {
    return step_alone(exec, round.step, store_.replica(j));
  }
  for (int step = 0; step < reduction_.chunks(); ++step) {
    average_chunk(j, exec, round, reduction_.chunk(j, step));
  }
  turns_of_learner_[static_cast<std::size_t>(j)] = turn_of(round.number);
  return outcome_of(exec, store_.replica(j));
}

template <class Exec>
void Sma<Exec>::average_chunk(int j,
                              const Exec& exec,
                              const RoundRule& round,
                              const Chunk& chunk) {
  const std::int64_t turn = turn_of(round.number);
  const auto ledger_turn = static_cast<std::int32_t>(turn);
  const Replica<Exec> replica = store_.replica(j);
  const Span<Exec> z = slice<Exec>(average_of_turn(turn - 1), chunk);
  const SmaStep<Exec> step = {round.step,
                              alpha_,
                              slice<Exec>(replica.g, chunk),
                              z,
                              slice<Exec>(replica.w, chunk),
                              slice<Exec>(replica.v, chunk)};
  AverageUpdate<Exec> average = {mu_,
                                 {},
                                 z,
                                 slice<Exec>(average_of_turn(turn - 2), chunk),
                                 slice<Exec>(average_of_turn(turn), chunk)};
  reduction_.wait_complete(chunk, ledger_turn - 1);
  if (reduction_.others_arrived(chunk, ledger_turn)) {
    average.corrections = reduction_.all_corrections(chunk);
    sma_step_and_average<Exec>(exec, step, average, j, replica.not_finite);
    exec.fence("crossbow::average_chunk");
    reduction_.bring_added(chunk, ledger_turn);
    return;
  }
  sma_step<Exec>(exec, step, reduction_.corrections(j, chunk), replica.not_finite);
  exec.fence("crossbow::average_chunk");
  reduction_.bring(j, exec, chunk, ledger_turn, average);
}

/// With period "never" z is the mean of the replicas, made without touching one.
template <class Exec>
void Sma<Exec>::collect(const Exec& exec) {
  if (period_ == 0) {
    mean_of_replicas<Exec>(exec, store_, average_of_turn(0));
  }
}

template <class Exec>
void Sma<Exec>::restart(const Exec& exec) {
  const Span<Exec> z = average_of_turn(turns_done());
  for (int j = 0; j < store_.learners(); ++j) {
    Kokkos::deep_copy(exec, store_.replica(j).w, z);
  }
  Kokkos::deep_copy(exec, average_of_turn(turns_done() - 1), z);
  exec.fence("crossbow::restart");
}

template <class Exec>
void Sma<Exec>::save(const Exec& exec, PackedTensors& tensors) const {
  save_vector<Exec>(exec, layout_, "average/", average_of_turn(turns_done()), tensors);
  save_vector<Exec>(
      exec, layout_, "previous/", average_of_turn(turns_done() - 1), tensors);
}

template <class Exec>
void Sma<Exec>::restore(const Exec& exec,
                        const NamedTensors& tensors,
                        std::int64_t round) {
  load_vector<Exec>(exec, layout_, "average/", tensors, average_of_turn(0));
  load_vector<Exec>(exec, layout_, "previous/", tensors, average_of_turn(-1));
  first_turn_ = period_ == 0 ? 0 : round / period_;
}

#define CROSSBOW_INSTANTIATE(Exec) template class Sma<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
