#pragma once
// Local SGD (DESIGN 2.4): each learner steps on its own; every tau rounds z becomes the
// mean of the replicas and every replica z, velocities kept. Learners wait for each other
// in these rounds: nobody can go on before the mean is there.

#include <atomic>
#include <cstdint>

#include "base/wait.hpp"

#include "averaging/averaging_method.hpp"

namespace crossbow {

template <class Exec>
class LocalSgd final : public AveragingMethod<Exec> {
 public:
  LocalSgd(const Exec& exec,
           const MethodOptions& options,
           const ReplicaStore<Exec>& store,
           const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return store_.replica(j).w; }
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void collect(const Exec& exec) override;
  Span<Exec> average() const override { return as_span(z_); }
  int distinct_replicas() const override { return store_.learners(); }
  void save(const Exec& exec, NamedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override { rendezvous_.abort(); }

  /// At rest: z = `model`, as if it had just been averaged.
  void start_from(const Exec& exec, Span<Exec> model);

 private:
  /// False if the mean has a NaN or Inf; done on return.
  bool average_own_share(int j, const Exec& exec);

  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  std::int64_t period_;  // 0: never
  Buffer<Exec> z_;
  // The round in which something has a NaN or Inf. A number, since a learner that is
  // still in the last averaging round must not take what another meets in the next for
  // its own.
  std::atomic<std::int64_t> bad_round_{0};
  Rendezvous rendezvous_;
};

}  // namespace crossbow
