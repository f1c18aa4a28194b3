#pragma once
// Synchronous SGD (DESIGN 2.3), the baseline: g = mean of g_j, one velocity, z -= rate v,
// w_j = z.
//
// All learners compute with z itself, so nothing is copied. Gradients are summed tensor
// by tensor during backward, by the last learner to have one (with clipping, which needs
// a learner's whole gradient, after it); the step, which needs all flags, is made then,
// each learner doing its share of the elements.

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/wait.hpp"

#include "averaging/averaging_method.hpp"

namespace crossbow {

template <class Exec>
class Ssgd final : public AveragingMethod<Exec> {
 public:
  Ssgd(const Exec& exec,
       const MethodOptions& options,
       const ReplicaStore<Exec>& store,
       const ParameterLayout& layout);
  ~Ssgd() override = default;

  Span<Exec> weights(int) override { return store_.replica(0).w; }
  std::unique_ptr<GradientListener> make_listener(int j, const Exec& exec) override;
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  Span<Exec> average() const override { return store_.replica(0).w; }
  int distinct_replicas() const override { return 1; }
  void save(const Exec& exec, PackedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override { rendezvous_.abort(); }

 private:
  class Listener;

  /// The mean gradient: with one learner simply its own.
  float* gradient() const {
    return store_.learners() > 1 ? mean_gradient_.data() : store_.replica(0).g.data();
  }
  void add_up(const Exec& exec, std::int64_t offset, std::int64_t size);
  bool is_bad(const Exec& exec) const;
  void step_own_share(int j, const Exec& exec, const StepRule& rule);

  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  bool clips_;
  Buffer<Exec> mean_gradient_;                       // none with one learner
  std::vector<std::atomic<std::int64_t>> arrivals_;  // by tensor, over all rounds
  Rendezvous rendezvous_;
};

}  // namespace crossbow
