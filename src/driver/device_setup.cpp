#include "driver/device_setup.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/build_info.hpp"
#include "base/error.hpp"

#include "topology/cuda_driver.hpp"
#include "topology/devices.hpp"
#include "topology/probe.hpp"

#include "driver/plan_file.hpp"

namespace crossbow {
namespace {

constexpr int most_devices = 512;

/// The one CUDA device that the CUDA program still runs on: that in use, or the driver's
/// first; none where none is seen.
Topology one_cuda_device(const Topology& machine, const DeviceOptions& options) {
  Topology gpus = with_cuda_devices(ask_drivers(machine));
  if (!options.use.empty()) {
    gpus = with_devices(gpus, options.use);
    CROSSBOW_VALIDATE(gpus.devices().size() == 1,
                      ExitCode::usage,
                      {"several devices are named",
                       "this version of the CUDA program runs on one",
                       "devices.use",
                       "Name one"});
    return gpus;
  }
  const std::vector<std::string> visible = find_cuda_devices().pci;
  return gpus.devices().size() < 2 || visible.empty()
             ? gpus
             : with_devices(gpus, {visible.front()});
}

/// The devices of this machine that this program can use.
Topology own_devices(const Topology& machine, const DeviceOptions& options) {
  if (build_info::backend == "cuda") {
    return one_cuda_device(machine, options);
  }
  const Topology host = with_host_devices(machine, options.domain);
  return options.use.empty() ? host : with_devices(host, options.use);
}

std::string warn_of_playing(const DeviceSetup& setup, std::size_t cores) {
  if (setup.learners * setup.threads <= static_cast<int>(cores)) {
    return "";
  }
  return fmt::format(
      "{} learners of another machine, played with {} thread(s) each, share {} core(s)",
      setup.learners,
      setup.threads,
      cores);
}

/// Place learners of `threads` each (0: the cores of the device with the fewest divided
/// among its learners) and plan averaging.
void place(int learners_per_device, int threads, DeviceSetup& setup) {
  setup.learners = check_numbers(*setup.topology, learners_per_device);
  const int share = setup.is_played
                        ? static_cast<int>(setup.machine->cores().size()) / setup.learners
                        : fewest_cores(*setup.topology) / learners_per_device;
  setup.threads = threads > 0 ? threads : std::max(1, share);
  setup.placement = place_learners(
      *setup.topology, learners_per_device, setup.is_played ? 1 : setup.threads);
  if (!setup.topology->devices().empty()) {
    setup.reduction =
        plan_reduction(*setup.topology, learners_per_device, setup.model_bytes);
  }
}

/// The devices of the machine that is played.
Topology played_devices(const DeviceOptions& options) {
  const Topology machine =
      with_usual_devices(probe_named(options.topology), options.domain);
  return options.use.empty() ? machine : with_devices(machine, options.use);
}

}  // namespace

int device_count(const Topology& topology) {
  return std::max(1, static_cast<int>(topology.devices().size()));
}

int check_numbers(const Topology& topology, int learners_per_device) {
  const int devices = device_count(topology);
  CROSSBOW_VALIDATE(devices <= most_devices,
                    ExitCode::usage,
                    {fmt::format("{} devices are too many", devices),
                     fmt::format("at most {}", most_devices),
                     "",
                     "Use larger ones (devices.domain) or only some (devices.use)"});
  const int learners = learners_per_device * devices;
  CROSSBOW_VALIDATE(learners <= most_learners,
                    ExitCode::usage,
                    {fmt::format("{} learners are too many", learners),
                     fmt::format("at most {} on all devices", most_learners),
                     "",
                     "Use fewer devices or fewer learners on each"});
  return learners;
}

Topology probe_named(const std::string& text) {
  std::error_code ignored;
  const bool is_file =
      std::filesystem::exists(text, ignored) || text.find(".xml") != std::string::npos;
  return is_file ? probe_xml(text) : probe_synthetic(text);
}

Topology with_usual_devices(const Topology& machine, HostDomain domain) {
  const Topology gpus = with_cuda_devices(machine);
  return gpus.devices().empty() ? with_host_devices(machine, domain) : gpus;
}

DeviceSetup set_up_devices(const RunConfig& config,
                           int learners_per_device,
                           std::int64_t model_bytes) {
  const DeviceOptions& options = config.devices;
  DeviceSetup setup;
  setup.model_bytes = model_bytes;
  setup.is_played = !options.topology.empty();
  setup.bind = options.bind && !setup.is_played;
  setup.machine = std::make_shared<const Topology>(probe_live());
  Topology machine =
      setup.is_played ? played_devices(options) : own_devices(*setup.machine, options);
  if (options.plan.empty()) {
    setup.topology = std::make_shared<const Topology>(std::move(machine));
    place(learners_per_device, config.learners.threads, setup);
  } else {
    GivenPlan given = read_plan_file(options.plan, machine, model_bytes);
    setup.topology = std::make_shared<const Topology>(std::move(given.topology));
    setup.placement = std::move(given.placement);
    setup.reduction = std::move(given.reduction);
    setup.learners = setup.placement.learners();
    check_numbers(*setup.topology, 1);
    setup.threads = setup.is_played
                        ? std::max(1, config.learners.threads)
                        : static_cast<int>(setup.placement.pus_of_learner.front().size());
  }
  if (setup.is_played) {
    setup.placement.warning = warn_of_playing(setup, setup.machine->cores().size());
    setup.reduction.chunk_bytes = reduction_chunk_bytes;  // what the host executes
  }
  return setup;
}

DeviceSetup with_learners(DeviceSetup setup, const LearnerCounts& counts) {
  place(counts.per_device, counts.threads, setup);
  return setup;
}

int fewest_cores(const Topology& topology) {
  std::size_t fewest = topology.cores().size();
  for (const Device& device : topology.devices()) {
    fewest = device.kind == DeviceKind::host ? std::min(fewest, device.cores.size()) : 1;
  }
  return std::max(1, static_cast<int>(fewest));
}

Kokkos::InitializationSettings kokkos_settings(const DeviceOptions& options) {
  Kokkos::InitializationSettings settings = quiet_settings();
  if (build_info::backend != "cuda") {
    return settings;
  }
  // CUDA's own numbers: the driver's order is not that of PCI addresses.
  const Topology used = one_cuda_device(probe_live(), options);
  const std::vector<std::string> visible = find_cuda_devices().pci;
  for (std::size_t i = 0; i < visible.size() && !used.devices().empty(); ++i) {
    if (visible[i] == used.devices().front().pci) {
      settings.set_device_id(static_cast<int>(i));
    }
  }
  return settings;
}

void check_stable(const RunConfig& config, int k, const std::string& where) {
  const AveragingOptions& averaging = config.averaging;
  const double eta = config.optimizer.momentum;
  CROSSBOW_VALIDATE(
      !diverges(averaging, eta, k),
      ExitCode::usage,
      {fmt::format(
           "averaging.alpha = {:g} diverges with {} learners", alpha_of(averaging, k), k),
       fmt::format("it must be below {:g}",
                   alpha_limit(averaging_momentum_of(averaging, eta), k)),
       where,
       "Give a smaller alpha or \"auto\""});
}

}  // namespace crossbow
