#pragma once
// Hogwild (DESIGN 2.7): one model, which every learner copies before its forward pass and
// adds its step to, without any lock. Copies and additions are relaxed atomic operations,
// so no addition is lost and nothing is undefined, but a copy may hold parts of several
// steps: that is the method. Kernels and vendor libraries only ever see the copies. Host
// only.

#include <cstdint>

#include "averaging/own_replicas.hpp"

namespace crossbow {

template <class Exec>
class Hogwild final : public OwnReplicas<Exec> {
 public:
  Hogwild(const Exec& exec,
          const MethodOptions& options,
          const ReplicaStore<Exec>& store,
          const ParameterLayout& layout);

  bool begin_round(int j, const Exec& exec, const RoundRule& round) override;
  /// Waits for nobody. A step with a NaN or Inf is not added.
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  /// z is always what all have written; there is no period.
  void collect(const Exec& /*exec*/) override {}
  void abort() noexcept override {}

 private:
  using OwnReplicas<Exec>::layout;
  using OwnReplicas<Exec>::store;
  using OwnReplicas<Exec>::z;
};

}  // namespace crossbow
