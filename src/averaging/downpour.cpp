#include "averaging/downpour.hpp"

#include <string>

#include "kernels/shared_model.hpp"

namespace crossbow {
namespace {

std::string pulled_name(int j) {
  return "pulled" + std::to_string(j) + "/";
}

}  // namespace

template <class Exec>
Downpour<Exec>::Downpour(const Exec& exec,
                         const MethodOptions& options,
                         const ReplicaStore<Exec>& store,
                         const ParameterLayout& layout)
    : OwnReplicas<Exec>(exec, options, store, layout),
      pulled_(this->make_vectors(exec, "crossbow::pulled_models", store.learners())) {}

template <class Exec>
Span<Exec> Downpour<Exec>::pulled(int j) const {
  return Span<Exec>(pulled_.data() + j * layout().size(),
                    static_cast<std::size_t>(layout().size()));
}

template <class Exec>
RoundOutcome Downpour<Exec>::finish_round(int j,
                                          const Exec& exec,
                                          const RoundRule& round) {
  const Replica<Exec> own = store().replica(j);
  const RoundOutcome outcome = step_alone(exec, round.step, own);
  if (round.averages && outcome == RoundOutcome::good) {
    const std::lock_guard lock(mutex_);
    exchange_steps<Exec>(exec, z(), own.w, pulled(j));
    exec.fence("crossbow::downpour");
  }
  return outcome;
}

template <class Exec>
void Downpour<Exec>::save(const Exec& exec, PackedTensors& tensors) const {
  OwnReplicas<Exec>::save(exec, tensors);
  for (int j = 0; j < store().learners(); ++j) {
    save_vector<Exec>(exec, layout(), pulled_name(j), pulled(j), tensors);
  }
}

template <class Exec>
void Downpour<Exec>::restore(const Exec& exec,
                             const NamedTensors& tensors,
                             std::int64_t round) {
  OwnReplicas<Exec>::restore(exec, tensors, round);
  for (int j = 0; j < store().learners(); ++j) {
    const std::string name = pulled_name(j);
    if (tensors.count(name + layout().slots().front().name) > 0) {
      load_vector<Exec>(exec, layout(), name, tensors, pulled(j));
    } else {
      // At the start a replica is what it has taken.
      Kokkos::deep_copy(exec, pulled(j), store().replica(j).w);
    }
  }
  exec.fence("crossbow::downpour");
}

#define CROSSBOW_INSTANTIATE(Exec) template class Downpour<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
