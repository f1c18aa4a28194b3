#include "topology/route.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/devices.hpp"
#include "topology/probe.hpp"
#include "topology/test_machines.hpp"

namespace crossbow {
namespace {

// One package of two NUMA nodes and one of one. GPUs 0 and 1 on a switch, 2 on its host
// bridge, 3 on another bridge of the node, 4 on the other node, 5 on the other package.
Topology all_distances() {
  TopologyParts parts;
  parts.packages = {{0, ""}, {1, ""}};
  parts.numa_nodes = {{0, 1}, {1, 1}, {2, 1}};
  parts.l3_groups = {{0, 0, {0}}, {0, 1, {1}}, {1, 2, {2}}};
  parts.cores = {{0, 0, 0, 0, {0}}, {1, 0, 1, 1, {1}}, {2, 1, 2, 2, {2}}};
  parts.places = {{PlaceKind::machine, "machine", -1, 0},
                  {PlaceKind::package, "package 0", 0, 9},
                  {PlaceKind::package, "package 1", 0, 10},
                  {PlaceKind::numa_node, "NUMA node 0", 1, 20},
                  {PlaceKind::numa_node, "NUMA node 1", 1, 30},
                  {PlaceKind::numa_node, "NUMA node 2", 2, 0},
                  {PlaceKind::host_bridge, "host bridge 0", 3, 0},
                  {PlaceKind::host_bridge, "host bridge 1", 3, 0},
                  {PlaceKind::host_bridge, "host bridge 2", 4, 0},
                  {PlaceKind::host_bridge, "host bridge 3", 5, 0},
                  {PlaceKind::pcie_switch, "PCIe switch 0", 6, 15}};
  const std::vector<int> places = {10, 10, 6, 7, 8, 9};
  const std::vector<int> nodes = {0, 0, 0, 0, 1, 2};
  for (int i = 0; i < 6; ++i) {
    Device device;
    device.id = device.pci = MachineBuilder::gpu_id(i);
    device.place = places[static_cast<std::size_t>(i)];
    device.numa_node = nodes[static_cast<std::size_t>(i)];
    device.package = i < 5 ? 0 : 1;
    device.link_rate = 31;
    parts.devices.push_back(device);
  }
  return Topology(parts);
}

TEST(Routes, farthest_thing_on_the_way_and_narrowest_channel) {
  const Topology topology = all_distances();
  const Routes routes(topology);
  EXPECT_EQ(routes.devices(), 6);
  const std::vector<LinkType> types = {LinkType::pcie_switch,
                                       LinkType::host_bridge,
                                       LinkType::numa_node,
                                       LinkType::package,
                                       LinkType::socket};
  const std::vector<double> rates = {31, 15, 15, 15, 9};
  for (int to = 1; to < 6; ++to) {
    const auto i = static_cast<std::size_t>(to - 1);
    EXPECT_EQ(routes.route(0, to).type, types[i]) << to;
    EXPECT_EQ(routes.route(to, 0).type, types[i]) << to;
    EXPECT_EQ(routes.route(0, to).rate, rates[i]) << to;
    EXPECT_EQ(routes.route(to, 0).rate, rates[i]) << to;
  }
  EXPECT_EQ(routes.route(3, 4).rate, 20);
  EXPECT_EQ(routes.route(4, 5).rate, 9);
}

// Up and down are different channels, and a channel on the way of several is the same.
TEST(Routes, channels_are_shared_by_direction) {
  const Topology topology = all_distances();
  const Routes routes(topology);
  std::set<int> there(routes.route(0, 5).channels.begin(),
                      routes.route(0, 5).channels.end());
  for (const int channel : routes.route(5, 0).channels) {
    EXPECT_EQ(there.count(channel), 0U) << routes.channels()[channel].name;
  }
  // 1 -> 4 has the links switch -> bridge and node 0 -> package 0 in common with 0 -> 5.
  std::vector<double> common;
  for (const int channel : routes.route(1, 4).channels) {
    if (there.count(channel) > 0 && routes.channels()[channel].rate > 0) {
      common.push_back(routes.channels()[channel].rate);
    }
  }
  std::sort(common.begin(), common.end());
  EXPECT_EQ(common, (std::vector<double>{15, 20}));
}

TEST(Routes, channels_are_named_by_both_ends) {
  const Topology topology = all_distances();
  const Routes routes(topology);
  std::set<std::string> names;
  for (const Channel& channel : routes.channels()) {
    EXPECT_TRUE(names.insert(channel.name).second) << channel.name << " twice";
  }
  EXPECT_EQ(names.count("0000:10:00.0 -> PCIe switch 0"), 1U);
  EXPECT_EQ(names.count("PCIe switch 0 -> 0000:10:00.0"), 1U);
}

TEST(Routes, nvlink_is_taken_where_there_is_one) {
  MachineBuilder builder = gpus_on_two_sockets();
  builder.add_nvlink(0, 2, 25);
  const Topology topology = builder.build();
  const Routes routes(topology);
  EXPECT_EQ(routes.route(0, 2).type, LinkType::nvlink);
  EXPECT_EQ(routes.route(2, 0).rate, 25);
  EXPECT_EQ(routes.route(0, 3).type, LinkType::socket);
  EXPECT_EQ(routes.route(0, 1).type, LinkType::host_bridge);
}

// A link of 8 GB/s beside PCIe of 16: the rule has no exception for slow links.
TEST(Routes, two_directions_of_an_nvlink_are_two_channels) {
  MachineBuilder builder = gpus_behind_a_switch(2);
  builder.add_nvlink(0, 1, 8);
  const Topology topology = builder.build();
  const Routes routes(topology);
  EXPECT_EQ(routes.route(0, 1).rate, 8);
  EXPECT_NE(routes.route(0, 1).channels, routes.route(1, 0).channels);
}

TEST(Routes, nvswitches_have_a_channel_in_and_out_of_each_device) {
  MachineBuilder builder = gpus_behind_a_switch(4);
  for (const int device : {0, 1, 2}) {
    builder.set_nvswitch(device, device == 2 ? 100 : 150);
  }
  const Topology topology = builder.build();
  const Routes routes(topology);
  EXPECT_EQ(routes.route(0, 1).type, LinkType::nvlink);
  EXPECT_EQ(routes.route(0, 1).rate, 150);
  EXPECT_EQ(routes.route(2, 1).rate, 100);
  EXPECT_EQ(routes.route(0, 3).type, LinkType::pcie_switch);
  const std::vector<int>& a = routes.route(0, 1).channels;
  const std::vector<int>& b = routes.route(0, 2).channels;
  ASSERT_EQ(a.size(), 2U);
  ASSERT_EQ(b.size(), 2U);
  EXPECT_EQ(a[0], b[0]);  // out of 0
  EXPECT_NE(a[1], b[1]);
}

TEST(Routes, nvlink_to_host_replaces_pcie) {
  MachineBuilder builder = gpus_on_two_sockets();
  for (int device = 0; device < 4; ++device) {
    builder.set_nvlink_to_host(device, 40);
  }
  const Topology topology = builder.build();
  const Routes routes(topology);
  EXPECT_EQ(routes.route(0, 1).rate, 40);
  EXPECT_NE(routes.route(0, 1).type, LinkType::nvlink);
  EXPECT_EQ(routes.route(0, 2).type, LinkType::socket);
  EXPECT_EQ(routes.route(0, 2).rate, test_socket_rate);
}

TEST(Routes, host_devices) {
  const Topology machine = probe_synthetic("pack:2 numa:2 l3:2 core:2 pu:1");
  const Topology cores = with_host_devices(machine, HostDomain::core);
  const Routes routes(cores);
  ASSERT_EQ(routes.devices(), 16);
  EXPECT_EQ(routes.route(0, 1).type, LinkType::memory);
  EXPECT_EQ(routes.route(0, 2).type, LinkType::memory);
  EXPECT_EQ(routes.route(0, 4).type, LinkType::package);
  EXPECT_EQ(routes.route(0, 8).type, LinkType::socket);
  const Topology packages = with_host_devices(machine, HostDomain::package);
  EXPECT_EQ(Routes(packages).route(0, 1).type, LinkType::socket);
}

TEST(Routes, link_types_have_names) {
  EXPECT_EQ(link_type_name(LinkType::nvlink), "NVLink");
  EXPECT_EQ(link_type_name(LinkType::pcie_switch), "PCIe switch");
  std::set<std::string_view> names;
  for (const LinkType type : {LinkType::memory,
                              LinkType::nvlink,
                              LinkType::pcie_switch,
                              LinkType::host_bridge,
                              LinkType::numa_node,
                              LinkType::package,
                              LinkType::socket}) {
    EXPECT_TRUE(names.insert(link_type_name(type)).second);
  }
}

}  // namespace
}  // namespace crossbow
