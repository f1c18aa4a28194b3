#include "topology/locality_domain.hpp"

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

using Lists = std::vector<std::vector<int>>;

// Give the islands of several devices of GPUs with these links.
Lists islands(int n_gpus, const std::vector<NvLink>& links) {
  MachineBuilder builder = gpus_behind_a_switch(n_gpus);
  for (const NvLink& link : links) {
    builder.add_nvlink(link.a, link.b, link.rate);
  }
  return domain_devices(builder.build(), DomainKind::nvlink_island);
}

TEST(LocalityDomains, islands_have_links_between_all) {
  EXPECT_EQ(islands(3, {}), Lists{});
  EXPECT_EQ(islands(3, {{0, 2, 25}}), (Lists{{0, 2}}));
  EXPECT_EQ(islands(3, {{0, 1, 25}, {0, 2, 25}, {1, 2, 25}}), (Lists{{0, 1, 2}}));
  EXPECT_EQ(islands(4, {{0, 1, 25}, {2, 3, 25}}), (Lists{{0, 1}, {2, 3}}));
}

TEST(LocalityDomains, larger_islands_come_first) {
  // A triangle of narrow links takes its devices from the wide pair 2-3.
  EXPECT_EQ(islands(4, {{0, 1, 25}, {0, 2, 25}, {1, 2, 25}, {2, 3, 150}}),
            (Lists{{0, 1, 2}}));
}

TEST(LocalityDomains, of_equal_islands_the_wider_comes_first) {
  // A square whose links are 0-1-2-3-0: first the wide 1-2, which leaves 0-3.
  EXPECT_EQ(islands(4, {{0, 1, 25}, {1, 2, 50}, {2, 3, 25}, {0, 3, 25}}),
            (Lists{{0, 3}, {1, 2}}));
}

TEST(LocalityDomains, of_equally_wide_islands_the_lower_numbers_come_first) {
  EXPECT_EQ(islands(3, {{0, 1, 25}, {1, 2, 25}}), (Lists{{0, 1}}));
  EXPECT_EQ(islands(4, {{0, 1, 25}, {1, 2, 25}, {2, 3, 25}, {0, 3, 25}}),
            (Lists{{0, 1}, {2, 3}}));
}

TEST(LocalityDomains, nvswitches_make_one_island) {
  MachineBuilder builder = gpus_on_two_sockets();
  for (int device = 0; device < 4; ++device) {
    builder.set_nvswitch(device, 150);
  }
  EXPECT_EQ(domain_devices(builder.build(), DomainKind::nvlink_island),
            (Lists{{0, 1, 2, 3}}));
}

TEST(LocalityDomains, island_of_every_device) {
  MachineBuilder builder = gpus_behind_a_switch(5);
  builder.add_nvlink(0, 3, 25);
  builder.add_nvlink(2, 4, 25);
  const std::vector<int> island = nvlink_island_of_device(builder.build());
  ASSERT_EQ(island.size(), 5U);
  EXPECT_EQ(island[0], island[3]);
  EXPECT_EQ(island[2], island[4]);
  EXPECT_EQ(std::set<int>(island.begin(), island.end()).size(), 3U);
  EXPECT_LT(island[0], island[1]);
  EXPECT_LT(island[1], island[2]);
}

TEST(LocalityDomains, switches_above_several_devices) {
  MachineBuilder builder(2);
  const int outer = builder.add_switch(builder.add_bridge(0));
  const int inner = builder.add_switch(outer);
  const int lonely = builder.add_switch(builder.add_bridge(1));
  builder.add_gpu(outer);
  builder.add_gpu(inner);
  builder.add_gpu(inner);
  builder.add_gpu(lonely);
  const Topology topology = builder.build();
  EXPECT_EQ(domain_devices(topology, DomainKind::pcie_switch),
            (Lists{{0, 1, 2}, {1, 2}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::numa_node), (Lists{{0, 1, 2}, {3}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::package), (Lists{{0, 1, 2}, {3}}));
  EXPECT_EQ(domain_devices(topology, DomainKind::machine), (Lists{{0, 1, 2, 3}}));
}

TEST(LocalityDomains, by_kind_with_names_of_their_own) {
  MachineBuilder builder = gpus_on_two_sockets();
  builder.add_nvlink(0, 1, 25);
  builder.add_nvlink(2, 3, 25);
  std::set<std::string> names;
  DomainKind last = DomainKind::machine;
  for (const LocalityDomain& domain : locality_domains(builder.build())) {
    EXPECT_LE(last, domain.kind);
    last = domain.kind;
    EXPECT_TRUE(names.insert(domain.name).second) << domain.name << " twice";
    EXPECT_TRUE(std::is_sorted(domain.devices.begin(), domain.devices.end()));
    EXPECT_TRUE(std::is_sorted(domain.cores.begin(), domain.cores.end()));
  }
}

TEST(LocalityDomains, host_devices_have_caches_and_cores) {
  const Topology machine = probe_synthetic("pack:2 numa:1 l3:2 core:2 pu:2");
  const Topology host = with_host_devices(machine, HostDomain::l3);
  std::vector<int> counts(7, 0);
  for (const LocalityDomain& domain : locality_domains(host)) {
    ++counts[static_cast<std::size_t>(domain.kind)];
    if (domain.kind == DomainKind::numa_node) {
      EXPECT_EQ(domain.cores.size(), 4U);
      EXPECT_EQ(domain.devices.size(), 2U);
    }
  }
  EXPECT_EQ(counts, (std::vector<int>{1, 2, 2, 0, 0, 4, 8}));
}

TEST(LocalityDomains, gpu_machines_have_no_domains_of_cores) {
  const Topology topology = gpus_on_two_sockets().build();
  EXPECT_EQ(domain_devices(topology, DomainKind::l3), Lists{});
  EXPECT_EQ(domain_devices(topology, DomainKind::core), Lists{});
}

TEST(LocalityDomains, kinds_have_names) {
  EXPECT_EQ(domain_kind_name(DomainKind::machine), "machine");
  EXPECT_EQ(domain_kind_name(DomainKind::numa_node), "NUMA node");
  EXPECT_EQ(domain_kind_name(DomainKind::nvlink_island), "NVLink island");
}

}  // namespace
}  // namespace crossbow
