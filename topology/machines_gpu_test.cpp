// The machines with GPUs of the collection, a test each. Expectations are read off the
// files and what is known of the machines.

#include <cstddef>
#include <cstdint>
#include <map>
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

constexpr std::int64_t resnet50 = 102228128;  // [bytes]

struct Gpu {
  std::string pci;
  int node;  // of the operating system
};

/// GPUs with their addresses and nodes, one for each address.
void expect_gpus(const Topology& topology, const std::vector<Gpu>& gpus) {
  ASSERT_EQ(topology.devices().size(), gpus.size());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const Device& device = topology.devices()[i];
    EXPECT_EQ(device.kind, DeviceKind::gpu);
    EXPECT_EQ(device.id, gpus[i].pci);
    EXPECT_EQ(device.pci, gpus[i].pci);
    ASSERT_GE(device.numa_node, 0) << device.id;
    const auto node = static_cast<std::size_t>(device.numa_node);
    EXPECT_EQ(topology.numa_nodes()[node].os_index, gpus[i].node) << device.id;
    EXPECT_GE(device.package, 0) << device.id;
    EXPECT_TRUE(device.cores.empty());
  }
}

void expect_route(
    const Topology& topology, int from, int to, LinkType type, double rate) {
  const Routes routes(topology);
  for (const Route& route : {routes.route(from, to), routes.route(to, from)}) {
    EXPECT_EQ(route.type, type) << from << " to " << to;
    EXPECT_NEAR(route.rate, rate, 0.01) << from << " to " << to;
  }
}

// The rate between sockets is an estimate: it is there, and not wider than the devices'
// links.
void expect_over_sockets(const Topology& topology, int from, int to) {
  const Route route = Routes(topology).route(from, to);
  EXPECT_EQ(route.type, LinkType::socket) << from << " to " << to;
  EXPECT_GT(route.rate, 0);
  EXPECT_LE(route.rate, topology.devices()[static_cast<std::size_t>(from)].link_rate);
}

/// What holds for all plans; give that of ResNet-50 with one learner on each device.
ReductionPlan expect_plan(const Topology& topology) {
  const Routes routes(topology);
  ReductionPlan plan = plan_reduction(topology, 1, resnet50);
  expect_tree(routes, plan.tree);
  expect_rings(plan, topology.devices().size());
  EXPECT_LE(plan.cost.seconds, plan.tree_cost.seconds);
  EXPECT_LE(plan.cost.seconds, plan.flat_ring_seconds * (1 + 1e-12));
  EXPECT_LE(plan.cost.seconds, plan.star_seconds * (1 + 1e-12));
  EXPECT_LE(plan.tree_cost.seconds, plan.star_seconds * (1 + 1e-12));
  EXPECT_FALSE(plan.bottleneck.empty());
  const Links links = links_of_tree(plan.tree);
  int other = 0;
  for (const auto& [type, count] : links) {
    other += type == LinkType::nvlink ? 0 : count;
  }
  EXPECT_EQ(other, nvlink_parts(topology) - 1);
  return plan;
}

// Links of the hybrid cube-mesh with 50 GB/s: 0-3, 3-2, 2-1; 4-7, 7-6, 6-5; 0-4 and 1-5
// between both halves.
TEST(MachineDgx1, gpus_and_domains) {
  const Topology topology = probe_xml(machine_file("dgx1v-like.xml"));
  expect_gpus(topology,
              {{"0000:06:00.0", 0},
               {"0000:07:00.0", 0},
               {"0000:0a:00.0", 0},
               {"0000:0b:00.0", 0},
               {"0000:85:00.0", 1},
               {"0000:86:00.0", 1},
               {"0000:89:00.0", 1},
               {"0000:8a:00.0", 1}});
  EXPECT_EQ(topology.devices()[2].name, "Tesla V100-SXM2-16GB");
  EXPECT_EQ(topology.devices()[2].uuid, "GPU-00000000-0000-0000-0000-000000000002");
  EXPECT_EQ(topology.devices()[2].memory, std::uint64_t{16} << 30);
  EXPECT_TRUE(topology.devices()[2].runs_cuda);
  EXPECT_EQ(topology.nvlinks().size(), 16U);
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch),
            (Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::nvlink_island),
            (Lists{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::numa_node),
            (Lists{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(MachineDgx1, routes_and_placement) {
  const Topology topology = probe_xml(machine_file("dgx1v-like.xml"));
  expect_route(topology, 0, 1, LinkType::nvlink, 25);
  expect_route(topology, 0, 3, LinkType::nvlink, 50);
  expect_route(topology, 0, 4, LinkType::nvlink, 50);
  expect_route(topology, 2, 6, LinkType::nvlink, 25);
  for (const int other : {5, 6, 7}) {
    expect_over_sockets(topology, 0, other);
  }
  for (const int learners : {1, 2, 5, 12}) {
    expect_good_gpu_placement(topology, learners);
  }
}

TEST(MachineDgx1, plan) {
  const Topology topology = probe_xml(machine_file("dgx1v-like.xml"));
  const ReductionPlan plan = expect_plan(topology);
  EXPECT_EQ(links_of_tree(plan.tree), (Links{{LinkType::nvlink, 7}}));
  int between = 0;
  for (const ReductionEdge& edge : plan.tree.edges) {
    EXPECT_GE(edge.rate, 50) << edge.from << " to " << edge.to;
    between += (edge.from < 4) != (edge.to < 4) ? 1 : 0;
  }
  EXPECT_EQ(between, 1);
  EXPECT_EQ(plan.method, ReductionMethod::ring);
  // Six links of 25 GB/s at each GPU: three rings, each in both directions.
  EXPECT_NEAR(rate_of_nvlink_rings(topology, plan.rings), 150, 1e-6);
}

std::vector<Gpu> gpus_of_dgx2() {
  std::vector<Gpu> gpus;
  for (const char* bus : {"34",
                          "36",
                          "39",
                          "3b",
                          "57",
                          "59",
                          "5c",
                          "5e",
                          "b7",
                          "b9",
                          "bc",
                          "be",
                          "e0",
                          "e2",
                          "e5",
                          "e7"}) {
    gpus.push_back({"0000:" + std::string(bus) + ":00.0", gpus.size() < 8 ? 0 : 1});
  }
  return gpus;
}

TEST(MachineDgx2, gpus_and_domains) {
  CROSSBOW_SKIP_WITHOUT("nvidiaDGX2.xml");
  const Topology topology = probe_xml(machine_file("nvidiaDGX2.xml"));
  expect_gpus(topology, gpus_of_dgx2());
  // Each switch of a host bridge has two switches with two GPUs each.
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch),
            (Lists{{0, 1},
                   {0, 1, 2, 3},
                   {2, 3},
                   {4, 5},
                   {4, 5, 6, 7},
                   {6, 7},
                   {8, 9},
                   {8, 9, 10, 11},
                   {10, 11},
                   {12, 13},
                   {12, 13, 14, 15},
                   {14, 15}}));
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  EXPECT_EQ(domain_devices(topology, DomainKind::nvlink_island), Lists{all});
  for (const Device& device : topology.devices()) {
    EXPECT_EQ(device.nvswitch_rate, 150);
    EXPECT_TRUE(device.runs_cuda);
    EXPECT_NEAR(device.link_rate, 15.75, 0.01);
  }
}

TEST(MachineDgx2, plan_and_placement) {
  CROSSBOW_SKIP_WITHOUT("nvidiaDGX2.xml");
  const Topology topology = probe_xml(machine_file("nvidiaDGX2.xml"));
  expect_route(topology, 0, 1, LinkType::nvlink, 150);
  expect_route(topology, 3, 12, LinkType::nvlink, 150);
  const ReductionPlan plan = expect_plan(topology);
  EXPECT_EQ(links_of_tree(plan.tree), (Links{{LinkType::nvlink, 15}}));
  for (const ReductionEdge& edge : plan.tree.edges) {
    EXPECT_EQ(edge.rate, 150);
  }
  EXPECT_EQ(plan.method, ReductionMethod::switch_group);
  // The file has two cores a socket, for eight GPUs: threads share them, but stay near.
  expect_good_gpu_placement(topology, 1);
  EXPECT_NE(place_learners(topology, 1, 1).warning, "");
}

TEST(MachineDgxA100, gpus_and_domains) {
  const Topology topology = probe_xml(machine_file("dgxa100-like.xml"));
  expect_gpus(topology,
              {{"0000:07:00.0", 3},
               {"0000:0f:00.0", 3},
               {"0000:47:00.0", 1},
               {"0000:4e:00.0", 1},
               {"0000:87:00.0", 7},
               {"0000:90:00.0", 7},
               {"0000:b7:00.0", 5},
               {"0000:bd:00.0", 5}});
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch),
            (Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::nvlink_island),
            (Lists{{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::numa_node),
            (Lists{{}, {}, {}, {}, {0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::package),
            (Lists{{0, 1, 2, 3}, {4, 5, 6, 7}}));
}

TEST(MachineDgxA100, plan_and_placement) {
  const Topology topology = probe_xml(machine_file("dgxa100-like.xml"));
  expect_route(topology, 0, 1, LinkType::nvlink, 300);
  expect_route(topology, 0, 7, LinkType::nvlink, 300);
  const ReductionPlan plan = expect_plan(topology);
  EXPECT_EQ(links_of_tree(plan.tree), (Links{{LinkType::nvlink, 7}}));
  EXPECT_EQ(plan.method, ReductionMethod::switch_group);
  for (const int learners : {1, 4}) {
    expect_good_gpu_placement(topology, learners);
  }
}

TEST(MachinePower8, gpus_and_domains) {
  CROSSBOW_SKIP_WITHOUT("power8gpudistances.xml");
  const Topology topology = probe_xml(machine_file("power8gpudistances.xml"));
  // Each has a cuda, an nvml and an opencl device, and is one.
  expect_gpus(topology,
              {{"0002:01:00.0", 0},
               {"0003:01:00.0", 0},
               {"000a:01:00.0", 1},
               {"000b:01:00.0", 1}});
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch), Lists{});
  EXPECT_EQ(domain_devices(topology, DomainKind::nvlink_island), (Lists{{0, 1}, {2, 3}}));
  for (const Device& device : topology.devices()) {
    EXPECT_TRUE(device.nvlink_to_host);
    EXPECT_EQ(device.link_rate, 40);
    EXPECT_EQ(device.nvswitch_rate, 0);
  }
}

TEST(MachinePower8, plan_and_placement) {
  CROSSBOW_SKIP_WITHOUT("power8gpudistances.xml");
  const Topology topology = probe_xml(machine_file("power8gpudistances.xml"));
  expect_route(topology, 0, 1, LinkType::nvlink, 40);
  expect_route(topology, 2, 3, LinkType::nvlink, 40);
  expect_over_sockets(topology, 1, 2);
  EXPECT_EQ(links_of_tree(expect_plan(topology).tree),
            (Links{{LinkType::nvlink, 2}, {LinkType::socket, 1}}));
  for (const int learners : {1, 2, 3}) {
    expect_good_gpu_placement(topology, learners);
  }
}

// The file has no NVLink matrix. Each pair hangs on a switch by two lanes of PCIe 3.0.
TEST(MachineLassen, gpus_domains_and_plan) {
  CROSSBOW_SKIP_WITHOUT("coral-lassen.xml");
  const Topology topology = probe_xml(machine_file("coral-lassen.xml"));
  expect_gpus(topology,
              {{"0004:04:00.0", 0},
               {"0004:05:00.0", 0},
               {"0035:03:00.0", 8},
               {"0035:04:00.0", 8}});
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::nvlink_island), Lists{});
  expect_route(topology, 0, 1, LinkType::pcie_switch, 1.97);
  expect_route(topology, 0, 2, LinkType::socket, 1.97);
  const ReductionPlan plan = expect_plan(topology);
  EXPECT_EQ(links_of_tree(plan.tree),
            (Links{{LinkType::pcie_switch, 2}, {LinkType::socket, 1}}));
  EXPECT_NE(plan.method, ReductionMethod::switch_group);
  for (const int learners : {1, 4, 10}) {
    expect_good_gpu_placement(topology, learners);
  }
}

// T4s have eight lanes of PCIe 3.0 here; the file saw them asleep.
TEST(MachineG4dn, gpus_and_domains) {
  CROSSBOW_SKIP_WITHOUT("g4dnmetal.xml");
  const Topology topology = probe_xml(machine_file("g4dnmetal.xml"));
  expect_gpus(topology,
              {{"0000:18:00.0", 0},
               {"0000:19:00.0", 0},
               {"0000:35:00.0", 0},
               {"0000:36:00.0", 0},
               {"0000:e7:00.0", 1},
               {"0000:e8:00.0", 1},
               {"0000:f4:00.0", 1},
               {"0000:f5:00.0", 1}});
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch), Lists{});
  EXPECT_EQ(domain_devices(topology, DomainKind::nvlink_island), Lists{});
  EXPECT_EQ(domain_devices(topology, DomainKind::numa_node),
            (Lists{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  for (const Device& device : topology.devices()) {
    EXPECT_NEAR(device.link_rate, 7.875, 0.01);
    EXPECT_EQ(device.name, "Tesla T4");
  }
}

TEST(MachineG4dn, plan_and_placement) {
  CROSSBOW_SKIP_WITHOUT("g4dnmetal.xml");
  const Topology topology = probe_xml(machine_file("g4dnmetal.xml"));
  expect_route(topology, 0, 1, LinkType::host_bridge, 7.875);
  expect_route(topology, 6, 7, LinkType::host_bridge, 7.875);
  expect_route(topology, 1, 2, LinkType::numa_node, 7.875);
  expect_over_sockets(topology, 3, 4);
  const ReductionPlan plan = expect_plan(topology);
  EXPECT_EQ(
      links_of_tree(plan.tree),
      (Links{
          {LinkType::host_bridge, 4}, {LinkType::numa_node, 2}, {LinkType::socket, 1}}));
  EXPECT_NE(plan.method, ReductionMethod::switch_group);
  for (const int learners : {1, 3, 7}) {
    expect_good_gpu_placement(topology, learners);
  }
}

// GPUs are known by their class only, and their memories are NUMA nodes 250 to 255.
TEST(MachinePower9, gpus_domains_and_plan) {
  CROSSBOW_SKIP_WITHOUT("power9-8335gtw-gpunuma.xml");
  const Topology topology = probe_xml(machine_file("power9-8335gtw-gpunuma.xml"));
  expect_gpus(topology,
              {{"0004:05:00.0", 0},
               {"0004:06:00.0", 0},
               {"0006:00:00.0", 0},
               {"0007:00:00.0", 8},
               {"0035:04:00.0", 8},
               {"0035:05:00.0", 8}});
  ASSERT_EQ(topology.numa_nodes().size(), 2U);
  EXPECT_EQ(topology.numa_nodes()[0].os_index, 0);
  EXPECT_EQ(topology.numa_nodes()[1].os_index, 8);
  for (const Device& device : topology.devices()) {
    EXPECT_TRUE(device.runs_cuda);
  }
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch), Lists{});
  EXPECT_EQ(Routes(topology).route(0, 1).type, LinkType::numa_node);
  EXPECT_EQ(Routes(topology).route(2, 3).type, LinkType::socket);
  EXPECT_EQ(links_of_tree(expect_plan(topology).tree),
            (Links{{LinkType::numa_node, 4}, {LinkType::socket, 1}}));
  for (const int learners : {1, 2}) {
    expect_good_gpu_placement(topology, learners);
  }
}

// Where a node has too few cores and another idle ones, the threads that read ahead go
// there: idle cores come before near ones.
void expect_overflow(const Topology& topology, int learners_per_device) {
  const Placement placement = place_learners(topology, learners_per_device, 1);
  expect_all_learners(topology, placement, learners_per_device);
  expect_cores_shared_last(topology, placement);
  for (int j = 0; j < placement.learners(); ++j) {
    const auto i = static_cast<std::size_t>(j);
    const auto device = static_cast<std::size_t>(placement.device_of_learner[i]);
    const int node = topology.devices()[device].numa_node;
    EXPECT_EQ(core_of_pu(topology, placement.pus_of_learner[i].front()).numa_node, node);
    EXPECT_EQ(placement.numa_node_of_learner[i], node);
  }
}

// A K40m, two cards of which only NVIDIA's name is known, a Radeon; the console's Matrox
// is none. The Radeon shares the K40m's slot, the file says.
TEST(MachineWholeIo, gpus_and_plan) {
  CROSSBOW_SKIP_WITHOUT("32em64t-2n8c2t-pci-wholeio.xml");
  const Topology topology = probe_xml(machine_file("32em64t-2n8c2t-pci-wholeio.xml"));
  expect_gpus(topology,
              {{"0000:03:00.0", 0},
               {"0000:83:00.0", 1},
               {"0000:84:00.0", 1},
               {"0000:84:00.1", 1}});
  EXPECT_TRUE(topology.devices()[0].runs_cuda);
  EXPECT_TRUE(topology.devices()[2].runs_cuda);
  EXPECT_FALSE(topology.devices()[3].runs_cuda);
  EXPECT_EQ(topology.devices()[2].name, "Tesla K40m");
  EXPECT_EQ(topology.devices()[2].memory, std::uint64_t{11796032} << 10);
  const Topology cuda = with_cuda_devices(topology);
  expect_gpus(cuda, {{"0000:03:00.0", 0}, {"0000:83:00.0", 1}, {"0000:84:00.0", 1}});
  EXPECT_EQ(Routes(cuda).route(1, 2).type, LinkType::host_bridge);
  EXPECT_EQ(Routes(cuda).route(0, 1).type, LinkType::socket);
  EXPECT_EQ(links_of_tree(expect_plan(cuda).tree),
            (Links{{LinkType::host_bridge, 1}, {LinkType::socket, 1}}));
  expect_good_gpu_placement(topology, 1);
  expect_good_gpu_placement(cuda, 1);
  expect_overflow(topology, 2);  // twelve threads for the eight cores of node 1
}

// Three Teslas known by PCI only; the console's ES1000 is none.
TEST(MachineSl390s, gpus_and_plan) {
  CROSSBOW_SKIP_WITHOUT("24em64t-2n6c2t-pci.xml");
  const Topology topology = probe_xml(machine_file("24em64t-2n6c2t-pci.xml"));
  expect_gpus(topology, {{"0000:06:00.0", 0}, {"0000:11:00.0", 1}, {"0000:14:00.0", 1}});
  for (const Device& device : topology.devices()) {
    EXPECT_TRUE(device.runs_cuda);
    EXPECT_GE(device.link_rate, 4);  // asleep
    EXPECT_LE(device.link_rate, 15.76);
  }
  EXPECT_EQ(Routes(topology).route(1, 2).type, LinkType::host_bridge);
  EXPECT_EQ(links_of_tree(expect_plan(topology).tree),
            (Links{{LinkType::host_bridge, 1}, {LinkType::socket, 1}}));
  expect_good_gpu_placement(topology, 1);
  expect_overflow(topology, 2);  // eight threads for the six cores of node 1
}

}  // namespace
}  // namespace crossbow
