#pragma once
// Local SGD (DESIGN 2.4): each learner steps on its own; every tau rounds z becomes the
// mean of the replicas and every replica z, velocities kept. Learners wait for each other
// in these rounds: nobody can go on before the mean is there.

#include <atomic>
#include <cstdint>

#include "base/wait.hpp"

#include "averaging/own_replicas.hpp"

namespace crossbow {

template <class Exec>
class LocalSgd final : public OwnReplicas<Exec> {
 public:
  LocalSgd(const Exec& exec,
           const MethodOptions& options,
           const ReplicaStore<Exec>& store,
           const ParameterLayout& layout);

  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void abort() noexcept override { rendezvous_.abort(); }

  /// At rest: z = `model`, as if it had just been averaged.
  void start_from(const Exec& exec, Span<Exec> model);

 private:
  /// False if the mean has a NaN or Inf; done on return.
  bool average_own_share(int j, const Exec& exec);

  using OwnReplicas<Exec>::layout;
  using OwnReplicas<Exec>::store;
  using OwnReplicas<Exec>::z;

  // The round in which something has a NaN or Inf. A number, since a learner that is
  // still in the last averaging round must not take what another meets in the next for
  // its own.
  std::atomic<std::int64_t> bad_round_{0};
  Rendezvous rendezvous_;
};

}  // namespace crossbow
