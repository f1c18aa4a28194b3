#pragma once
// The tree that sums of corrections travel along: over which edges, and in which order
// they are added.

#include <cstdint>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace crossbow {

class Routes;

/// What the host cuts models into: so much of each vector that those of all learners fit
/// a second-level cache of 1 MiB [bytes].
inline constexpr std::int64_t reduction_chunk_bytes = 65536;

/// What device `from` has added up goes to device `to` and is added there; what the root
/// makes of it goes back the same way.
struct ReductionEdge {
  int from = 0, to = 0;
  LinkType link = LinkType::memory;
  double rate = 0;  // nominal [GB/s]; 0: no limit

  bool operator==(const ReductionEdge&) const = default;
};

/// A rooted tree over devices. The order is fixed: a device adds its own learners in
/// their order, then its children in the order of `children`.
struct ReductionTree {
  int root = 0;
  std::vector<int> parent = {-1};                 // by device; -1 for the root
  std::vector<std::vector<int>> children = {{}};  // by device, in the order of adding
  std::vector<ReductionEdge> edges;  // ascending by `from`, for each device but the root
  int depth = 0;                     // edges from the root to the farthest device

  int devices() const { return static_cast<int>(parent.size()); }
  bool operator==(const ReductionTree&) const = default;
};

/// Say why parents (by device, -1 for the root) make no tree of these devices: no root or
/// several, a cycle, a device that is not there; empty where they do.
std::string tree_fault(const std::vector<int>& parents,
                       const std::vector<std::string>& devices);

/// Make a tree of the parents of all devices (-1 for the root), with children that have
/// fewer devices below each other first, of equals in ascending order. Throws
/// Error(usage) where tree_fault has something to say.
ReductionTree tree_of_parents(const Routes& routes, const std::vector<int>& parents);

/// The star of so many devices around the first, where nothing is known of routes.
ReductionTree star_of(int devices);

}  // namespace crossbow
