#include "topology/transfer_model.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/devices.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/test_machines.hpp"

namespace crossbow {
namespace {

constexpr std::int64_t gigabyte = 1000000000;

// Links give what they promise and nothing else takes time.
TransferRates ideal_rates() {
  TransferRates rates;
  rates.nvlink_share = rates.pcie_share = 1;
  rates.start_latency = rates.nvlink_latency = rates.pcie_latency = 0;
  rates.gpu_memory = 1e9;
  return rates;
}

// What a machine's transfers, all at the same time and not in chunks, take for one GB
// [s].
struct Model {
  explicit Model(const Topology& machine, const TransferRates& rates = ideal_rates())
      : topology(machine), routes(topology), model(topology, routes, 1, rates) {}

  Cost cost(const std::vector<Transfer>& transfers) const {
    Traffic traffic;
    traffic.transfers = transfers;
    traffic.memory.assign(topology.devices().size(), 0);
    return model.cost(traffic, gigabyte);
  }
  double seconds(const std::vector<Transfer>& transfers) const {
    return cost(transfers).seconds;
  }

  Topology topology;
  Routes routes;
  TransferModel model;
};

// Links of 16 GB/s.
TEST(TransferModel, two_gpus_behind_a_switch) {
  const Model m(gpus_behind_a_switch(2).build());
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}}), 1.0 / 16);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 0.5}}), 0.5 / 16);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}, {1, 0, 1}}), 1.0 / 16);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}, {0, 1, 0.5}}), 1.5 / 16);
  EXPECT_DOUBLE_EQ(m.seconds({}), 0);
  EXPECT_DOUBLE_EQ(m.model.rate(0, 1), 16);
}

TEST(TransferModel, two_senders_share_the_receivers_link) {
  const Model m(gpus_behind_a_switch(3).build());
  EXPECT_DOUBLE_EQ(m.seconds({{1, 0, 1}, {2, 0, 1}}), 2.0 / 16);
  EXPECT_DOUBLE_EQ(m.seconds({{1, 0, 1}, {0, 2, 1}}), 1.0 / 16);
}

// Between sockets 10 GB/s, over which go 0 -> 2 and 1 -> 3.
TEST(TransferModel, uplinks_carry_the_bytes_of_all_their_users) {
  const Model m(gpus_on_two_sockets().build());
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 1}}), 1.0 / 10);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 1}, {1, 3, 1}}), 2.0 / 10);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 1}, {3, 1, 1}}), 1.0 / 10);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}, {2, 3, 1}}), 1.0 / 16);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 0.25}, {1, 3, 1}}), 1.25 / 10);
}

TEST(TransferModel, nvlinks_leave_pcie_to_others) {
  MachineBuilder builder = gpus_on_two_sockets();
  builder.add_nvlink(0, 2, 25);
  const Model m(builder.build());
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 1}, {1, 3, 1}}), 1.0 / 10);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 1}}), 1.0 / 25);
}

TEST(TransferModel, nvswitch_takes_all_that_a_device_sends) {
  MachineBuilder builder = gpus_behind_a_switch(3);
  for (int device = 0; device < 3; ++device) {
    builder.set_nvswitch(device, 150);
  }
  const Model m(builder.build());
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}, {0, 2, 1}}), 2.0 / 150);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}, {1, 2, 1}, {2, 0, 1}}), 1.0 / 150);
}

TEST(TransferModel, a_share_of_the_rates_reaches_the_data) {
  TransferRates rates = ideal_rates();
  rates.nvlink_share = 0.5;
  rates.pcie_share = 0.25;
  MachineBuilder builder = gpus_behind_a_switch(3);
  builder.add_nvlink(0, 1, 25);
  const Model m(builder.build(), rates);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 1, 1}}), 1.0 / 12.5);
  EXPECT_DOUBLE_EQ(m.seconds({{0, 2, 1}}), 1.0 / 4);
  EXPECT_DOUBLE_EQ(m.model.rate(0, 2), 4);
}

TEST(TransferModel, bottleneck_and_who_uses_it) {
  const Model m(gpus_on_two_sockets().build());
  const Cost cost = m.cost({{0, 1, 1}, {1, 2, 1}});
  EXPECT_EQ(cost.transfer, 1);
  ASSERT_GE(cost.bottleneck, 0);
  ASSERT_LT(cost.bottleneck, static_cast<int>(m.routes.channels().size()));
  EXPECT_EQ(m.routes.channels()[static_cast<std::size_t>(cost.bottleneck)].rate, 10);
  EXPECT_EQ(m.cost({}).bottleneck, -1);
}

TEST(TransferModel, channels_have_names) {
  const Model m(gpus_on_two_sockets().build());
  const auto n = static_cast<int>(m.routes.channels().size());
  for (int i = 0; i < n; ++i) {
    EXPECT_EQ(m.model.channel_name(i),
              m.routes.channels()[static_cast<std::size_t>(i)].name);
  }
  for (int device = 0; device < 4; ++device) {
    const std::string name = m.model.channel_name(n + device);
    EXPECT_NE(name.find(MachineBuilder::gpu_id(device)), std::string::npos) << name;
    EXPECT_NE(name.find("memory"), std::string::npos) << name;
  }
}

// Three model-sized arrays of 1 GB at 100 GB/s.
TEST(TransferModel, memory_of_a_device_is_a_channel) {
  TransferRates rates = ideal_rates();
  rates.gpu_memory = 100;
  const Model m(gpus_behind_a_switch(2).build(), rates);
  Traffic traffic;
  traffic.memory = {0, 3};
  Cost cost = m.model.cost(traffic, gigabyte);
  EXPECT_DOUBLE_EQ(cost.seconds, 0.03);
  EXPECT_EQ(cost.transfer, -1);
  EXPECT_EQ(cost.bottleneck, static_cast<int>(m.routes.channels().size()) + 1);
  traffic.transfers = {{0, 1, 1}};
  cost = m.model.cost(traffic, gigabyte);
  EXPECT_DOUBLE_EQ(cost.seconds, 1.0 / 16);
  EXPECT_EQ(cost.transfer, 0);
}

TEST(TransferModel, a_step_takes_its_latency_and_its_bytes) {
  TransferRates rates = ideal_rates();
  rates.start_latency = 1;
  rates.nvlink_latency = 0.125;
  rates.pcie_latency = 0.25;
  MachineBuilder builder = gpus_on_two_sockets();
  builder.add_nvlink(0, 1, 25);
  const Model m(builder.build(), rates);
  EXPECT_DOUBLE_EQ(m.model.start(), 1);
  EXPECT_DOUBLE_EQ(m.model.step(0, 1, gigabyte), 0.125 + 1.0 / 25);
  EXPECT_DOUBLE_EQ(m.model.step(2, 3, gigabyte), 0.25 + 1.0 / 16);
  EXPECT_DOUBLE_EQ(m.model.step(0, 2, gigabyte), 0.25 + 1.0 / 10);
  EXPECT_DOUBLE_EQ(m.model.step(0, 2, 0), 0.25);
}

TEST(TransferModel, latency_is_there_whatever_the_bytes) {
  const Model m(gpus_behind_a_switch(2).build());
  Traffic traffic;
  traffic.transfers = {{0, 1, 1}};
  traffic.memory = {0, 0};
  traffic.latency = 1.75;
  for (const std::int64_t bytes : {gigabyte, 2 * gigabyte}) {
    const Cost cost = m.model.cost(traffic, bytes);
    EXPECT_NEAR(cost.latency, 1.75, 1e-12);
    EXPECT_NEAR(cost.seconds, 1.75 + static_cast<double>(bytes) * 1e-9 / 16, 1e-12);
  }
}

// Until the first of ten chunks is through goes by the latency; then come the other nine,
// at the soonest.
TEST(TransferModel, chunks_follow_the_first_one) {
  const Model m(gpus_behind_a_switch(2).build());
  Traffic traffic;
  traffic.transfers = {{0, 1, 1}};
  traffic.memory = {0, 0};
  traffic.chunk = gigabyte / 10;
  traffic.latency = 0.5;
  const double seconds = m.model.cost(traffic, gigabyte).seconds;
  EXPECT_GE(seconds, 0.5 + 0.9 / 16 - 1e-12);
  EXPECT_LE(seconds, 0.5 + 1.0 / 16 + 1e-12);
}

TEST(TransferModel, nothing_to_start_on_a_host) {
  const Topology host =
      with_host_devices(probe_synthetic("pack:2 numa:1 core:2 pu:1"), HostDomain::numa);
  const Routes routes(host);
  EXPECT_EQ(TransferModel(host, routes, 1, {}).start(), 0);
}

// NCCL's measure: all-reduce of n devices moves 2 (n-1)/n of the bytes over each link.
double bus_bandwidth(const Topology& topology) {
  constexpr std::int64_t bytes = std::int64_t{1} << 30;
  const auto n = static_cast<double>(topology.devices().size());
  const double seconds = plan_reduction(topology, 1, bytes).cost.seconds;
  return 2 * (n - 1) / n * static_cast<double>(bytes) / seconds * 1e-9;
}

void expect_within_a_quarter(double value, double published) {
  EXPECT_GE(value, 0.75 * published);
  EXPECT_LE(value, 1.25 * published);
}

// 135.5 GB/s: 8x V100 of Oracle's BM.GPU3.8 (oracle-japan/ocitutorials,
// spinup-ml-instance-cntnd.md).
TEST(BusBandwidth, hybrid_cube_mesh_of_v100) {
  expect_within_a_quarter(bus_bandwidth(probe_xml(machine_file("dgx1v-like.xml"))),
                          135.5);
}

// 123 GB/s: 12 of the 16 GPUs of a DGX-2 (wohlbier/nccl-tests, README).
TEST(BusBandwidth, dgx2) {
  CROSSBOW_SKIP_WITHOUT("nvidiaDGX2.xml");
  const Topology machine = probe_xml(machine_file("nvidiaDGX2.xml"));
  std::vector<std::string> twelve;
  for (std::size_t i = 0; i < 12; ++i) {
    twelve.push_back(machine.devices()[i].id);
  }
  expect_within_a_quarter(bus_bandwidth(with_devices(machine, twelve)), 123);
  expect_within_a_quarter(bus_bandwidth(machine), 123);
}

// 232 GB/s: 8x A100 of Oracle's BM.GPU4.8 (same tutorial); 233.9 of a DGX A100 in
// FlagOpen/FlagPerf.
TEST(BusBandwidth, eight_a100) {
  expect_within_a_quarter(bus_bandwidth(probe_xml(machine_file("dgxa100-like.xml"))),
                          232);
}

}  // namespace
}  // namespace crossbow
