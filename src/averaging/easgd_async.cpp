#include "averaging/easgd_async.hpp"

#include "kernels/model_average.hpp"

#include "averaging/replica_mean.hpp"
#include "model/host_transfer.hpp"

namespace crossbow {

template <class Exec>
EasgdAsync<Exec>::EasgdAsync(const Exec& exec,
                             const MethodOptions& options,
                             const ReplicaStore<Exec>& store,
                             const ParameterLayout& layout)
    : store_(store),
      layout_(layout),
      alpha_(static_cast<float>(alpha_of(options.averaging, store.learners()))),
      period_(options.averaging.period) {
  const auto n = static_cast<std::size_t>(layout.size());
  z_ = make_buffer(exec, "crossbow::average_model", n);
  c_ = make_buffer(exec, "crossbow::corrections", n);
}

template <class Exec>
RoundOutcome EasgdAsync<Exec>::finish_round(int j,
                                            const Exec& exec,
                                            const RoundRule& round) {
  if (round.averages) {
    return exchange(j, exec, round.step) ? RoundOutcome::good : RoundOutcome::bad_here;
  }
  const Replica<Exec> own = store_.replica(j);
  sgd_update<Exec>(exec, round.step, own.g, own.w, own.v, own.not_finite);
  const bool good = read_scalar<Exec>(exec, own.not_finite) == 0;
  return good ? RoundOutcome::good : RoundOutcome::bad_here;
}

/// The step with its correction, which goes to z unless something is bad.
template <class Exec>
bool EasgdAsync<Exec>::exchange(int j, const Exec& exec, const StepRule& rule) {
  const Replica<Exec> own = store_.replica(j);
  const Span<Exec> z = as_span(z_);
  const std::lock_guard lock(mutex_);
  sma_step<Exec>(
      exec, {rule, alpha_, own.g, z, own.w, own.v}, as_span(c_), own.not_finite);
  if (read_scalar<Exec>(exec, own.not_finite) != 0) {
    return false;
  }
  average_update<Exec>(exec, {0, {c_.data(), 0, 1}, z, z, z});
  exec.fence("crossbow::easgd_async");
  return true;
}

/// With period "never" z is the mean of the replicas, made without touching one.
template <class Exec>
void EasgdAsync<Exec>::collect(const Exec& exec) {
  if (period_ == 0) {
    mean_of_replicas<Exec>(exec, store_, as_span(z_));
  }
}

template <class Exec>
void EasgdAsync<Exec>::save(const Exec& exec, NamedTensors& tensors) const {
  save_vector<Exec>(exec, layout_, "average/", as_span(z_), tensors);
}

template <class Exec>
void EasgdAsync<Exec>::restore(const Exec& exec,
                               const NamedTensors& tensors,
                               std::int64_t /*round*/) {
  load_vector<Exec>(exec, layout_, "average/", tensors, as_span(z_));
}

#define CROSSBOW_INSTANTIATE(Exec) template class EasgdAsync<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
