#include "driver/prepared_run.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"

#include "averaging/averaging_method.hpp"
#include "data/batch_stream.hpp"

namespace crossbow {
namespace {

/// Training and test set must show the same kind of thing.
void check_same_kind(const SampleSet& training, const SampleSet& test) {
  const Dataset &a = training.data, &b = test.data;
  const ImageSize image = training.image(), tested = test.image();
  CROSSBOW_VALIDATE(
      image == tested,
      ExitCode::data,
      {fmt::format("the training images are {}x{}x{} but the test images {}x{}x{}",
                   image.h,
                   image.w,
                   image.c,
                   tested.h,
                   tested.w,
                   tested.c),
       "",
       b.place,
       "Name two splits of one data set in data.train and data.test"});
  CROSSBOW_VALIDATE(
      b.classes <= a.classes,
      ExitCode::data,
      {fmt::format(
           "the test set has {} classes but the training set {}", b.classes, a.classes),
       "",
       b.place,
       "Name two splits of one data set in data.train and data.test"});
}

/// Whether accuracies would be those of images that were trained on.
bool have_same_samples(const Dataset& a, const Dataset& b) {
  return a.labels == b.labels && a.images == b.images && a.jpeg == b.jpeg;
}

/// The auto-tuner has a learner on each device at least.
void check_maximum(const RunConfig& config, int devices) {
  const int maximum = config.learners.maximum;
  CROSSBOW_VALIDATE(!config.learners.is_tuned() || maximum == 0 || maximum >= devices,
                    ExitCode::usage,
                    {fmt::format("learners.maximum = {} is too few", maximum),
                     fmt::format("each of the {} devices has one at least", devices),
                     "",
                     "Raise it, or use fewer devices (devices.use)"});
}

TrainerOptions trainer_options(const RunConfig& config, const DeviceSetup& devices) {
  TrainerOptions options;
  options.model = config.model;
  options.training = config.training;
  options.optimizer = config.optimizer;
  options.averaging = config.averaging;
  options.checkpoint_epochs = config.checkpoint.every_epochs;
  options.seed = config.run.seed;
  options.shuffle = config.data.shuffle;
  set_devices(devices, options);
  return options;
}

}  // namespace

void set_devices(const DeviceSetup& devices, TrainerOptions& options) {
  options.learners = devices.learners;
  options.threads = devices.threads;
  options.tree = devices.reduction.tree;
  options.bind = devices.bind;
  options.topology = devices.topology;
  options.placement = devices.placement;
}

MemoryNeed memory_need_of(const PreparedRun& run,
                          const NetworkPlan& network,
                          int learners) {
  return memory_need(network,
                     {run.config.averaging.method,
                      run.config.training.batch,
                      learners,
                      run.test_data.n});
}

PreparedRun prepare_run(const RunConfig& config,
                        const DataSearch& search,
                        const Notice& notice) {
  PreparedRun run;
  run.config = config;
  run.training_data = load_data(config.data.train, Split::train, search, notice);
  run.test_data = load_data(config.data.test, Split::test, search, notice);
  check_same_kind(run.training_set(), run.test_set());
  run.mean = config.data.mean.value_or(run.training_data.mean);
  run.std = config.data.std.value_or(run.training_data.std);
  CROSSBOW_VALIDATE(run.std > 0,
                    ExitCode::data,
                    {"all pixels of the training set are equal",
                     "their standard deviation is 0",
                     run.training_data.place,
                     "Use another data set, or set data.std"});
  run.scale = pixel_scale(run.mean, run.std);
  // Both throw where deck and data do not fit together.
  const NetworkPlan network = plan_for(config.model, run.training_set());
  const auto need = [&](int learners) { return memory_need_of(run, network, learners); };
  const std::optional<double>& limit = config.run.memory_limit;
  check_memory(need(1), limit);  // else the number of weights may fit no integer
  run.devices =
      set_up_devices(config,
                     std::max(1, config.learners.per_device),  // the tuner's first
                     parameter_count(network) * static_cast<std::int64_t>(sizeof(float)));
  check_memory(need(run.devices.learners), limit);
  check_stable(config, run.devices.learners, "learners on all devices");
  check_maximum(config, run.devices.learners);
  check_equal_devices(config.averaging.method,
                      run.devices.placement.learners_of_device());
  if (have_same_samples(run.training_data, run.test_data)) {
    say(notice,
        "the test set is the training set: test accuracies say nothing about new images");
  }
  if (!run.devices.placement.warning.empty()) {
    say(notice, run.devices.placement.warning);
  }
  run.options = trainer_options(config, run.devices);
  const BatchStream stream(
      run.training_data.n, config.training.batch, config.run.seed, config.data.shuffle);
  return run;
}

}  // namespace crossbow
