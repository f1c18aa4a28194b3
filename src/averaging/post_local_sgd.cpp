#include "averaging/post_local_sgd.hpp"

namespace crossbow {

template <class Exec>
PostLocalSgd<Exec>::PostLocalSgd(const Exec& exec,
                                 const MethodOptions& options,
                                 const ReplicaStore<Exec>& store,
                                 const ParameterLayout& layout)
    : store_(store),
      local_from_round_(options.local_from_round),
      ssgd_(exec, options, store, layout),
      local_(exec, options, store, layout),
      phase_(static_cast<std::size_t>(store.learners())),
      rendezvous_(store.learners()) {}

template <class Exec>
bool PostLocalSgd<Exec>::begin_round(int j, const Exec& exec, const RoundRule& round) {
  Phase& phase = phase_[static_cast<std::size_t>(j)];
  if (phase.local || round.number < local_from_round_) {
    return false;
  }
  // The last round ended with all steps made: what all have in common, replica 0's
  // arrays, changes again in learner 0's next step only, behind the rendezvous.
  const Replica<Exec> common = store_.replica(0);
  const Replica<Exec> own = store_.replica(j);
  if (j == 0) {
    local_.start_from(exec, common.w);
  } else {
    Kokkos::deep_copy(exec, own.w, common.w);
    Kokkos::deep_copy(exec, own.v, common.v);
    exec.fence("crossbow::post_local_sgd");
  }
  rendezvous_.arrive_and_wait();
  phase.local = true;
  return true;
}

template <class Exec>
void PostLocalSgd<Exec>::restore(const Exec& exec,
                                 const NamedTensors& tensors,
                                 std::int64_t round) {
  for (Phase& phase : phase_) {
    phase.local = round >= local_from_round_;
  }
  of(0).restore(exec, tensors, round);
}

template <class Exec>
void PostLocalSgd<Exec>::abort() noexcept {
  ssgd_.abort();
  local_.abort();
  rendezvous_.abort();
}

#define CROSSBOW_INSTANTIATE(Exec) template class PostLocalSgd<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
