#include "driver/memory_need.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/memory_limit.hpp"

#include "driver/topology_drawing.hpp"
#include "training/evaluator.hpp"

namespace crossbow {

MemoryNeed memory_need(const NetworkPlan& plan, const MemoryInput& input) {
  double parameters = 0;
  for (const NamedShape& tensor : tensors_of(plan).parameters) {
    double elements = sizeof(float);
    for (const std::int64_t extent : tensor.shape) {
      elements *= static_cast<double>(extent);
    }
    parameters += elements;
  }
  const double outputs = activation_bytes(plan);  // of one image
  const double k = input.learners;
  const auto tested = static_cast<double>(test_batch(plan, input.test_samples));
  MemoryNeed need;
  need.replicas = parameters * (3 * k + 1);  // w, g, v; z
  if (can_restart(input.method)) {
    need.replicas += parameters * (k + 1);  // corrections; z_prev
  }
  need.activations = outputs * k * (2.0 * input.batch + tested);
  need.checkpoint = parameters * (has_own_weights(input.method) ? 2 * k + 1 : 3);
  return need;
}

namespace {

MemoryLimit bound_of(std::optional<double> limit) {
  MemoryLimit bound = memory_limit();
  if (limit.has_value() && *limit < static_cast<double>(bound.bytes)) {
    bound = {static_cast<std::int64_t>(*limit), "run.memory_limit"};
  }
  return bound;
}

bool fits(const MemoryNeed& need, const MemoryLimit& bound) {
  return need.total() <= static_cast<double>(bound.bytes);
}

}  // namespace

bool fits_memory(const MemoryNeed& need, std::optional<double> limit) {
  return fits(need, bound_of(limit));
}

void check_memory(const MemoryNeed& need, std::optional<double> limit) {
  const MemoryLimit bound = bound_of(limit);
  CROSSBOW_VALIDATE(
      fits(need, bound),
      ExitCode::usage,
      {fmt::format("the training needs about {} of memory", bytes_text(need.total())),
       fmt::format(
           "{} for replicas, {} for activations, {} for the copy that checkpoints "
           "are written from; {} has {}",
           bytes_text(need.replicas),
           bytes_text(need.activations),
           bytes_text(need.checkpoint),
           bound.owner,
           bytes_text(static_cast<double>(bound.bytes))),
       "",
       "Lower training.batch or the number of learners, or use a smaller network"});
}

}  // namespace crossbow
