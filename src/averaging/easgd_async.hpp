#pragma once
// Asynchronous elastic averaging SGD (DESIGN 2.2; with Nesterov learners EAMSGD): sma's
// exchange with no momentum of z, by each learner at its own pace under z's lock.

#include <cstdint>
#include <mutex>

#include "averaging/own_replicas.hpp"

namespace crossbow {

template <class Exec>
class EasgdAsync final : public OwnReplicas<Exec> {
 public:
  EasgdAsync(const Exec& exec,
             const MethodOptions& options,
             const ReplicaStore<Exec>& store,
             const ParameterLayout& layout);

  /// Waits for nobody but him who holds the lock.
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void abort() noexcept override {}

 private:
  RoundOutcome exchange(int j, const Exec& exec, const StepRule& rule);

  using OwnReplicas<Exec>::layout;
  using OwnReplicas<Exec>::store;
  using OwnReplicas<Exec>::z;

  float alpha_;
  std::mutex mutex_;
  Buffer<Exec> c_;  // of the learner that holds it
};

}  // namespace crossbow
