#pragma once
// The machine as the process may use it: an immutable value that is probed once
// (topology/probe.hpp) and then handed to whoever decides where work goes. Only what the
// process's mask and cgroup allow is in it, so that nothing is ever placed outside them.
// Indices below are positions in the vectors here; `os_index` is the operating system's
// number. PUs (hardware threads) are known by the latter only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crossbow {

struct Package {
  int os_index = 0;
  std::string model;  // "AMD EPYC 7742 64-Core Processor"; may be empty
};

struct NumaNode {
  int os_index = 0;
  std::uint64_t memory = 0;  // [bytes]
};

struct Core {
  int os_index = 0;
  int package = 0;
  int numa_node = -1;  // -1: no memory of its own
  int l3_group = 0;
  std::vector<int> pus;  // allowed PUs, first sibling first; never empty
};

/// Cores that share a last-level cache, a NUMA node and a package; without an L3 cache,
/// the latter two. The cores of a group are neighbours in Topology::cores().
struct L3Group {
  int package = 0;
  int numa_node = -1;
  std::vector<int> cores;
};

/// How two devices reach each other, by the farthest thing on the way: nearest first.
enum class LinkType {
  memory,       // cores of one NUMA node
  nvlink,       // directly, or through NVSwitches
  pcie_switch,  // PCIe switches only
  host_bridge,  // one PCIe host bridge
  numa_node,    // host bridges of one NUMA node
  package,      // NUMA nodes of one package
  socket        // packages
};

/// "NVLink", "PCIe switch", ...
std::string_view link_type_name(LinkType type);

enum class PlaceKind { machine, package, numa_node, host_bridge, pcie_switch };

/// What devices hang on. Places are a tree whose root, the machine, is the first; what
/// two devices send each other goes up to the nearest place above both, and down.
struct Place {
  PlaceKind kind = PlaceKind::machine;
  std::string name;      // "package 0", "NUMA node 3", "PCIe switch 0000:02:00.0"
  int parent = -1;       // stands before its children
  double link_rate = 0;  // to the parent [GB/s], in each direction; 0: no limit
};

/// The place of package or NUMA node `index`: as many of its kind stand before it. The
/// machine where there is none.
int find_place(const std::vector<Place>& places, PlaceKind kind, int index);

enum class DeviceKind { gpu, host };

/// PCIe 3.0 with 16 lanes [GB/s]: taken where a machine does not tell.
inline constexpr double usual_pcie_rate = 15.75;

/// What learners share: a GPU, or a group of cores.
struct Device {
  DeviceKind kind = DeviceKind::gpu;
  std::string id;    // a GPU's PCI address "0000:06:00.0"; "numa0", "l3-2" on a host
  std::string name;  // "Tesla V100-SXM2-16GB"; may be empty
  std::string pci;   // empty on a host
  std::string uuid;  // may be empty
  std::uint64_t memory = 0;  // [bytes]; 0: not known
  bool runs_cuda = false;    // an NVIDIA GPU, or one of which only the class is known
  int package = -1;          // -1: the same distance from all
  int numa_node = -1;        // host memory nearest to it; -1: no node is nearer
  int place = 0;
  double link_rate = 0;         // to its place [GB/s], in each direction; 0: no limit
  bool nvlink_to_host = false;  // the link to its place is NVLink, not PCIe
  double nvswitch_rate = 0;     // into the NVSwitches, in each direction; 0: none
  std::vector<int> cores;       // of a host device
};

/// A direct connection of two devices, all its links added.
struct NvLink {
  int a = 0, b = 0;  // devices, a < b
  double rate = 0;   // [GB/s], in each direction
};

/// What a probe found; Topology makes a value of it.
struct TopologyParts {
  std::string machine_name;
  bool is_this_machine = false;  // threads can be bound to its PUs
  std::vector<Package> packages;
  std::vector<NumaNode> numa_nodes;  // without memory of accelerators
  std::vector<L3Group> l3_groups;
  std::vector<Core> cores;  // neighbours first: by package, NUMA node, L3 group
  std::vector<Place> places;
  std::vector<Device> devices;  // GPUs by PCI address; host devices by their first core
  std::vector<NvLink> nvlinks;
};

class Topology {
 public:
  /// Take the parts; indices in them must be valid. Without places there is one, the
  /// machine.
  explicit Topology(TopologyParts parts);

  const std::string& machine_name() const { return parts_.machine_name; }
  bool is_this_machine() const { return parts_.is_this_machine; }
  const std::vector<Package>& packages() const { return parts_.packages; }
  const std::vector<NumaNode>& numa_nodes() const { return parts_.numa_nodes; }
  const std::vector<L3Group>& l3_groups() const { return parts_.l3_groups; }
  const std::vector<Core>& cores() const { return parts_.cores; }
  const std::vector<Place>& places() const { return parts_.places; }
  const std::vector<Device>& devices() const { return parts_.devices; }
  const std::vector<NvLink>& nvlinks() const { return parts_.nvlinks; }
  const TopologyParts& parts() const { return parts_; }

  /// Give the allowed PUs, ascending.
  const std::vector<int>& pus() const { return pus_; }
  bool has_pu(int os_index) const;

  /// Give the memory of all allowed NUMA nodes [bytes].
  std::uint64_t memory() const { return memory_; }

 private:
  TopologyParts parts_;
  std::vector<int> pus_;
  std::uint64_t memory_ = 0;
};

}  // namespace crossbow
