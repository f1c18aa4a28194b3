#include "topology/topology.hpp"

#include <algorithm>
#include <utility>

#include "base/contract.hpp"

namespace crossbow {
namespace {

[[maybe_unused]] bool is_index(int index, std::size_t size) {
  return index >= 0 && index < static_cast<int>(size);
}

[[maybe_unused]] bool is_consistent(const TopologyParts& parts) {
  return std::all_of(parts.cores.begin(), parts.cores.end(), [&](const Core& core) {
    return is_index(core.package, parts.packages.size()) &&
           is_index(core.l3_group, parts.l3_groups.size()) && !core.pus.empty() &&
           (core.numa_node == -1 || is_index(core.numa_node, parts.numa_nodes.size()));
  });
}

}  // namespace

Topology::Topology(TopologyParts parts) : parts_(std::move(parts)) {
  CROSSBOW_EXPECT(is_consistent(parts_));
  for (const Core& core : parts_.cores) {
    pus_.insert(pus_.end(), core.pus.begin(), core.pus.end());
  }
  std::sort(pus_.begin(), pus_.end());
  for (const NumaNode& node : parts_.numa_nodes) {
    memory_ += node.memory;
  }
}

bool Topology::has_pu(int os_index) const {
  return std::binary_search(pus_.begin(), pus_.end(), os_index);
}

}  // namespace crossbow
