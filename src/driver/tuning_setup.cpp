#include "driver/tuning_setup.hpp"

#include <algorithm>
#include <new>

namespace crossbow {
namespace {

/// Have `run` train with these numbers. Throws std::bad_alloc where memory is not enough.
void set_learners(const LearnerCounts& counts, PreparedRun& run) {
  const int learners = counts.per_device * device_count(*run.devices.topology);
  const NetworkPlan network = plan_for(run.config.model, run.training_set());
  if (!fits_memory(memory_need_of(run, network, learners), run.config.run.memory_limit)) {
    throw std::bad_alloc();
  }
  run.devices = with_learners(run.devices, counts);
  set_devices(run.devices, run.options);
}

}  // namespace

int most_learners_per_device(const PreparedRun& run) {
  constexpr int usual_maximum = 32, usual_on_each = 8;
  const int devices = device_count(*run.devices.topology);
  const int wanted = run.config.learners.maximum;
  const int maximum =
      wanted > 0 ? wanted
                 : std::max(devices, std::min(usual_maximum, usual_on_each * devices));
  return most_learners_per_device(
      run.config.averaging, run.config.optimizer.momentum, devices, maximum);
}

TuningSetup tuning_setup(PreparedRun& run) {
  TuningSetup setup;
  setup.tuner.cores = fewest_cores(*run.devices.topology);
  setup.tuner.threads = run.config.learners.threads;
  setup.tuner.most = most_learners_per_device(run);
  setup.tuner.threshold = run.config.autotune.threshold;
  setup.window = run.config.autotune.window;
  setup.devices = device_count(*run.devices.topology);
  setup.options_for = [&run](const LearnerCounts& counts) {
    set_learners(counts, run);
    return run.options;
  };
  return setup;
}

}  // namespace crossbow
