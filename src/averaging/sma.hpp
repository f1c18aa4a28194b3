#pragma once
// Synchronous model averaging (DESIGN 2.1) and, with no momentum of z, elastic averaging
// SGD (DESIGN 2.2), overlapped with learning: z is needed by the next averaging round's
// corrections only, so a learner that has brought its corrections goes on at once.
//
// z rotates through three buffers: turn a reads z(a-1) and z(a-2) and writes z(a). A
// buffer is overwritten only by the turn after the next, which every learner reaches only
// with good numbers, so a round that fails leaves the last two good average models whole.

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/model_average.hpp"

#include "averaging/averaging_method.hpp"
#include "averaging/combining_tree.hpp"

namespace crossbow {

template <class Exec>
class Sma final : public AveragingMethod<Exec> {
 public:
  Sma(const Exec& exec,
      const MethodOptions& options,
      const ReplicaStore<Exec>& store,
      const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return store_.replica(j).w; }
  /// z lies near the root of the tree.
  void touch(int j, const Exec& exec) override;
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  void collect(const Exec& exec) override;
  Span<Exec> average() const override { return average_of_turn(turns_done()); }
  int distinct_replicas() const override { return store_.learners(); }
  void restart(const Exec& exec) override;
  void save(const Exec& exec, PackedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  std::vector<ExecutedEdge> executed_edges() const override {
    return reduction_.executed_edges();
  }
  void abort() noexcept override { reduction_.abort(); }

 private:
  /// The buffer that z of `turn` lies in.
  Span<Exec> average_of_turn(std::int64_t turn) const {
    return as_span(z_[static_cast<std::size_t>((turn + 3) % 3)]);
  }

  /// Averaging rounds up to `round`, counted from where this run started.
  std::int64_t turn_of(std::int64_t round) const;
  /// At rest: averagings since this run started.
  std::int64_t turns_done() const { return turns_of_learner_.front(); }
  void average_chunk(int j, const Exec& exec, const RoundRule& round, const Chunk& chunk);

  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  float alpha_, mu_;
  std::int64_t period_;  // 0: never
  std::int64_t first_turn_ = 0;
  std::int64_t elements_;
  std::array<Buffer<Exec>, 3> z_;  // z of turn a is z_[a mod 3]
  std::vector<std::int64_t>
      turns_of_learner_;  // each written by its learner, read at rest
  CombiningTree<Exec> reduction_;
};

}  // namespace crossbow
