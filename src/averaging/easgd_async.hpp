#pragma once
// Asynchronous elastic averaging SGD (DESIGN 2.2; with Nesterov learners EAMSGD): sma's
// exchange with no momentum of z, by each learner at its own pace under z's lock.

#include <cstdint>
#include <mutex>

#include "averaging/averaging_method.hpp"

namespace crossbow {

template <class Exec>
class EasgdAsync final : public AveragingMethod<Exec> {
 public:
  EasgdAsync(const Exec& exec,
             const MethodOptions& options,
             const ReplicaStore<Exec>& store,
             const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return store_.replica(j).w; }
  /// Waits for nobody but him who holds the lock.
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void collect(const Exec& exec) override;
  Span<Exec> average() const override { return as_span(z_); }
  int distinct_replicas() const override { return store_.learners(); }
  void save(const Exec& exec, NamedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override {}

 private:
  bool exchange(int j, const Exec& exec, const StepRule& rule);

  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  float alpha_;
  std::int64_t period_;  // 0: never
  std::mutex mutex_;
  Buffer<Exec> z_;  // under the lock
  Buffer<Exec> c_;  // of the learner that holds it
};

}  // namespace crossbow
