#include "averaging/hogwild.hpp"

#include "kernels/shared_model.hpp"

namespace crossbow {

template <class Exec>
Hogwild<Exec>::Hogwild(const Exec& exec,
                       const MethodOptions& options,
                       const ReplicaStore<Exec>& store,
                       const ParameterLayout& layout)
    : OwnReplicas<Exec>(exec, options, store, layout) {}

template <class Exec>
bool Hogwild<Exec>::begin_round(int j, const Exec& exec, const RoundRule& /*round*/) {
  load_relaxed<Exec>(exec, z(), store().replica(j).w);
  exec.fence("crossbow::hogwild");
  return false;
}

template <class Exec>
RoundOutcome Hogwild<Exec>::finish_round(int j,
                                         const Exec& exec,
                                         const RoundRule& round) {
  const Replica<Exec> own = store().replica(j);
  sgd_step_of<Exec>(exec, round.step, own.g, own.w, own.v, own.not_finite);
  const RoundOutcome outcome = outcome_of(exec, own);
  if (outcome == RoundOutcome::good) {
    add_relaxed<Exec>(exec, own.g, z());
    exec.fence("crossbow::hogwild");
  }
  return outcome;
}

#define CROSSBOW_INSTANTIATE(Exec) template class Hogwild<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
