#include "topology/devices.hpp"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "topology/probe.hpp"
#include "topology/test_machines.hpp"

namespace crossbow {
namespace {

std::vector<std::string> ids(const Topology& topology) {
  std::vector<std::string> names;
  for (const Device& device : topology.devices()) {
    names.push_back(device.id);
  }
  return names;
}

std::vector<std::vector<int>> cores_of_devices(const Topology& topology) {
  std::vector<std::vector<int>> lists;
  for (const Device& device : topology.devices()) {
    EXPECT_EQ(device.kind, DeviceKind::host);
    lists.push_back(device.cores);
  }
  return lists;
}

using Lists = std::vector<std::vector<int>>;

class DeviceNames : public testing::Test {
 protected:
  static Topology machine() { return probe_xml(machine_file("dgx1v-like.xml")); }

  static std::vector<std::string> chosen(const std::vector<std::string>& names) {
    return ids(with_devices(machine(), names));
  }

  // Give the message of the refusal.
  static std::string refusal(const Topology& topology,
                             const std::vector<std::string>& names) {
    try {
      with_devices(topology, names);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::usage);
      return error.what();
    }
    return "";
  }
};

TEST_F(DeviceNames, pci_address_in_any_form) {
  const std::vector<std::string> wanted = {"0000:0a:00.0"};
  EXPECT_EQ(chosen({"0000:0a:00.0"}), wanted);
  EXPECT_EQ(chosen({"0000:0A:00.0"}), wanted);
  EXPECT_EQ(chosen({"0a:00.0"}), wanted);
  EXPECT_EQ(chosen({"0A:00.0"}), wanted);
}

TEST_F(DeviceNames, uuid_in_any_case) {
  const std::vector<std::string> wanted = {"0000:85:00.0"};
  EXPECT_EQ(chosen({"GPU-00000000-0000-0000-0000-000000000004"}), wanted);
  EXPECT_EQ(chosen({"gpu-00000000-0000-0000-0000-000000000004"}), wanted);
}

TEST_F(DeviceNames, order_is_the_machines) {
  EXPECT_EQ(chosen({"8a:00.0", "06:00.0", "GPU-00000000-0000-0000-0000-000000000002"}),
            (std::vector<std::string>{"0000:06:00.0", "0000:0a:00.0", "0000:8a:00.0"}));
}

// 0, 3 and 4 of the cube-mesh: 0-3 and 0-4 have two links, 3-4 none.
TEST_F(DeviceNames, nvlinks_of_the_chosen_stay) {
  const Topology topology = with_devices(machine(), {"85:00.0", "06:00.0", "0b:00.0"});
  ASSERT_EQ(topology.devices().size(), 3U);
  std::set<std::string> links;
  for (const NvLink& link : topology.nvlinks()) {
    EXPECT_LT(link.a, link.b);
    EXPECT_EQ(link.rate, 50);
    links.insert(std::to_string(link.a) + "-" + std::to_string(link.b));
  }
  EXPECT_EQ(links, (std::set<std::string>{"0-1", "0-2"}));
}

TEST_F(DeviceNames, rest_of_the_machine_stays) {
  const Topology whole = machine();
  const Topology part = with_devices(whole, {"8a:00.0"});
  EXPECT_EQ(part.pus(), whole.pus());
  EXPECT_EQ(part.memory(), whole.memory());
  EXPECT_EQ(part.devices()[0].numa_node, 1);
}

TEST_F(DeviceNames, unknown_name_lists_what_there_is) {
  const Topology topology = machine();
  const std::string message = refusal(topology, {"0000:06:00.0", "0000:99:00.0"});
  EXPECT_NE(message.find("0000:99:00.0"), std::string::npos) << message;
  for (const Device& device : topology.devices()) {
    EXPECT_NE(message.find(device.id), std::string::npos) << message;
  }
}

TEST_F(DeviceNames, device_comes_once_under_whatever_name) {
  const Topology topology = machine();
  refusal(topology, {"06:00.0", "06:00.0"});
  refusal(topology, {"06:00.0", "0000:06:00.0"});
  refusal(topology, {"06:00.0", "GPU-00000000-0000-0000-0000-000000000000"});
}

TEST_F(DeviceNames, only_domain_zero_may_be_left_out) {
  CROSSBOW_SKIP_WITHOUT("power8gpudistances.xml");
  const Topology topology = probe_xml(machine_file("power8gpudistances.xml"));
  EXPECT_EQ(ids(with_devices(topology, {"000A:01:00.0"})),
            std::vector<std::string>{"000a:01:00.0"});
  refusal(topology, {"01:00.0"});
}

TEST_F(DeviceNames, host_devices_have_names_too) {
  const Topology host = with_host_devices(
      probe_synthetic("pack:2 numa:2 l3:2 core:2 pu:2"), HostDomain::l3);
  const std::vector<std::string> all = ids(host);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 8U);
  const Topology two = with_devices(host, {all[6], all[1]});
  EXPECT_EQ(ids(two), (std::vector<std::string>{all[1], all[6]}));
  EXPECT_EQ(cores_of_devices(two), (Lists{{2, 3}, {12, 13}}));
  EXPECT_NE(refusal(host, {"06:00.0"}).find(all[7]), std::string::npos);
}

TEST_F(DeviceNames, nothing_is_found_where_there_is_nothing) {
  refusal(probe_synthetic("core:2 pu:1"), {"06:00.0"});
}

TEST(HostDevices, one_for_each_domain) {
  const Topology machine = probe_synthetic("pack:2 numa:2 l3:2 core:2 pu:2");
  const auto cores = [&machine](HostDomain domain) {
    return cores_of_devices(with_host_devices(machine, domain));
  };
  EXPECT_EQ(cores(HostDomain::package),
            (Lists{{0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}}));
  EXPECT_EQ(cores(HostDomain::numa),
            (Lists{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, {12, 13, 14, 15}}));
  EXPECT_EQ(
      cores(HostDomain::l3),
      (Lists{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}));
  ASSERT_EQ(cores(HostDomain::core).size(), 16U);
  EXPECT_EQ(cores(HostDomain::core)[9], std::vector<int>{9});
}

TEST(HostDevices, stand_where_their_cores_do) {
  const Topology machine = probe_synthetic("pack:2 numa:2 l3:1 core:2 pu:1");
  const Topology nodes = with_host_devices(machine, HostDomain::numa);
  ASSERT_EQ(nodes.devices().size(), 4U);
  for (int i = 0; i < 4; ++i) {
    const Device& device = nodes.devices()[static_cast<std::size_t>(i)];
    EXPECT_EQ(device.numa_node, i);
    EXPECT_EQ(device.package, i / 2);
    EXPECT_EQ(device.pci, "");
    EXPECT_FALSE(device.runs_cuda);
  }
  EXPECT_EQ(nodes.devices()[0].id, "numa0");
  EXPECT_EQ(nodes.devices()[3].id, "numa3");
}

TEST(HostDevices, take_the_place_of_gpus) {
  const Topology machine = probe_xml(machine_file("dgx1v-like.xml"));
  const Topology host = with_host_devices(machine, HostDomain::package);
  EXPECT_EQ(host.devices().size(), 2U);
  EXPECT_TRUE(host.nvlinks().empty());
}

// The second package has no memory that is allowed.
TEST(HostDevices, cores_without_memory_are_a_device_of_their_package) {
  TopologyParts parts;
  parts.packages = {{0, ""}, {1, ""}};
  parts.numa_nodes = {{0, 1}};
  parts.l3_groups = {{0, 0, {0, 1}}, {1, -1, {2, 3}}};
  parts.cores = {
      {0, 0, 0, 0, {0}}, {1, 0, 0, 0, {1}}, {2, 1, -1, 1, {2}}, {3, 1, -1, 1, {3}}};
  parts.places = {{PlaceKind::machine, "machine", -1, 0},
                  {PlaceKind::package, "package 0", 0, 10},
                  {PlaceKind::package, "package 1", 0, 10},
                  {PlaceKind::numa_node, "NUMA node 0", 1, 0}};
  const Topology nodes = with_host_devices(Topology(parts), HostDomain::numa);
  EXPECT_EQ(cores_of_devices(nodes), (Lists{{0, 1}, {2, 3}}));
  EXPECT_EQ(nodes.devices()[1].numa_node, -1);
  EXPECT_EQ(nodes.devices()[1].package, 1);
  EXPECT_NE(nodes.devices()[0].id, nodes.devices()[1].id);
}

TEST(CudaDevices, only_those_that_run_cuda) {
  TopologyParts parts = gpus_on_two_sockets().build().parts();
  parts.devices[1].runs_cuda = false;
  parts.nvlinks = {{0, 1, 25}, {0, 3, 50}};
  const Topology topology = with_cuda_devices(Topology(parts));
  EXPECT_EQ(ids(topology),
            (std::vector<std::string>{"0000:10:00.0", "0000:12:00.0", "0000:13:00.0"}));
  ASSERT_EQ(topology.nvlinks().size(), 1U);
  EXPECT_EQ(topology.nvlinks()[0].a, 0);
  EXPECT_EQ(topology.nvlinks()[0].b, 2);
  EXPECT_EQ(topology.nvlinks()[0].rate, 50);
}

}  // namespace
}  // namespace crossbow
