#pragma once
// Groups of devices that are near each other. A device is in the machine, in one NUMA
// node and package, perhaps in PCIe switches one inside the other, and in an NVLink
// island: devices each of which has NVLink to each other, directly or through NVSwitches.

#include <string>
#include <string_view>
#include <vector>

#include "topology/topology.hpp"

namespace crossbow {

enum class DomainKind {
  machine,
  package,
  numa_node,
  pcie_switch,
  nvlink_island,
  l3,
  core
};

/// "machine", "NUMA node", "NVLink island", ...
std::string_view domain_kind_name(DomainKind kind);

struct LocalityDomain {
  DomainKind kind = DomainKind::machine;
  std::string name;
  std::vector<int> devices;  // ascending; may be empty for packages and NUMA nodes
  std::vector<int> cores;    // ascending; of machine, package, NUMA node, L3 and core
};

/// Give all domains: machine, packages, NUMA nodes with cores or memory, PCIe switches
/// above several devices, NVLink islands of several devices; where the devices are of
/// the host also L3 groups and cores. By kind, then by first device or core.
///
/// Islands are found largest first (of several, the one with most bandwidth, then the
/// lowest device numbers): the hybrid cube-mesh of a DGX-1 has two of four.
std::vector<LocalityDomain> locality_domains(const Topology& topology);

/// The island of every device, numbered by their lowest device; a device without NVLink
/// is an island of its own.
std::vector<int> nvlink_island_of_device(const Topology& topology);

}  // namespace crossbow
