#pragma once
// THE LOOP: k learner threads that take batches, compute gradients and are combined by
// the averaging method, with tests, checkpoints and restarts of averaging between rounds.

#include <cstdint>
#include <memory>
#include <vector>

#include "topology/placement.hpp"
#include "topology/reduction_tree.hpp"
#include "topology/topology.hpp"

#include "averaging/averaging_options.hpp"
#include "averaging/reduction_executor.hpp"
#include "data/sample_set.hpp"
#include "model/model_options.hpp"
#include "model/network_plan.hpp"
#include "training/training_observer.hpp"
#include "training/training_options.hpp"
#include "training/training_state.hpp"

namespace crossbow {

/// What a trainer is made for.
struct TrainerOptions {
  ModelOptions model;
  TrainingOptions training;
  OptimizerOptions optimizer;
  AveragingOptions averaging;
  double checkpoint_epochs = 0;  // 0: only at the end
  std::uint64_t seed = 1;
  bool shuffle = true;
  KernelSet kernels = KernelSet::vendor;
  int learners = 1;
  int threads = 1;     // per learner
  ReductionTree tree;  // over the devices that the learners are on, in order
  bool bind = true;
  std::shared_ptr<const Topology> topology;  // of this machine
  Placement placement;        // of `learners` with `threads` each; none: nothing is bound
  bool counts_setup = false;  // as training: the seconds in which learners are made
};

/// How a run ended.
struct TrainingEnd {
  bool finished = false;  // all epochs done, or the target reached
  bool target_reached = false;
  std::int64_t rounds = 0;
  std::int64_t samples = 0;
  double epochs = 0;
  double seconds = 0;               // of training since the start, tests excluded
  bool bound = true;                // whether learners could be kept on their cores
  std::vector<ExecutedEdge> edges;  // of the reduction tree, as executed
};

/// Run training on execution space Exec from `state` (none: from the start) to the end, a
/// stop or a failure; blocks. Throws Error(usage) where model, data and batch do not fit,
/// Error(numbers) for a NaN or Inf, naming the first bad learner, its round, rate and
/// layer; whatever `observer` throws ends the run as well.
template <class Exec>
TrainingEnd train(const TrainerOptions& options,
                  const SampleSet& training_set,
                  const SampleSet& test_set,
                  const TrainingState* state,
                  TrainingObserver& observer);

/// The network of `options` for images like those of `samples`.
NetworkPlan plan_for(const ModelOptions& options, const SampleSet& samples);

}  // namespace crossbow
