#pragma once
// An order of devices that does not depend on how they are numbered, as far as they
// differ in how they are linked; of those that do not the first by number goes first, and
// the others by how they are linked to it. For reduction_plan alone.

#include <vector>

#include "topology/route.hpp"

namespace crossbow {

/// Give the devices, those first that differ by what they are, by their routes to all
/// others, by the others' routes, and so on (colour refinement; up to 64 devices ties are
/// broken one by one).
std::vector<int> order_devices(const Topology& topology, const Routes& routes);

}  // namespace crossbow
