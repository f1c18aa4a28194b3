#pragma once
// The machine as the process may use it: an immutable value that is probed once
// (topology/probe.hpp) and then handed to whoever decides where work goes. Only what the
// process's mask and cgroup allow is in it, so that nothing is ever placed outside them.
// Indices below are positions in the vectors here; `os_index` is the operating system's
// number. PUs (hardware threads) are known by the latter only.

#include <cstdint>
#include <string>
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

/// What a probe found; Topology makes a value of it.
struct TopologyParts {
  std::string machine_name;
  bool is_this_machine = false;  // threads can be bound to its PUs
  std::vector<Package> packages;
  std::vector<NumaNode> numa_nodes;  // without memory of accelerators
  std::vector<L3Group> l3_groups;
  std::vector<Core> cores;  // neighbours first: by package, NUMA node, L3 group
};

class Topology {
 public:
  /// Take the parts; indices in them must be valid.
  explicit Topology(TopologyParts parts);

  const std::string& machine_name() const { return parts_.machine_name; }
  bool is_this_machine() const { return parts_.is_this_machine; }
  const std::vector<Package>& packages() const { return parts_.packages; }
  const std::vector<NumaNode>& numa_nodes() const { return parts_.numa_nodes; }
  const std::vector<L3Group>& l3_groups() const { return parts_.l3_groups; }
  const std::vector<Core>& cores() const { return parts_.cores; }

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
