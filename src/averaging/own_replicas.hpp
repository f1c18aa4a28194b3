#pragma once
// What the methods have in common in which every learner computes with weights of its own
// and one average model lies beside them.

#include <cstdint>

#include "averaging/averaging_method.hpp"
#include "averaging/replica_mean.hpp"

namespace crossbow {

template <class Exec>
class OwnReplicas : public AveragingMethod<Exec> {
 public:
  Span<Exec> weights(int j) override { return store_.replica(j).w; }
  int distinct_replicas() const override { return store_.learners(); }
  Span<Exec> average() const override { return as_span(z_); }
  /// With period "never" z is the mean of the replicas, made without touching one.
  void collect(const Exec& exec) override {
    if (period_ == 0) {
      mean_of_replicas<Exec>(exec, store_, as_span(z_));
    }
  }
  void save(const Exec& exec, PackedTensors& tensors) const override {
    save_vector<Exec>(exec, layout_, "average/", as_span(z_), tensors);
  }
  void restore(const Exec& exec,
               const NamedTensors& tensors,
               std::int64_t /*round*/) override {
    load_vector<Exec>(exec, layout_, "average/", tensors, as_span(z_));
  }

 protected:
  OwnReplicas(const Exec& exec,
              const MethodOptions& options,
              const ReplicaStore<Exec>& store,
              const ParameterLayout& layout)
      : store_(store),
        layout_(layout),
        period_(options.averaging.period),
        z_(make_buffer(
            exec, "crossbow::average_model", static_cast<std::size_t>(layout.size()))) {}

  const ReplicaStore<Exec>& store() const { return store_; }
  const ParameterLayout& layout() const { return layout_; }
  Span<Exec> z() const { return as_span(z_); }
  std::int64_t period() const { return period_; }  // 0: never
  /// An array of `count` vectors as long as z.
  Buffer<Exec> make_vectors(const Exec& exec, const char* label, int count) const {
    return make_buffer(exec, label, static_cast<std::size_t>(count * layout_.size()));
  }

 private:
  const ReplicaStore<Exec>& store_;
  const ParameterLayout& layout_;
  std::int64_t period_;  // 0: never
  Buffer<Exec> z_;
};

}  // namespace crossbow
