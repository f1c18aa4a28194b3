#pragma once
// Post-local SGD (DESIGN 2.4): synchronous SGD up to a round, local SGD from there on.
// When it changes, every learner gets the weights and the velocity that all have had in
// common.

#include <cstdint>
#include <memory>
#include <vector>

#include "base/wait.hpp"

#include "averaging/averaging_method.hpp"
#include "averaging/local_sgd.hpp"
#include "averaging/ssgd.hpp"

namespace crossbow {

template <class Exec>
class PostLocalSgd final : public AveragingMethod<Exec> {
 public:
  PostLocalSgd(const Exec& exec,
               const MethodOptions& options,
               const ReplicaStore<Exec>& store,
               const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return of(j).weights(j); }
  std::unique_ptr<GradientListener> make_listener(int j, const Exec& exec) override {
    return of(j).make_listener(j, exec);
  }
  /// Blocks in the first round of local SGD until all learners have their copies.
  bool begin_round(int j, const Exec& exec, const RoundRule& round) override;
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override {
    return of(j).finish_round(j, exec, round);
  }
  void collect(const Exec& exec) override { of(0).collect(exec); }
  Span<Exec> average() const override { return of(0).average(); }
  int distinct_replicas() const override { return of(0).distinct_replicas(); }
  void save(const Exec& exec, PackedTensors& tensors) const override {
    of(0).save(exec, tensors);
  }
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override;

 private:
  /// The method that learner j is in.
  AveragingMethod<Exec>& of(int j) {
    return phase_[static_cast<std::size_t>(j)].local ? as_method(local_) : ssgd_;
  }
  const AveragingMethod<Exec>& of(int j) const {
    return phase_[static_cast<std::size_t>(j)].local ? as_method(local_) : ssgd_;
  }
  static AveragingMethod<Exec>& as_method(LocalSgd<Exec>& method) { return method; }
  static const AveragingMethod<Exec>& as_method(const LocalSgd<Exec>& method) {
    return method;
  }

  /// Written by its learner, read by it and at rest. A cache line each.
  struct alignas(64) Phase {
    bool local = false;
  };

  const ReplicaStore<Exec>& store_;
  std::int64_t local_from_round_;
  Ssgd<Exec> ssgd_;
  LocalSgd<Exec> local_;
  std::vector<Phase> phase_;
  Rendezvous rendezvous_;
};

}  // namespace crossbow
