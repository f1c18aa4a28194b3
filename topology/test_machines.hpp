#pragma once
// For tests of this folder: machines of the collection of XML files, machines made by
// hand.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/locality_domain.hpp"
#include "topology/topology.hpp"

namespace crossbow {

/// Give the path of a machine's XML file: the two models of this repository, else of the
/// collection beside it, which a checkout may lack.
inline std::string machine_file(const std::string& name) {
  const std::filesystem::path source(CROSSBOW_SOURCE_DIR);
  if (name.rfind("dgx", 0) == 0) {
    return (source / "topology" / "machines" / name).string();
  }
  return (source.parent_path() / "shared" / "topologies" / name).string();
}

/// Skip the test if a machine's file is not there.
#define CROSSBOW_SKIP_WITHOUT(name)                             \
  do {                                                          \
    if (!std::filesystem::exists(machine_file(name))) {         \
      GTEST_SKIP() << "no machine file " << machine_file(name); \
    }                                                           \
  } while (false)

/// Nominal rates [GB/s]: PCIe 3.0 x16, links between sockets and within one.
inline constexpr double test_pcie_rate = 16;
inline constexpr double test_socket_rate = 10;
inline constexpr double test_node_rate = 32;

/// Builds GPU machines: packages of NUMA nodes, on which host bridges, PCIe switches and
/// GPUs hang.
class MachineBuilder {
 public:
  explicit MachineBuilder(int nodes, int cores_per_node = 4, int nodes_per_package = 1) {
    parts_.machine_name = "made by hand";
    parts_.places.push_back({PlaceKind::machine, "machine", -1, 0});
    int package_place = 0;
    for (int node = 0; node < nodes; ++node) {
      if (node % nodes_per_package == 0) {
        package_place = add_package();
      }
      add_node(node, package_place, cores_per_node);
    }
  }

  int add_bridge(int node) {
    return add_place(PlaceKind::host_bridge, node_places_[index(node)], 0);
  }
  int add_switch(int parent, double rate = test_pcie_rate) {
    return add_place(PlaceKind::pcie_switch, parent, rate);
  }

  /// Hang a GPU on a place below a NUMA node; give its number.
  int add_gpu(int place, double rate = test_pcie_rate) {
    const int number = devices();
    Device device;
    device.id = device.pci = gpu_id(number);
    device.name = "GPU";
    device.runs_cuda = true;
    device.place = place;
    device.link_rate = rate;
    int up = place;
    while (parts_.places[index(up)].kind != PlaceKind::numa_node) {
      up = parts_.places[index(up)].parent;
    }
    const auto node = std::find(node_places_.begin(), node_places_.end(), up);
    device.numa_node = static_cast<int>(node - node_places_.begin());
    device.package = parts_.l3_groups[index(device.numa_node)].package;
    parts_.devices.push_back(device);
    return number;
  }

  void add_nvlink(int a, int b, double rate) {
    parts_.nvlinks.push_back({std::min(a, b), std::max(a, b), rate});
  }
  void set_nvswitch(int device, double rate) {
    parts_.devices[index(device)].nvswitch_rate = rate;
  }
  void set_nvlink_to_host(int device, double rate) {
    parts_.devices[index(device)].nvlink_to_host = true;
    parts_.devices[index(device)].link_rate = rate;
  }

  int devices() const { return static_cast<int>(parts_.devices.size()); }
  Topology build() const { return Topology(parts_); }

  static std::string gpu_id(int number) {
    char id[16];
    std::snprintf(id, sizeof(id), "0000:%02x:00.0", static_cast<unsigned>(16 + number));
    return id;
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  int add_package() {
    const auto number = static_cast<int>(parts_.packages.size());
    parts_.packages.push_back({number, "a processor"});
    parts_.places.push_back(
        {PlaceKind::package, "package " + std::to_string(number), 0, test_socket_rate});
    return static_cast<int>(parts_.places.size()) - 1;
  }

  void add_node(int node, int package_place, int n_cores) {
    const auto package = static_cast<int>(parts_.packages.size()) - 1;
    parts_.numa_nodes.push_back({node, std::uint64_t{1} << 34});
    L3Group group{package, node, {}};
    for (int i = 0; i < n_cores; ++i) {
      const auto core = static_cast<int>(parts_.cores.size());
      parts_.cores.push_back({core, package, node, node, {2 * core, 2 * core + 1}});
      group.cores.push_back(core);
    }
    parts_.l3_groups.push_back(group);
    node_places_.push_back(static_cast<int>(parts_.places.size()));
    parts_.places.push_back({PlaceKind::numa_node,
                             "NUMA node " + std::to_string(node),
                             package_place,
                             test_node_rate});
  }

  int add_place(PlaceKind kind, int parent, double rate) {
    const auto number = static_cast<int>(parts_.places.size());
    const std::string name =
        kind == PlaceKind::pcie_switch ? "PCIe switch " : "host bridge ";
    parts_.places.push_back({kind, name + std::to_string(number), parent, rate});
    return number;
  }

  TopologyParts parts_;
  std::vector<int> node_places_;
};

/// `n` GPUs behind one PCIe switch of a machine with one NUMA node.
inline MachineBuilder gpus_behind_a_switch(int n) {
  MachineBuilder builder(1);
  const int place = builder.add_switch(builder.add_bridge(0));
  for (int i = 0; i < n; ++i) {
    builder.add_gpu(place);
  }
  return builder;
}

/// Two GPUs on a host bridge of each of two sockets.
inline MachineBuilder gpus_on_two_sockets() {
  MachineBuilder builder(2);
  for (const int node : {0, 1}) {
    const int bridge = builder.add_bridge(node);
    builder.add_gpu(bridge);
    builder.add_gpu(bridge);
  }
  return builder;
}

/// Give the devices of every domain of a kind, in order.
inline std::vector<std::vector<int>> domain_devices(const Topology& topology,
                                                    DomainKind kind) {
  std::vector<std::vector<int>> lists;
  for (const LocalityDomain& domain : locality_domains(topology)) {
    if (domain.kind == kind) {
      lists.push_back(domain.devices);
    }
  }
  std::sort(lists.begin(), lists.end());
  return lists;
}

}  // namespace crossbow
