#pragma once
// Helpers of the tests of averaging methods: learners that drive a method by hand with
// made-up gradients, and what becomes of them in double.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.hpp"
#include "base/wait.hpp"

#include "kernels/testing.hpp"

#include "averaging/averaging_method.hpp"
#include "model/host_transfer.hpp"

namespace crossbow::testing {

using Host = Kokkos::Serial;
using Doubles = std::vector<double>;

/// Tensors of odd sizes in three chunks of 16384 elements.
inline ParameterLayout odd_layout() {
  ParameterLayout layout;
  layout.add("a.weight", {3, 5}, identity_layout(15));
  layout.add("a.bias", {17}, identity_layout(17));
  layout.add("b.weight", {61, 541}, identity_layout(33001));
  return layout;
}

/// What a round does, from its number.
using RuleOf = std::function<RoundRule(std::int64_t t)>;

inline RuleOf averaging_every(std::int64_t period, StepRule step = {0.05F, 0.9F, 0.01F}) {
  return [=](std::int64_t t) {
    return RoundRule{t, step, period > 0 && t % period == 0};
  };
}

/// Gradient of learner `stream` in round t: numbers in [-1, 1), padding zero.
inline std::vector<float> gradient_of(const ParameterLayout& layout,
                                      int stream,
                                      std::int64_t t) {
  std::vector<float> g(static_cast<std::size_t>(layout.size()), 0.0F);
  for (const ParameterSlot& slot : layout.slots()) {
    const auto seed = static_cast<std::uint64_t>(1000 * t + stream);
    const auto values = random_values(slot.size, seed * 37 + slot.name.size());
    std::copy(values.begin(), values.end(), g.begin() + slot.offset);
  }
  return g;
}

/// What learners start from.
enum class Start {
  apart,    // each from weights of its own, so that what pulls them together shows
  together  // all from z, as a run does
};

/// k learners under a method, as far as the method sees them.
class Fleet {
 public:
  /// `streams`: whose gradients and first weights each learner has; none: its own.
  Fleet(int k,
        const MethodOptions& options,
        std::vector<int> streams = {},
        Start start = Start::apart)
      : layout(odd_layout()),
        store(exec, {k, layout.size(), 0}),
        method(make_averaging_method(exec, options, store, layout)),
        streams_(std::move(streams)) {
    NamedTensors tensors;
    layout.unpack(gradient_of(layout, 99, 0), "average/", tensors);
    layout.unpack(gradient_of(layout, 98, 0), "previous/", tensors);
    for (int d = 0; d < options.tree.devices(); ++d) {
      const std::string prefix = "reference" + std::to_string(d) + "/";
      layout.unpack(gradient_of(layout, 90 + d, 0), prefix, tensors);
    }
    for (int j = 0; j < k; ++j) {
      store.touch(exec, j);
      method->touch(j, exec);
      const int first_weights = start == Start::apart ? stream(j) : 99;
      set(store.replica(j).w, gradient_of(layout, first_weights, 0));
    }
    if (method->distinct_replicas() == 1) {
      set(store.replica(0).w, gradient_of(layout, 99, 0));
    }
    method->restore(exec, tensors, 0);
  }

  int learners() const { return store.learners(); }
  int stream(int j) const {
    return streams_.empty() ? j : streams_[static_cast<std::size_t>(j)];
  }

  void set(Span<Host> vector, const std::vector<float>& values) const {
    to_device<Host, float>(exec, values, vector);
  }
  std::vector<float> get(Span<Host> vector) const { return to_host<Host>(exec, vector); }
  std::vector<float> w(int j) const { return get(store.replica(j).w); }
  std::vector<float> v(int j) const { return get(store.replica(j).v); }
  std::vector<float> z() const { return get(method->average()); }

  /// What the method saves.
  NamedTensors saved_tensors() const {
    PackedTensors packed;
    method->save(exec, packed);
    NamedTensors tensors;
    packed.unpack(tensors);
    return tensors;
  }
  /// What the method saves under `prefix`, as one vector.
  std::vector<float> saved(const std::string& prefix) const {
    const NamedTensors tensors = saved_tensors();
    std::vector<float> vector(static_cast<std::size_t>(layout.size()));
    layout.pack(tensors, prefix, vector);
    return vector;
  }

  /// Learner j's round with the gradient `g`.
  bool one_round(int j,
                 const Host& own_exec,
                 const RoundRule& rule,
                 const std::vector<float>& g) const {
    method->begin_round(j, own_exec, rule);
    return end_round(j, own_exec, rule, g);
  }

  /// What comes after begin_round.
  bool end_round(int j,
                 const Host& own_exec,
                 const RoundRule& rule,
                 const std::vector<float>& g) const {
    // The gradient is made up, so it does not matter whether weights(j) has moved.
    const auto listener = method->make_listener(j, own_exec);
    set(store.replica(j).g, g);
    if (listener != nullptr) {
      for (auto slot = layout.slots().rbegin(); slot != layout.slots().rend(); ++slot) {
        listener->gradient_ready(slot->offset, slot->size);
      }
    }
    return method->finish_round(j, own_exec, rule) == RoundOutcome::good;
  }

  /// Rounds first to last of all learners, each in its own thread at its own pace, with
  /// random delays where delay_seed is not 0.
  void run(std::int64_t first,
           std::int64_t last,
           const RuleOf& rule,
           std::uint64_t delay_seed = 0) const {
    in_threads(learners(), [&](int j) {
      const Host own_exec = make_instance<Host>(1);
      for (std::int64_t t = first; t <= last; ++t) {
        if (delay_seed > 0) {
          random_delay(delay_seed,
                       static_cast<std::uint64_t>(j),
                       static_cast<std::uint64_t>(t),
                       std::chrono::microseconds(500));
        }
        EXPECT_TRUE(one_round(j, own_exec, rule(t), gradient_of(layout, stream(j), t)))
            << "learner " << j << ", round " << t;
      }
    });
  }

  Host exec = make_instance<Host>(1);
  ParameterLayout layout;
  ReplicaStore<Host> store;
  std::unique_ptr<AveragingMethod<Host>> method;

 private:
  std::vector<int> streams_;
};

/// Everything that a run leaves, for comparisons.
struct FleetState {
  std::vector<std::vector<float>> w, v;
  std::vector<float> z;
};

inline FleetState state_of(const Fleet& fleet) {
  FleetState state;
  for (int j = 0; j < fleet.method->distinct_replicas(); ++j) {
    state.w.push_back(fleet.w(j));
    state.v.push_back(fleet.v(j));
  }
  state.z = fleet.saved("average/");
  return state;
}

inline void expect_same_bits(const FleetState& a, const FleetState& b) {
  ASSERT_EQ(a.w.size(), b.w.size());
  for (std::size_t j = 0; j < a.w.size(); ++j) {
    expect_same_bits(a.w[j], b.w[j], "w of " + std::to_string(j));
    expect_same_bits(a.v[j], b.v[j], "v of " + std::to_string(j));
  }
  expect_same_bits(a.z, b.z, "z");
}

}  // namespace crossbow::testing
