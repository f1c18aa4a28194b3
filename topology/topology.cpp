#include "topology/topology.hpp"

#include <algorithm>
#include <utility>

#include "base/contract.hpp"

namespace crossbow {
namespace {

[[maybe_unused]] bool is_index(int index, std::size_t size) {
  return index >= 0 && index < static_cast<int>(size);
}

[[maybe_unused]] bool is_index_or_none(int index, std::size_t size) {
  return index == -1 || is_index(index, size);
}

[[maybe_unused]] bool has_valid_cores(const TopologyParts& parts) {
  return std::all_of(parts.cores.begin(), parts.cores.end(), [&](const Core& core) {
    return is_index(core.package, parts.packages.size()) &&
           is_index(core.l3_group, parts.l3_groups.size()) && !core.pus.empty() &&
           is_index_or_none(core.numa_node, parts.numa_nodes.size());
  });
}

[[maybe_unused]] bool has_valid_devices(const TopologyParts& parts) {
  return std::all_of(parts.devices.begin(),
                     parts.devices.end(),
                     [&](const Device& device) {
                       return is_index(device.place, parts.places.size()) &&
                              is_index_or_none(device.package, parts.packages.size()) &&
                              is_index_or_none(device.numa_node, parts.numa_nodes.size());
                     }) &&
         std::all_of(parts.nvlinks.begin(), parts.nvlinks.end(), [&](const NvLink& link) {
           return link.a < link.b && is_index(link.a, parts.devices.size()) &&
                  is_index(link.b, parts.devices.size());
         });
}

[[maybe_unused]] bool has_valid_places(const TopologyParts& parts) {
  for (std::size_t i = 0; i < parts.places.size(); ++i) {
    const int parent = parts.places[i].parent;
    if (i == 0 ? parent != -1 : !is_index(parent, i)) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string_view link_type_name(LinkType type) {
  switch (type) {
    case LinkType::memory:
      return "memory";
    case LinkType::nvlink:
      return "NVLink";
    case LinkType::pcie_switch:
      return "PCIe switch";
    case LinkType::host_bridge:
      return "host bridge";
    case LinkType::numa_node:
      return "NUMA node";
    case LinkType::package:
      return "package";
    case LinkType::socket:
      return "socket link";
  }
  return {};
}

int find_place(const std::vector<Place>& places, PlaceKind kind, int index) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i].kind == kind && index-- == 0) {
      return static_cast<int>(i);
    }
  }
  return 0;
}

Topology::Topology(TopologyParts parts) : parts_(std::move(parts)) {
  if (parts_.places.empty()) {
    parts_.places.push_back({PlaceKind::machine, "machine", -1, 0});
  }
  CROSSBOW_EXPECT(has_valid_cores(parts_) && has_valid_places(parts_) &&
                  has_valid_devices(parts_));
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
