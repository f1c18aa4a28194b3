#pragma once
// Whether a training fits into memory, before anything of it is allocated.

#include <cstdint>
#include <optional>

#include "averaging/averaging_options.hpp"
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

/// What that depends on.
struct MemoryInput {
  AveragingMethodName method = AveragingMethodName::sma;
  int batch = 1;     // per learner
  int learners = 1;  // on all devices
  std::int64_t test_samples = 1;
};

MemoryNeed memory_need(const NetworkPlan& plan, const MemoryInput& input);

/// Whether it is within `limit` [bytes] (run.memory_limit; none: what this process can
/// have at most).
bool fits_memory(const MemoryNeed& need, std::optional<double> limit);

/// Throw Error(usage) that says how much is needed for what if it does not fit.
void check_memory(const MemoryNeed& need, std::optional<double> limit);

}  // namespace crossbow
