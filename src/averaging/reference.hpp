#pragma once
// Averaging in two levels (DESIGN 2.8): inside a device every round pulls its replicas
// and its reference model q_d together; every tau rounds the reference models and z are
// pulled together, z with momentum.
//
// Overlapped like sma, chunk by chunk: the last learner of a device to bring a chunk's
// corrections moves q_d there, and in averaging rounds the last device to have done so
// moves z and every q_d. A learner waits for its own device's q_d only, and only when it
// computes its next corrections.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "averaging/own_replicas.hpp"
#include "averaging/reduction_executor.hpp"

namespace crossbow {

template <class Exec>
class TwoLevelAveraging final : public OwnReplicas<Exec> {
 public:
  /// k must be a multiple of options.devices.
  TwoLevelAveraging(const Exec& exec,
                    const MethodOptions& options,
                    const ReplicaStore<Exec>& store,
                    const ParameterLayout& layout);

  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void restart(const Exec& exec) override;
  void save(const Exec& exec, PackedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override;

 private:
  void average_chunk(int j, const Exec& exec, const RoundRule& round, const Chunk& chunk);
  /// Chunk `chunk` of every q_d is what it is after `turn`.
  void complete_all(const Chunk& chunk, std::int32_t turn);
  Span<Exec> part(const Buffer<Exec>& vectors, int index, const Chunk& chunk) const;
  Chunk whole() const { return {0, 0, layout().size()}; }

  using OwnReplicas<Exec>::layout;
  using OwnReplicas<Exec>::store;
  using OwnReplicas<Exec>::z;

  int devices_, learners_per_device_;
  float alpha_inside_, alpha_across_, mu_;
  std::int64_t first_round_ = 0;
  Buffer<Exec> c_;  // corrections, one part a learner
  Buffer<Exec> q_;  // reference models, one part a device
  Buffer<Exec> z_prev_;
  std::vector<std::unique_ptr<ReductionExecutor>> inside_;  // by device
  ReductionExecutor across_;
};

}  // namespace crossbow
