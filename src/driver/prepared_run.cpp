#include "driver/prepared_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

#include "topology/probe.hpp"

#include "data/batch_stream.hpp"

namespace crossbow {
namespace {

/// Training and test set must show the same kind of thing.
void check_same_kind(const Dataset& a, const Dataset& b) {
  CROSSBOW_VALIDATE(
      a.h == b.h && a.w == b.w && a.c == b.c,
      ExitCode::data,
      {fmt::format("the training images are {}x{}x{} but the test images {}x{}x{}",
                   a.h,
                   a.w,
                   a.c,
                   b.h,
                   b.w,
                   b.c),
       "",
       b.source,
       "Name two splits of one data set in data.train and data.test"});
  CROSSBOW_VALIDATE(
      b.classes <= a.classes,
      ExitCode::data,
      {fmt::format(
           "the test set has {} classes but the training set {}", b.classes, a.classes),
       "",
       b.source,
       "Name two splits of one data set in data.train and data.test"});
}

TrainerOptions trainer_options(const RunConfig& config) {
  TrainerOptions options;
  options.model = config.model;
  options.training = config.training;
  options.optimizer = config.optimizer;
  options.averaging = config.averaging;
  options.checkpoint_epochs = config.checkpoint.every_epochs;
  options.seed = config.run.seed;
  options.shuffle = config.data.shuffle;
  options.learners = config.learners.per_device;  // the host is one device
  options.bind = config.learners.bind;
  options.topology = std::make_shared<const Topology>(probe_live());
  options.threads =
      threads_per_learner(config.learners, options.learners, *options.topology);
  options.placement =
      place_learners(*options.topology, options.learners, options.threads);
  return options;
}

}  // namespace

int threads_per_learner(const LearnerOptions& options,
                        int learners,
                        const Topology& topology) {
  if (options.threads > 0) {
    return options.threads;
  }
  const int cores = static_cast<int>(topology.cores().size());
  return std::max(1, cores / learners);
}

PreparedRun prepare_run(const RunConfig& config,
                        const DataSearch& search,
                        const Notice& notice) {
  PreparedRun run;
  run.config = config;
  run.training_data = load_data(config.data.train, Split::train, search, notice);
  run.test_data = load_data(config.data.test, Split::test, search, notice);
  check_same_kind(run.training_data, run.test_data);
  run.mean = config.data.mean.value_or(run.training_data.mean);
  run.std = config.data.std.value_or(run.training_data.std);
  CROSSBOW_VALIDATE(run.std > 0,
                    ExitCode::data,
                    {"all pixels of the training set are equal",
                     "their standard deviation is 0",
                     run.training_data.source,
                     "Use another data set, or set data.std"});
  run.scale = pixel_scale(run.mean, run.std);
  run.options = trainer_options(config);
  if (!run.options.placement.warning.empty()) {
    say(notice, run.options.placement.warning);
  }
  // Both throw where deck and data do not fit together.
  plan_for(config.model, run.training_set());
  const BatchStream stream(
      run.training_data.n, config.training.batch, config.run.seed, config.data.shuffle);
  return run;
}

}  // namespace crossbow
