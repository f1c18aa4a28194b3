#pragma once
// A machine, its domains, placement and reduction plan as JSON: what `crossbow topology
// --json` writes, run.json holds, and devices.plan gives back.

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "topology/placement.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/topology.hpp"

#include "driver/topology_drawing.hpp"

namespace crossbow {

/// Devices and domains of `machine`; placement, tree and prediction of the view, whose
/// devices are all or some of those (topology/README.md has the form).
nlohmann::json plan_json(const Topology& machine, const TopologyView& view);

struct GivenPlan {
  Topology topology;  // the machine with the plan's devices
  Placement placement;
  ReductionPlan reduction;
};

/// Read `placement` and the edges of `tree`; the rest is worked out anew. Devices without
/// a learner are not used. Learners are numbered device by device, in the order that they
/// have on each.
/// Throws Error(data) where the file cannot be read, Error(usage) where the plan does not
/// fit `machine` or is none: a device that is not there, a learner twice or left out, a
/// PU that may not be used, edges that are no tree.
GivenPlan read_plan_file(const std::string& path,
                         const Topology& machine,
                         std::int64_t model_bytes);

}  // namespace crossbow
