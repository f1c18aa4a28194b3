// The machines without GPUs of the collection, and the cores of one with, a test each.
// Expectations are read off the files.

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/devices.hpp"
#include "topology/locality_domain.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/route.hpp"
#include "topology/test_machines.hpp"
#include "topology/test_plans.hpp"

namespace crossbow {
namespace {

using Lists = std::vector<std::vector<int>>;
using Links = std::map<LinkType, int>;

struct HostDevice {
  std::vector<int> pus;
  int node;  // of the operating system; -1: none
};

std::vector<int> pus_of_device(const Topology& topology, const Device& device) {
  std::vector<int> pus;
  for (const int core : device.cores) {
    const std::vector<int>& more = topology.cores()[static_cast<std::size_t>(core)].pus;
    pus.insert(pus.end(), more.begin(), more.end());
  }
  std::sort(pus.begin(), pus.end());
  return pus;
}

int os_node(const Topology& topology, int node) {
  return node == -1 ? -1 : topology.numa_nodes()[static_cast<std::size_t>(node)].os_index;
}

void expect_devices(const Topology& topology, const std::vector<HostDevice>& devices) {
  ASSERT_EQ(topology.devices().size(), devices.size());
  std::set<std::string> ids;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device& device = topology.devices()[i];
    EXPECT_EQ(device.kind, DeviceKind::host);
    EXPECT_EQ(pus_of_device(topology, device), devices[i].pus) << device.id;
    EXPECT_EQ(os_node(topology, device.numa_node), devices[i].node) << device.id;
    EXPECT_TRUE(ids.insert(device.id).second) << device.id << " twice";
  }
}

/// Learners that their devices' cores suffice for: on those cores, with the memory there.
void expect_host_placement(const Topology& topology, int learners, int threads) {
  SCOPED_TRACE(std::to_string(learners) + " x " + std::to_string(threads));
  const Placement placement = place_learners(topology, learners, threads);
  expect_all_learners(topology, placement, learners);
  expect_cores_shared_last(topology, placement);
  for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
    const auto d = static_cast<std::size_t>(placement.device_of_learner[j]);
    const Device& device = topology.devices()[d];
    const std::vector<int> own = pus_of_device(topology, device);
    EXPECT_EQ(placement.pus_of_learner[j].size(), static_cast<std::size_t>(threads));
    for (const int pu : placement.pus_of_learner[j]) {
      EXPECT_TRUE(std::binary_search(own.begin(), own.end(), pu))
          << pu << " is not of " << device.id;
    }
    EXPECT_EQ(placement.prefetch_pu_of_learner[j], -1);
    EXPECT_EQ(placement.numa_node_of_learner[j], device.numa_node);
  }
}

/// A host averages over a tree, whose links are given.
void expect_host_plan(const Topology& topology, const Links& links) {
  const Routes routes(topology);
  const ReductionPlan plan = plan_reduction(topology, 2, 1 << 20);
  expect_tree(routes, plan.tree);
  EXPECT_EQ(links_of_tree(plan.tree), links);
  EXPECT_EQ(plan.method, ReductionMethod::tree);
  EXPECT_TRUE(plan.rings.empty());
  EXPECT_LE(plan.cost.seconds, plan.star_seconds * (1 + 1e-12));
}

std::vector<int> range(int first, int last) {
  std::vector<int> numbers;
  for (int i = first; i <= last; ++i) {
    numbers.push_back(i);
  }
  return numbers;
}

std::vector<int> two_ranges(int first, int last, int other_first, int other_last) {
  std::vector<int> numbers = range(first, last);
  const std::vector<int> more = range(other_first, other_last);
  numbers.insert(numbers.end(), more.begin(), more.end());
  return numbers;
}

// Package p has the cores 8p to 8p+7; core c has the PUs c and c+16.
TEST(MachineTwoSockets, devices) {
  CROSSBOW_SKIP_WITHOUT("32em64t-2n8c2t-pci-noio.xml");
  const Topology machine = probe_xml(machine_file("32em64t-2n8c2t-pci-noio.xml"));
  EXPECT_TRUE(machine.devices().empty());
  EXPECT_EQ(machine.cores().size(), 16U);
  const std::vector<HostDevice> halves = {{two_ranges(0, 7, 16, 23), 0},
                                          {two_ranges(8, 15, 24, 31), 1}};
  for (const HostDomain domain :
       {HostDomain::numa, HostDomain::package, HostDomain::l3}) {
    expect_devices(with_host_devices(machine, domain), halves);
  }
  std::vector<HostDevice> cores;
  cores.reserve(16);
  for (int core = 0; core < 16; ++core) {
    cores.push_back({{core, core + 16}, core / 8});
  }
  expect_devices(with_host_devices(machine, HostDomain::core), cores);
}

TEST(MachineTwoSockets, placement_and_plan) {
  CROSSBOW_SKIP_WITHOUT("32em64t-2n8c2t-pci-noio.xml");
  const Topology machine = probe_xml(machine_file("32em64t-2n8c2t-pci-noio.xml"));
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  expect_host_placement(nodes, 1, 1);
  expect_host_placement(nodes, 2, 4);
  expect_host_placement(nodes, 8, 1);
  expect_host_placement(nodes, 8, 2);
  expect_host_plan(nodes, {{LinkType::socket, 1}});
  const Topology cores = with_host_devices(machine, HostDomain::core);
  expect_host_placement(cores, 1, 1);
  expect_host_placement(cores, 2, 1);
  expect_host_plan(cores, {{LinkType::memory, 14}, {LinkType::socket, 1}});
}

// The first two learners are on different sockets, the third shares the first's.
TEST(MachineTwoSockets, learners_without_devices_spread) {
  CROSSBOW_SKIP_WITHOUT("32em64t-2n8c2t-pci-noio.xml");
  const Topology machine = probe_xml(machine_file("32em64t-2n8c2t-pci-noio.xml"));
  const Placement placement = place_learners(machine, 3, 2);
  EXPECT_EQ(placement.pus_of_learner, (Lists{{0, 1}, {2, 3}, {8, 9}}));
  EXPECT_EQ(placement.device_of_learner, (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(placement.numa_node_of_learner, (std::vector<int>{0, 0, 1}));
}

// Package p has the even or the odd PUs: core c of package p has 2c+p and 2c+p+12.
TEST(MachineInterleaved, host_devices) {
  CROSSBOW_SKIP_WITHOUT("24em64t-2n6c2t-pci.xml");
  const Topology machine = probe_xml(machine_file("24em64t-2n6c2t-pci.xml"));
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  expect_devices(nodes,
                 {{{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}, 0},
                  {{1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}, 1}});
  EXPECT_EQ(place_learners(nodes, 1, 6).pus_of_learner,
            (Lists{{0, 2, 4, 6, 8, 10}, {1, 3, 5, 7, 9, 11}}));
  expect_host_placement(nodes, 3, 4);
  expect_host_plan(nodes, {{LinkType::socket, 1}});
}

// Four clusters of four cores with four PUs: cluster i has the cores 4i to 4i+3, core c
// the PUs c, c+16, c+32 and c+48. DRAM are the nodes 0 to 3, MCDRAM 7, 4, 5 and 6.
TEST(MachineKnl, dram_is_the_memory_of_each_cluster) {
  CROSSBOW_SKIP_WITHOUT("64intel64-fakeKNL-SNC4-hybrid.xml");
  const Topology machine = probe_xml(machine_file("64intel64-fakeKNL-SNC4-hybrid.xml"));
  EXPECT_EQ(machine.packages().size(), 1U);
  EXPECT_EQ(machine.numa_nodes().size(), 8U);
  std::vector<HostDevice> clusters;
  for (int i = 0; i < 4; ++i) {
    std::vector<int> pus;
    for (const int thread : {0, 16, 32, 48}) {
      const std::vector<int> more = range(thread + 4 * i, thread + 4 * i + 3);
      pus.insert(pus.end(), more.begin(), more.end());
    }
    clusters.push_back({pus, i});
  }
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  expect_devices(nodes, clusters);
  expect_host_placement(nodes, 1, 4);
  expect_host_placement(nodes, 2, 2);
  expect_host_placement(nodes, 4, 4);
  for (const int node : place_learners(nodes, 3, 1).numa_node_of_learner) {
    EXPECT_LT(os_node(nodes, node), 4) << "MCDRAM";
  }
  for (const int node : place_learners(machine, 4, 4).numa_node_of_learner) {
    EXPECT_LT(os_node(machine, node), 4) << "MCDRAM";
  }
  expect_host_plan(nodes, {{LinkType::package, 3}});
  const Topology package = with_host_devices(machine, HostDomain::package);
  ASSERT_EQ(package.devices().size(), 1U);
  EXPECT_EQ(package.devices()[0].cores, range(0, 15));
}

// Four nodes with two PUs each, neither packages nor cores nor caches in the file.
TEST(MachineMemattrs, devices_placement_and_plan) {
  CROSSBOW_SKIP_WITHOUT("8intel64-4n2t-memattrs.xml");
  const Topology machine = probe_xml(machine_file("8intel64-4n2t-memattrs.xml"));
  EXPECT_EQ(machine.cores().size(), 8U);
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  expect_devices(nodes, {{{0, 1}, 0}, {{2, 3}, 1}, {{4, 5}, 2}, {{6, 7}, 3}});
  expect_host_placement(nodes, 1, 2);
  expect_host_placement(nodes, 2, 1);
  expect_host_plan(nodes, {{LinkType::package, 3}});
  EXPECT_EQ(with_host_devices(machine, HostDomain::package).devices().size(), 1U);
  EXPECT_EQ(with_host_devices(machine, HostDomain::l3).devices().size(), 4U);
}

// Six of 32 PUs are allowed: node 0 with four cores and half of node 1, both of package
// 0. Nodes 2 to 5 have memory only.
TEST(MachineCgroup, nodes_without_cores_are_no_devices) {
  CROSSBOW_SKIP_WITHOUT("32amd64-4s2n4c-cgroup2.xml");
  const Topology machine = probe_xml(machine_file("32amd64-4s2n4c-cgroup2.xml"));
  EXPECT_EQ(machine.numa_nodes().size(), 6U);
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  expect_devices(nodes, {{{0, 1, 2, 3}, 0}, {{4, 5}, 1}});
  expect_host_placement(nodes, 1, 2);
  expect_host_placement(nodes, 2, 1);
  expect_host_plan(nodes, {{LinkType::package, 1}});
  expect_devices(with_host_devices(machine, HostDomain::l3),
                 {{{0, 1, 2, 3}, 0}, {{4, 5}, 1}});
  const Topology package = with_host_devices(machine, HostDomain::package);
  ASSERT_EQ(package.devices().size(), 1U);
  EXPECT_EQ(package.devices()[0].cores, range(0, 5));
  const Placement placement = place_learners(machine, 6, 1);
  EXPECT_EQ(placement.warning, "");
  for (const int node : placement.numa_node_of_learner) {
    EXPECT_TRUE(node == 0 || node == 1) << node;
  }
}

// Package i has the PUs 2i and 2i+1 and the node i. Of packages 0, 6 and 7 the memory is
// not allowed, of 4 and 5 the cores; of 2 and 3 one core each.
TEST(MachineCpusets, cores_without_memory_are_devices_of_their_package) {
  CROSSBOW_SKIP_WITHOUT("16amd64-8n2c-cpusets.xml");
  const Topology machine = probe_xml(machine_file("16amd64-8n2c-cpusets.xml"));
  EXPECT_EQ(machine.numa_nodes().size(), 5U);
  const std::vector<HostDevice> six = {
      {{0, 1}, -1}, {{2, 3}, 1}, {{5}, 2}, {{6}, 3}, {{12, 13}, -1}, {{14, 15}, -1}};
  for (const HostDomain domain :
       {HostDomain::numa, HostDomain::package, HostDomain::l3}) {
    expect_devices(with_host_devices(machine, domain), six);
  }
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  expect_host_placement(nodes, 1, 1);
  expect_host_plan(nodes, {{LinkType::socket, 5}});
}

// Every core has a device, on every machine of the collection and for every domain.
TEST(MachineAny, host_devices_part_the_cores) {
  for (const char* file : {"dgx1v-like.xml",
                           "dgxa100-like.xml",
                           "nvidiaDGX2.xml",
                           "power8gpudistances.xml",
                           "power9-8335gtw-gpunuma.xml",
                           "coral-lassen.xml",
                           "g4dnmetal.xml",
                           "32em64t-2n8c2t-pci-wholeio.xml",
                           "32em64t-2n8c2t-pci-noio.xml",
                           "24em64t-2n6c2t-pci.xml",
                           "64intel64-fakeKNL-SNC4-hybrid.xml",
                           "8intel64-4n2t-memattrs.xml",
                           "32amd64-4s2n4c-cgroup2.xml",
                           "16amd64-8n2c-cpusets.xml"}) {
    CROSSBOW_SKIP_WITHOUT(file);
    SCOPED_TRACE(file);
    const Topology machine = probe_xml(machine_file(file));
    for (const HostDomain domain :
         {HostDomain::numa, HostDomain::package, HostDomain::l3, HostDomain::core}) {
      const Topology host = with_host_devices(machine, domain);
      std::vector<int> cores;
      for (const Device& device : host.devices()) {
        EXPECT_FALSE(device.cores.empty());
        cores.insert(cores.end(), device.cores.begin(), device.cores.end());
      }
      EXPECT_EQ(cores, range(0, static_cast<int>(host.cores().size()) - 1));
      const Placement placement = place_learners(host, 1, 1);
      expect_all_learners(host, placement, 1);
      expect_cores_shared_last(host, placement);
      expect_tree(Routes(host), plan_reduction(host, 1, 1 << 20).tree);
    }
  }
}

}  // namespace
}  // namespace crossbow
