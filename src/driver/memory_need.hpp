#pragma once
// Whether a training fits into memory, before anything of it is allocated.

#include <cstdint>
#include <optional>

#include "model/network_plan.hpp"

namespace crossbow {

/// What a training is sure to allocate, more or less [bytes]: in doubles, since a deck
/// may ask for more than any integer holds.
struct MemoryNeed {
  double replicas = 0;     // of each learner w, g, v and corrections; z
  double activations = 0;  // outputs and their gradients, in training and in tests
  double checkpoint = 0;   // the copy that is written while training goes on
  double total() const { return replicas + activations + checkpoint; }
};

/// For `learners` of `batch` samples each.
MemoryNeed memory_need(const NetworkPlan& plan, int batch, int learners);

/// Throw Error(usage) that says how much is needed for what if it is more than `limit`
/// [bytes] (run.memory_limit; none: what this process can have at most).
void check_memory(const MemoryNeed& need, std::optional<double> limit);

}  // namespace crossbow
