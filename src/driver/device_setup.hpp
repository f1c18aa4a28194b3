#pragma once
// From a deck to devices, learners on them and the plan of averaging.

#include <cstdint>
#include <memory>

#include "kernels/instance.hpp"
#include "topology/placement.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/topology.hpp"

#include "config/run_config.hpp"
#include "training/learner_counts.hpp"

namespace crossbow {

inline constexpr int most_learners = 4096;  // on all devices

struct DeviceSetup {
  std::shared_ptr<const Topology> machine;   // this one
  std::shared_ptr<const Topology> topology;  // the devices in use, perhaps of another
  Placement placement;
  ReductionPlan reduction;
  int learners = 1;              // in all
  int threads = 1;               // of each
  bool is_played = false;        // another machine, whose learners share this one's cores
  bool bind = true;              // learners to their cores
  std::int64_t model_bytes = 0;  // that the plan was made for
};

/// Choose the devices, place so many learners on each and plan averaging of a model of
/// `model_bytes`, as [devices] and [learners] say; a plan that is given (devices.plan)
/// has its own numbers of learners. Throws Error(usage) for a device or machine that is
/// not there, Error(usage) or Error(data) for a plan that does not fit.
DeviceSetup set_up_devices(const RunConfig& config,
                           int learners_per_device,
                           std::int64_t model_bytes);

/// The same devices with other numbers of learners and threads, for setups without a
/// given plan. Throws Error(usage) where learners are too many.
DeviceSetup with_learners(DeviceSetup setup, const LearnerCounts& counts);

/// Devices that learners are placed on; a machine without any is one.
int device_count(const Topology& topology);

/// The cores of the device with the fewest that learners can share; a GPU has 1.
int fewest_cores(const Topology& topology);

/// Settings for Kokkos::ScopeGuard; in the CUDA program with the one device that it runs
/// on, the driver's first or the one that devices.use names. Throws Error(usage) where
/// several are named.
Kokkos::InitializationSettings kokkos_settings(const DeviceOptions& options);

/// Give how many learners there are on all devices. Throws Error(usage) where devices or
/// learners are more than plans and threads are made for.
int check_numbers(const Topology& topology, int learners_per_device);

/// The machine that `text` names: an XML file, or hwloc's synthetic notation.
Topology probe_named(const std::string& text);

/// The devices that a machine's learners are on if nothing else is said: those that run
/// CUDA, or, without one, the cores.
Topology with_usual_devices(const Topology& machine, HostDomain domain);

/// Throw Error(usage) where k learners would drive replicas and z apart; `where` names
/// what their number comes from.
void check_stable(const RunConfig& config, int k, const std::string& where);

}  // namespace crossbow
