#pragma once
// Downpour SGD (DESIGN 2.6), an asynchronous parameter server: every tau of its own
// rounds a learner adds to z what it has stepped since it last took z, and takes z.

#include <cstdint>
#include <mutex>

#include "averaging/own_replicas.hpp"

namespace crossbow {

template <class Exec>
class Downpour final : public OwnReplicas<Exec> {
 public:
  Downpour(const Exec& exec,
           const MethodOptions& options,
           const ReplicaStore<Exec>& store,
           const ParameterLayout& layout);

  /// Waits for nobody but him who holds z's lock.
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void save(const Exec& exec, PackedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override {}

 private:
  /// z as learner j took it last.
  Span<Exec> pulled(int j) const;

  using OwnReplicas<Exec>::layout;
  using OwnReplicas<Exec>::store;
  using OwnReplicas<Exec>::z;

  std::mutex mutex_;
  Buffer<Exec> pulled_;  // one part a learner
};

}  // namespace crossbow
