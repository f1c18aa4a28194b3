#pragma once
// Trees that a plan chooses among. For reduction_plan alone.

#include <vector>

#include "topology/route.hpp"

namespace crossbow {

/// A tree without a root: the neighbours of every device.
using FreeTree = std::vector<std::vector<int>>;

/// What is joined first: devices with NVLinks between them, always, then ...
enum class JoinOrder {
  near_then_wide,  // near ones, and of those equally near the ones with wider routes
  near,            // near ones, whatever the rates: less deep
  wide             // those with wider routes
};

struct TreeShape {
  int max_children = 1;  // of what is joined at once: 1 makes chains, many a star
  JoinOrder order = JoinOrder::near_then_wide;
  bool islands_first = true;  // NVLinks inside islands before those between them
};

/// Give a tree of a shape. Devices have more children than it says only where routes
/// leave no choice. `islands`: by device (nvlink_island_of_device).
FreeTree shape_tree(const Routes& routes,
                    const std::vector<int>& islands,
                    const std::vector<int>& order,
                    const TreeShape& shape);

/// Give the parents (by device; -1 for the root) in a tree that hangs on one device.
std::vector<int> hang_up(const FreeTree& tree, int root);

/// Give the parents of the star around a device.
std::vector<int> shape_star(int devices, int root);

}  // namespace crossbow
