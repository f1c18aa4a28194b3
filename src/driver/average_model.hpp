#pragma once
// The average model of a checkpoint at work: what `evaluate` and `predict` share.

#include <string>
#include <vector>

#include "io/dataset_file.hpp"

#include "data/sample_set.hpp"
#include "model/network_plan.hpp"
#include "model/parameter_layout.hpp"
#include "training/evaluator.hpp"

namespace crossbow {

struct AverageModel {
  NetworkPlan plan;
  PixelScale scale;
  AugmentOptions augment;                // of its training: how tests cut images
  std::vector<std::string> class_names;  // (classes) or empty
  NamedTensors tensors;                  // average/..., average_statistics/...
};

/// Throws Error(data) naming `path` for what is missing in it or impossible.
AverageModel load_average_model(const std::string& path);

/// Run the model on all samples, cut to the size that it takes; `logits`, where given,
/// becomes (samples, classes). Needs Kokkos. Throws Error(data) if the network does not
/// take such images or classes.
EvaluationResult evaluate_average(const AverageModel& model,
                                  const SampleSet& samples,
                                  std::vector<float>* logits);

}  // namespace crossbow
