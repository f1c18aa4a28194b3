// What placements and plans of any machine hold, on many machines drawn at random.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "topology/devices.hpp"
#include "topology/placement.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/route.hpp"
#include "topology/test_machines.hpp"
#include "topology/test_plans.hpp"

namespace crossbow {
namespace {

constexpr int n_host_machines = 150;
constexpr int n_gpu_machines = 200;
constexpr std::int64_t model_sizes[] = {1 << 12, 1 << 20, 1 << 26, 1 << 30};  // [bytes]

// A rounding error more or less.
constexpr double at_most = 1 + 1e-12;

// The standard's distributions differ between libraries; this one does not.
class Dice {
 public:
  explicit Dice(unsigned seed) : generator_(seed) {}

  int between(int first, int last) {
    return first +
           static_cast<int>(generator_() % static_cast<unsigned>(last - first + 1));
  }
  bool one_in(int n) { return between(1, n) == 1; }
  template <typename T>
  T one_of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(
        between(0, static_cast<int>(choices.size()) - 1))];
  }
  std::vector<int> permutation(int n) {
    std::vector<int> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    for (int i = n - 1; i > 0; --i) {
      std::swap(order[static_cast<std::size_t>(i)],
                order[static_cast<std::size_t>(between(0, i))]);
    }
    return order;
  }

 private:
  std::mt19937 generator_;
};

std::string random_host(Dice& dice) {
  const auto level = [&dice](const char* name, int most) {
    return std::string(name) + ":" + std::to_string(dice.between(1, most)) + " ";
  };
  return level("pack", 2) + level("numa", 3) + level("l3", 3) + level("core", 4) +
         level("pu", 2);
}

// Bridges with or without switches on every node, GPUs on any of them.
MachineBuilder random_pcie_machine(Dice& dice) {
  const int nodes = dice.between(1, 4);
  MachineBuilder builder(nodes, dice.between(1, 6), dice.between(1, 2));
  std::vector<int> places;
  for (int node = 0; node < nodes; ++node) {
    const int bridges = dice.between(1, 2);
    for (int i = 0; i < bridges; ++i) {
      const int bridge = builder.add_bridge(node);
      places.push_back(bridge);
      if (dice.one_in(2)) {
        const int outer = builder.add_switch(bridge, dice.one_of<double>({8, 16}));
        places.push_back(outer);
        if (dice.one_in(3)) {
          places.push_back(builder.add_switch(outer));
        }
      }
    }
  }
  // In a machine's order: PCI addresses ascend with the places.
  std::vector<int> of_gpus(static_cast<std::size_t>(dice.between(1, 10)));
  for (int& place : of_gpus) {
    place = dice.one_of(places);
  }
  std::sort(of_gpus.begin(), of_gpus.end());
  const double rate = dice.one_of<double>({8, 16});
  for (const int place : of_gpus) {
    builder.add_gpu(place, dice.one_in(8) ? 8 : rate);
  }
  return builder;
}

// A third has no NVLinks, a sixth NVSwitches, one in twelve NVLinks to the host as well.
Topology random_gpu_machine(Dice& dice) {
  MachineBuilder builder = random_pcie_machine(dice);
  const int n = builder.devices();
  const int kind = dice.between(1, 12);
  if (kind <= 2) {
    const bool are_all_on_it = dice.one_in(2);
    for (int device = 0; device < n; ++device) {
      if (are_all_on_it || dice.one_in(2)) {
        builder.set_nvswitch(device, 150);
      }
    }
  } else if (kind <= 8) {
    const int density = dice.between(1, 5);
    for (int a = 0; a < n; ++a) {
      for (int b = a + 1; b < n; ++b) {
        if (dice.one_in(density)) {
          builder.add_nvlink(a, b, dice.one_of<double>({25, 50, 100}));
        }
      }
    }
    for (int device = 0; kind == 8 && device < n; ++device) {
      builder.set_nvlink_to_host(device, 25);
    }
  }
  return builder.build();
}

std::string describe(const Topology& topology) {
  std::ostringstream text;
  for (const Place& place : topology.places()) {
    text << place.name << " on " << place.parent << " by " << place.link_rate << "; ";
  }
  for (const Device& device : topology.devices()) {
    text << device.id << " on " << device.place << " by " << device.link_rate << " / "
         << device.nvswitch_rate << "; ";
  }
  for (const NvLink& link : topology.nvlinks()) {
    text << link.a << "=" << link.b << " by " << link.rate << "; ";
  }
  return text.str();
}

void expect_same_plan(const ReductionPlan& a, const ReductionPlan& b) {
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.tree, b.tree);
  EXPECT_EQ(a.rings, b.rings);
  EXPECT_EQ(a.chunk_bytes, b.chunk_bytes);
  EXPECT_EQ(a.cost.seconds, b.cost.seconds);
  EXPECT_EQ(a.bottleneck, b.bottleneck);
}

/// What holds for all plans.
ReductionPlan expect_plan(const Topology& topology, int learners, std::int64_t bytes) {
  ReductionPlan plan = plan_reduction(topology, learners, bytes);
  expect_tree(Routes(topology), plan.tree);
  expect_rings(plan, topology.devices().size());
  EXPECT_GE(plan.cost.seconds, 0);
  if (topology.devices().size() > 1) {
    EXPECT_LE(plan.cost.seconds, plan.flat_ring_seconds * at_most);
    EXPECT_LE(plan.cost.seconds, plan.star_seconds * at_most);
  }
  expect_same_plan(plan, plan_reduction(topology, learners, bytes));
  return plan;
}

TEST(HostProperties, placement_and_plan) {
  Dice dice(1);
  for (int i = 0; i < n_host_machines; ++i) {
    const std::string description = random_host(dice);
    const Topology machine = probe_synthetic(description);
    for (const HostDomain domain :
         {HostDomain::numa, HostDomain::package, HostDomain::l3, HostDomain::core}) {
      const int learners = dice.between(1, 4);
      const int threads = dice.between(1, 5);
      SCOPED_TRACE(description + ", domain " + std::to_string(static_cast<int>(domain)) +
                   ", " + std::to_string(learners) + " x " + std::to_string(threads));
      const Topology host = with_host_devices(machine, domain);
      const Placement placement = place_learners(host, learners, threads);
      expect_all_learners(host, placement, learners);
      expect_cores_shared_last(host, placement);
      for (const std::vector<int>& pus : placement.pus_of_learner) {
        EXPECT_EQ(pus.size(), static_cast<std::size_t>(threads));
      }
      const ReductionPlan plan = expect_plan(host, learners, dice.between(1, 1 << 24));
      EXPECT_EQ(plan.method, ReductionMethod::tree);
    }
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

// Learners and threads as many as each device has cores for: all stay on their device.
TEST(HostProperties, learners_stay_on_their_device_where_there_is_room) {
  Dice dice(2);
  for (int i = 0; i < n_host_machines; ++i) {
    const std::string description = random_host(dice);
    SCOPED_TRACE(description);
    const Topology host =
        with_host_devices(probe_synthetic(description), HostDomain::numa);
    const auto cores = static_cast<int>(host.devices()[0].cores.size());
    const int threads = dice.between(1, cores);
    const Placement placement = place_learners(host, cores / threads, threads);
    for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
      const auto device = static_cast<std::size_t>(placement.device_of_learner[j]);
      for (const int pu : placement.pus_of_learner[j]) {
        EXPECT_EQ(core_of_pu(host, pu).numa_node, host.devices()[device].numa_node);
      }
      EXPECT_EQ(placement.numa_node_of_learner[j], host.devices()[device].numa_node);
    }
  }
}

TEST(GpuProperties, placement) {
  Dice dice(3);
  for (int i = 0; i < n_gpu_machines; ++i) {
    const Topology topology = random_gpu_machine(dice);
    SCOPED_TRACE(describe(topology));
    const int learners = dice.between(1, 5);
    const Placement placement = place_learners(topology, learners, 1);
    expect_all_learners(topology, placement, learners);
    expect_cores_shared_last(topology, placement);
    for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
      EXPECT_EQ(placement.pus_of_learner[j].size(), 1U);
      EXPECT_TRUE(topology.has_pu(placement.prefetch_pu_of_learner[j]));
      const auto device = static_cast<std::size_t>(placement.device_of_learner[j]);
      EXPECT_EQ(placement.numa_node_of_learner[j], topology.devices()[device].numa_node);
    }
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

// Edges over PCIe or the host only where no NVLinks lead: one less than there are parts.
void expect_nvlinks_where_they_lead(const Topology& topology, const ReductionTree& tree) {
  int others = 0;
  for (const ReductionEdge& edge : tree.edges) {
    others += edge.link == LinkType::nvlink ? 0 : 1;
  }
  EXPECT_EQ(others, nvlink_parts(topology) - 1);
}

TEST(GpuProperties, plan) {
  Dice dice(4);
  for (int i = 0; i < n_gpu_machines; ++i) {
    const Topology topology = random_gpu_machine(dice);
    const int learners = dice.between(1, 4);
    for (const std::int64_t bytes : model_sizes) {
      SCOPED_TRACE(describe(topology) + std::to_string(bytes) + " bytes");
      const ReductionPlan plan = expect_plan(topology, learners, bytes);
      expect_nvlinks_where_they_lead(topology, plan.tree);
      if (topology.devices().size() > 1) {
        EXPECT_LE(plan.tree_cost.seconds, plan.star_seconds * at_most);
      }
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

// Links to the host of 40 GB/s beside NVLinks of 25: a tree keeps to NVLinks all the
// same.
TEST(GpuProperties, plan_where_nvlinks_are_the_narrower_ones) {
  Dice dice(9);
  for (int i = 0; i < n_gpu_machines; ++i) {
    TopologyParts parts = random_gpu_machine(dice).parts();
    for (Device& device : parts.devices) {
      device.link_rate = 40;
    }
    const Topology topology(parts);
    const std::int64_t bytes = model_sizes[i % 4];
    SCOPED_TRACE(describe(topology) + std::to_string(bytes) + " bytes");
    expect_nvlinks_where_they_lead(topology, expect_plan(topology, 1, bytes).tree);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

TEST(GpuProperties, one_device_compares_with_itself) {
  const ReductionPlan plan = plan_reduction(gpus_behind_a_switch(1).build(), 2, 1 << 20);
  EXPECT_EQ(plan.tree, ReductionTree{});
  EXPECT_LE(plan.cost.seconds, plan.star_seconds * at_most);
  EXPECT_LE(plan.cost.seconds, plan.flat_ring_seconds * at_most);
}

TEST(GpuProperties, more_bytes_never_cost_less) {
  Dice dice(5);
  for (int i = 0; i < n_gpu_machines; ++i) {
    const Topology topology = random_gpu_machine(dice);
    SCOPED_TRACE(describe(topology));
    double last = 0;
    for (std::int64_t bytes = 1; bytes <= 1 << 30; bytes *= 8) {
      const double seconds = plan_reduction(topology, 1, bytes).cost.seconds;
      EXPECT_LE(last, seconds * at_most) << bytes;
      last = seconds;
    }
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

// The same machine with its GPUs on other PCI addresses.
Topology renumbered(const Topology& topology, const std::vector<int>& old_of_new) {
  TopologyParts parts = topology.parts();
  std::vector<int> new_of_old(old_of_new.size());
  for (std::size_t i = 0; i < old_of_new.size(); ++i) {
    const auto old = static_cast<std::size_t>(old_of_new[i]);
    new_of_old[old] = static_cast<int>(i);
    parts.devices[i] = topology.devices()[old];
    parts.devices[i].id = parts.devices[i].pci =
        MachineBuilder::gpu_id(static_cast<int>(i));
  }
  for (NvLink& link : parts.nvlinks) {
    const int a = new_of_old[static_cast<std::size_t>(link.a)];
    const int b = new_of_old[static_cast<std::size_t>(link.b)];
    link.a = std::min(a, b);
    link.b = std::max(a, b);
  }
  return Topology(parts);
}

TEST(GpuProperties, numbers_do_not_matter) {
  Dice dice(7);
  for (int i = 0; i < n_gpu_machines; ++i) {
    const Topology topology = random_gpu_machine(dice);
    const auto n = static_cast<int>(topology.devices().size());
    if (n > 8) {
      continue;
    }
    const Topology other = renumbered(topology, dice.permutation(n));
    for (const std::int64_t bytes : model_sizes) {
      SCOPED_TRACE(describe(topology) + "or: " + describe(other) + std::to_string(bytes));
      const ReductionPlan a = plan_reduction(topology, 1, bytes);
      const ReductionPlan b = plan_reduction(other, 1, bytes);
      EXPECT_NEAR(a.cost.seconds, b.cost.seconds, 1e-12 * a.cost.seconds);
      EXPECT_NEAR(a.tree_cost.seconds, b.tree_cost.seconds, 1e-12 * a.tree_cost.seconds);
      if (testing::Test::HasFailure()) {
        return;
      }
    }
  }
}

void expect_numbers_do_not_matter(const Topology& topology, std::int64_t bytes) {
  const double seconds = plan_reduction(topology, 1, bytes).cost.seconds;
  std::vector<int> order(topology.devices().size());
  std::iota(order.begin(), order.end(), 0);
  do {
    ASSERT_NEAR(plan_reduction(renumbered(topology, order), 1, bytes).cost.seconds,
                seconds,
                1e-12 * seconds)
        << testing::PrintToString(order);
  } while (std::next_permutation(order.begin(), order.end()));
}

// Three GPUs on one node and one on another. In one order of adding, a device with a
// child waits for it while its sibling could be added.
TEST(GpuProperties, order_of_children_does_not_matter) {
  MachineBuilder builder(2, 4, 2);
  const int bridge = builder.add_bridge(0);
  for (const int place : {bridge, bridge, bridge, builder.add_bridge(1)}) {
    builder.add_gpu(place);
  }
  expect_numbers_do_not_matter(builder.build(), 4096);
}

// One GPU on another socket, one on a switch, and two on a switch below, of which one has
// a narrow link: the middle two differ only by the switch that they hang on.
TEST(GpuProperties, switches_below_switches_are_told_apart) {
  MachineBuilder builder(2);
  const int outer = builder.add_switch(builder.add_bridge(1), 8);
  const int inner = builder.add_switch(outer);
  builder.add_gpu(builder.add_bridge(0));
  builder.add_gpu(outer);
  builder.add_gpu(inner);
  builder.add_gpu(inner, 8);
  expect_numbers_do_not_matter(builder.build(), 1 << 26);
}

// NVLinks join 0 with 2 and 1 with 3: one edge over the host is enough.
TEST(GpuProperties, islands_send_once_to_another) {
  MachineBuilder builder(2);
  const int bridge = builder.add_bridge(1);
  builder.add_gpu(builder.add_bridge(0), 40);
  builder.add_gpu(builder.add_bridge(1), 40);
  builder.add_gpu(bridge, 40);
  builder.add_gpu(builder.add_switch(bridge, 8), 40);
  builder.add_nvlink(0, 2, 25);
  builder.add_nvlink(1, 3, 25);
  const Topology topology = builder.build();
  for (const std::int64_t bytes : model_sizes) {
    expect_nvlinks_where_they_lead(topology, plan_reduction(topology, 1, bytes).tree);
  }
}

// Give a machine file with the operating system's numbers of cuda and nvml devices
// changed: what was cuda0 is cuda3, say, at the same address.
Topology with_os_numbers(const std::string& file, const std::vector<int>& numbers) {
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)),
                   std::istreambuf_iterator<char>());
  for (const char* library : {"cuda", "nvml"}) {
    const std::string name = "name=\"" + std::string(library);
    for (std::size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + 1)) {
      char& digit = text[at + name.size()];
      digit = static_cast<char>('0' + numbers[static_cast<std::size_t>(digit - '0')]);
    }
  }
  const std::string path = testing::TempDir() + "crossbow_plan_properties.xml";
  std::ofstream(path) << text;
  Topology topology = probe_xml(path);
  std::filesystem::remove(path);
  return topology;
}

TEST(GpuProperties, numbers_of_the_operating_system_do_not_matter) {
  Dice dice(8);
  for (const char* name : {"dgx1v-like.xml", "dgxa100-like.xml"}) {
    const std::string file = machine_file(name);
    const Topology topology = probe_xml(file);
    const ReductionPlan plan = plan_reduction(topology, 1, 1 << 26);
    for (int i = 0; i < 10; ++i) {
      const Topology other = with_os_numbers(file, dice.permutation(8));
      ASSERT_EQ(other.devices().size(), topology.devices().size());
      for (std::size_t d = 0; d < topology.devices().size(); ++d) {
        EXPECT_EQ(other.devices()[d].id, topology.devices()[d].id);
      }
      expect_same_plan(plan, plan_reduction(other, 1, 1 << 26));
    }
  }
}

}  // namespace
}  // namespace crossbow
