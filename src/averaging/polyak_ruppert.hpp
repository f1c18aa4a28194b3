#pragma once
// Polyak-Ruppert averaging (DESIGN 2.5): the iterates are synchronous SGD's, z is their
// mean over all rounds so far, initial weights not counted.

#include <cstdint>
#include <memory>

#include "averaging/averaging_method.hpp"
#include "averaging/ssgd.hpp"

namespace crossbow {

template <class Exec>
class PolyakRuppert final : public AveragingMethod<Exec> {
 public:
  PolyakRuppert(const Exec& exec,
                const MethodOptions& options,
                const ReplicaStore<Exec>& store,
                const ParameterLayout& layout);

  Span<Exec> weights(int j) override { return ssgd_.weights(j); }
  std::unique_ptr<GradientListener> make_listener(int j, const Exec& exec) override {
    return ssgd_.make_listener(j, exec);
  }
  RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) override;
  Span<Exec> average() const override { return as_span(z_); }
  int distinct_replicas() const override { return 1; }
  void save(const Exec& exec, PackedTensors& tensors) const override;
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t round) override;
  void abort() noexcept override { ssgd_.abort(); }

 private:
  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  Ssgd<Exec> ssgd_;
  Buffer<Exec> z_;
};

}  // namespace crossbow
