#pragma once
// Hogwild (DESIGN 2.7): one model, which every learner copies before its forward pass and
// adds its step to, without any lock. Copies and additions are relaxed atomic operations,
// so no addition is lost and nothing is undefined, but a copy may hold parts of several
// steps: that is the method. Kernels and vendor libraries only ever see the copies. Host
// only.

#include <cstdint>

#include "averaging/averaging_method.hpp"

namespace crossbow {

template <class Exec>
class Hogwild final : public AveragingMethod<Exec> {
 public:
  Hogwild(const Exec& exec,
          const ReplicaStore<Exec>& store,
          const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return store_.replica(j).w; }
  bool begin_round(int j, const Exec& exec, const RoundRule& round) override;
  /// Waits for nobody. A step with a NaN or Inf is not added.
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  Span<Exec> average() const override { return as_span(z_); }
  int distinct_replicas() const override { return store_.learners(); }
  void save(const Exec& exec, NamedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override {}

 private:
  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  Buffer<Exec> z_;
};

}  // namespace crossbow
