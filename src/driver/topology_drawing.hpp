#pragma once
// A machine, its placement and its reduction plan for people: as text for a terminal, and
// as an SVG picture.

#include <cstdint>
#include <string>

#include "topology/placement.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/topology.hpp"

namespace crossbow {

/// What is drawn; referenced, not copied.
struct TopologyView {
  const Topology& topology;
  const Placement& placement;
  const ReductionPlan& plan;
  std::int64_t model_bytes;
};

/// Draw the machine, its domains, the placement, the tree and what it should cost.
std::string draw_text(const TopologyView& view);

/// Draw the devices in their packages and NUMA nodes, their learners, and the edges of
/// the tree with link and rate.
std::string draw_svg(const TopologyView& view);

/// "1.5 GB", "64.0 KB", with powers of 1000.
std::string bytes_text(double bytes);
/// "1.48 ms", "27.4 us".
std::string seconds_text(double seconds);

}  // namespace crossbow
