#pragma once
// Downpour SGD (DESIGN 2.6), an asynchronous parameter server: every tau of its own
// rounds a learner adds to z what it has stepped since it last took z, and takes z.

#include <cstdint>
#include <mutex>

#include "averaging/averaging_method.hpp"

namespace crossbow {

template <class Exec>
class Downpour final : public AveragingMethod<Exec> {
 public:
  Downpour(const Exec& exec,
           const MethodOptions& options,
           const ReplicaStore<Exec>& store,
           const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return store_.replica(j).w; }
  /// Waits for nobody but him who holds z's lock.
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
  /// z as learner j took it last.
  Span<Exec> pulled(int j) const;

  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  std::int64_t period_;  // 0: never
  std::mutex mutex_;
  Buffer<Exec> z_;       // under the lock
  Buffer<Exec> pulled_;  // one part a learner
};

}  // namespace crossbow
