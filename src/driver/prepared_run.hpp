#pragma once
// From a deck to what a trainer needs: data loaded, pixels scaled, learners placed.

#include <string>
#include <vector>

#include "io/data_source.hpp"

#include "config/run_config.hpp"
#include "data/sample_set.hpp"
#include "driver/device_setup.hpp"
#include "driver/memory_need.hpp"
#include "training/trainer.hpp"

namespace crossbow {

/// A deck as named on the command line.
struct DeckRequest {
  std::string path;
  std::vector<std::string> overrides;  // "section.key=value"
  DataSearch search;
};

struct PreparedRun {
  RunConfig config;
  Dataset training_data, test_data;
  double mean = 0, std = 1;  // of value/255, taken off and divided by
  PixelScale scale;
  DeviceSetup devices;
  TrainerOptions options;

  SampleSet training_set() const {
    return {training_data, scale, {config.data.augment, true, config.run.seed}};
  }
  SampleSet test_set() const {
    return {test_data, scale, {config.data.augment, false, config.run.seed}};
  }
};

/// Have a trainer use these devices.
void set_devices(const DeviceSetup& devices, TrainerOptions& options);

/// What a training of `run` with so many learners in all allocates.
MemoryNeed memory_need_of(const PreparedRun& run,
                          const NetworkPlan& network,
                          int learners);

/// Load the data of `config` and plan its network and learners. Throws Error(data) or
/// Error(usage) for whatever does not fit together; nothing has run then.
PreparedRun prepare_run(const RunConfig& config,
                        const DataSearch& search,
                        const Notice& notice);

}  // namespace crossbow
