#include "averaging/hogwild.hpp"

#include "kernels/shared_model.hpp"

#include "model/host_transfer.hpp"

namespace crossbow {

template <class Exec>
Hogwild<Exec>::Hogwild(const Exec& exec,
                       const ReplicaStore<Exec>& store,
                       const ParameterLayout& layout)
    : store_(store),
      layout_(layout),
      z_(make_buffer(
          exec, "crossbow::average_model", static_cast<std::size_t>(layout.size()))) {}

template <class Exec>
bool Hogwild<Exec>::begin_round(int j, const Exec& exec, const RoundRule& /*round*/) {
  load_relaxed<Exec>(exec, as_span(z_), store_.replica(j).w);
  exec.fence("crossbow::hogwild");
  return false;
}

template <class Exec>
RoundOutcome Hogwild<Exec>::finish_round(int j,
                                         const Exec& exec,
                                         const RoundRule& round) {
  const Replica<Exec> own = store_.replica(j);
  sgd_step_of<Exec>(exec, round.step, own.g, own.w, own.v, own.not_finite);
  if (read_scalar<Exec>(exec, own.not_finite) != 0) {
    return RoundOutcome::bad_here;
  }
  add_relaxed<Exec>(exec, own.g, as_span(z_));
  exec.fence("crossbow::hogwild");
  return RoundOutcome::good;
}

template <class Exec>
void Hogwild<Exec>::save(const Exec& exec, NamedTensors& tensors) const {
  save_vector<Exec>(exec, layout_, "average/", as_span(z_), tensors);
}

template <class Exec>
void Hogwild<Exec>::restore(const Exec& exec,
                            const NamedTensors& tensors,
                            std::int64_t /*round*/) {
  load_vector<Exec>(exec, layout_, "average/", tensors, as_span(z_));
}

#define CROSSBOW_INSTANTIATE(Exec) template class Hogwild<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
