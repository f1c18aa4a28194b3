#include "averaging/downpour.hpp"

#include <string>

#include "kernels/shared_model.hpp"

#include "averaging/replica_mean.hpp"
#include "model/host_transfer.hpp"

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
    : store_(store), layout_(layout), period_(options.averaging.period) {
  const auto n = static_cast<std::size_t>(layout.size());
  const auto k = static_cast<std::size_t>(store.learners());
  z_ = make_buffer(exec, "crossbow::average_model", n);
  pulled_ = make_buffer(exec, "crossbow::pulled_models", k * n);
}

template <class Exec>
Span<Exec> Downpour<Exec>::pulled(int j) const {
  return Span<Exec>(pulled_.data() + j * layout_.size(),
                    static_cast<std::size_t>(layout_.size()));
}

template <class Exec>
RoundOutcome Downpour<Exec>::finish_round(int j,
                                          const Exec& exec,
                                          const RoundRule& round) {
  const Replica<Exec> own = store_.replica(j);
  sgd_update<Exec>(exec, round.step, own.g, own.w, own.v, own.not_finite);
  if (read_scalar<Exec>(exec, own.not_finite) != 0) {
    return RoundOutcome::bad_here;
  }
  if (round.averages) {
    const std::lock_guard lock(mutex_);
    exchange_steps<Exec>(exec, as_span(z_), own.w, pulled(j));
    exec.fence("crossbow::downpour");
  }
  return RoundOutcome::good;
}

/// With period "never" z is the mean of the replicas, made without touching one.
template <class Exec>
void Downpour<Exec>::collect(const Exec& exec) {
  if (period_ == 0) {
    mean_of_replicas<Exec>(exec, store_, as_span(z_));
  }
}

template <class Exec>
void Downpour<Exec>::save(const Exec& exec, NamedTensors& tensors) const {
  save_vector<Exec>(exec, layout_, "average/", as_span(z_), tensors);
  for (int j = 0; j < store_.learners(); ++j) {
    save_vector<Exec>(exec, layout_, pulled_name(j), pulled(j), tensors);
  }
}

template <class Exec>
void Downpour<Exec>::restore(const Exec& exec,
                             const NamedTensors& tensors,
                             std::int64_t /*round*/) {
  load_vector<Exec>(exec, layout_, "average/", tensors, as_span(z_));
  for (int j = 0; j < store_.learners(); ++j) {
    const std::string name = pulled_name(j);
    if (tensors.count(name + layout_.slots().front().name) > 0) {
      load_vector<Exec>(exec, layout_, name, tensors, pulled(j));
    } else {
      // At the start a replica is what it has taken.
      Kokkos::deep_copy(exec, pulled(j), store_.replica(j).w);
    }
  }
  exec.fence("crossbow::downpour");
}

#define CROSSBOW_INSTANTIATE(Exec) template class Downpour<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
