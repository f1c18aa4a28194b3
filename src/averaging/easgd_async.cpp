#include "averaging/easgd_async.hpp"

#include "kernels/model_average.hpp"

namespace crossbow {

template <class Exec>
EasgdAsync<Exec>::EasgdAsync(const Exec& exec,
                             const MethodOptions& options,
                             const ReplicaStore<Exec>& store,
                             const ParameterLayout& layout)
    : OwnReplicas<Exec>(exec, options, store, layout),
      alpha_(static_cast<float>(alpha_of(options.averaging, store.learners()))),
      c_(this->make_vectors(exec, "crossbow::corrections", 1)) {}

template <class Exec>
RoundOutcome EasgdAsync<Exec>::finish_round(int j,
                                            const Exec& exec,
                                            const RoundRule& round) {
  return round.averages ? exchange(j, exec, round.step)
                        : step_alone(exec, round.step, store().replica(j));
}

/// The step with its correction, which goes to z unless something is bad.
template <class Exec>
RoundOutcome EasgdAsync<Exec>::exchange(int j, const Exec& exec, const StepRule& rule) {
  const Replica<Exec> own = store().replica(j);
  const Span<Exec> shared = z();
  const std::lock_guard lock(mutex_);
  sma_step<Exec>(
      exec, {rule, alpha_, own.g, shared, own.w, own.v}, as_span(c_), own.not_finite);
  const RoundOutcome outcome = outcome_of(exec, own);
  if (outcome != RoundOutcome::good) {
    return outcome;
  }
  average_update<Exec>(exec, {0, {c_.data(), 0, 1}, shared, shared, shared});
  exec.fence("crossbow::easgd_async");
  return outcome;
}

#define CROSSBOW_INSTANTIATE(Exec) template class EasgdAsync<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
