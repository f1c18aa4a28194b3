#include "topology/probe.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "topology/test_mask.hpp"
#include "topology/thread_binding.hpp"

namespace crossbow {
namespace {

TEST(Probe, live_machine_is_the_mask_of_the_process) {
  const Topology topology = probe_live();
  EXPECT_TRUE(topology.is_this_machine());
  EXPECT_EQ(topology.pus(), pus_in_mask());
  EXPECT_GE(topology.packages().size(), 1U);
  EXPECT_GE(topology.l3_groups().size(), 1U);
  EXPECT_EQ(allowed_cores(), static_cast<int>(topology.cores().size()));
}

TEST(Probe, live_machine_has_the_memory_of_the_kernel) {
  std::ifstream meminfo("/proc/meminfo");
  std::string key;
  double kilobytes = 0;
  meminfo >> key >> kilobytes;
  ASSERT_EQ(key, "MemTotal:");
  const double ratio = static_cast<double>(probe_live().memory()) / (1024 * kilobytes);
  EXPECT_LE(ratio, 1.01);  // a container may have fewer NUMA nodes than the machine
  EXPECT_GT(ratio, 0.0);
}

// In a thread, while the other threads of the process keep their masks.
TEST(Probe, live_machine_respects_a_mask_of_one_cpu) {
  std::thread([] {
    for (const int pu : pus_in_mask()) {
      set_mask(pu);
      const Topology topology = probe_live();
      EXPECT_EQ(topology.pus(), std::vector<int>{pu});
      EXPECT_EQ(topology.cores().size(), 1U);
      EXPECT_EQ(topology.l3_groups().size(), 1U);
      EXPECT_EQ(topology.packages().size(), 1U);
      EXPECT_EQ(allowed_cores(), 1);
    }
  }).join();
}

TEST(Probe, synthetic_two_packages) {
  const Topology topology = probe_synthetic("pack:2 numa:1 l3:1 core:4 pu:2");
  EXPECT_FALSE(topology.is_this_machine());
  EXPECT_EQ(topology.packages().size(), 2U);
  EXPECT_EQ(topology.numa_nodes().size(), 2U);
  EXPECT_EQ(topology.pus().size(), 16U);
  ASSERT_EQ(topology.l3_groups().size(), 2U);
  EXPECT_EQ(topology.l3_groups()[0].cores, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(topology.l3_groups()[1].cores, (std::vector<int>{4, 5, 6, 7}));
  ASSERT_EQ(topology.cores().size(), 8U);
  EXPECT_EQ(topology.cores()[5].package, 1);
  EXPECT_EQ(topology.cores()[5].numa_node, 1);
  EXPECT_EQ(topology.cores()[5].l3_group, 1);
  EXPECT_EQ(topology.cores()[5].pus, (std::vector<int>{10, 11}));
}

TEST(Probe, synthetic_numbers_and_memory) {
  // The usual numbering of a PC: first siblings 0 and 1, second ones 2 and 3.
  const Topology topology =
      probe_synthetic("pack:1 [numa(memory=1073741824)] core:2 pu:2(indexes=0,2,1,3)");
  EXPECT_EQ(topology.memory(), 1073741824U);
  ASSERT_EQ(topology.cores().size(), 2U);
  EXPECT_EQ(topology.cores()[0].pus, (std::vector<int>{0, 2}));
  EXPECT_EQ(topology.cores()[1].pus, (std::vector<int>{1, 3}));
}

TEST(Probe, synthetic_caches_within_a_numa_node) {
  const Topology topology = probe_synthetic("pack:1 numa:2 l3:2 core:3 pu:1");
  ASSERT_EQ(topology.l3_groups().size(), 4U);
  EXPECT_EQ(topology.l3_groups()[1].numa_node, 0);
  EXPECT_EQ(topology.l3_groups()[2].numa_node, 1);
  EXPECT_EQ(topology.l3_groups()[3].cores, (std::vector<int>{9, 10, 11}));
}

TEST(Probe, machines_without_caches_cores_or_packages) {
  const Topology no_cache = probe_synthetic("pack:1 numa:2 core:2 pu:1");
  EXPECT_EQ(no_cache.l3_groups().size(), 2U);  // a group for each NUMA node
  const Topology only_pus = probe_synthetic("pu:3");
  EXPECT_EQ(only_pus.packages().size(), 1U);
  EXPECT_EQ(only_pus.cores().size(), 3U);
  EXPECT_EQ(only_pus.cores()[2].pus, std::vector<int>{2});
}

TEST(Probe, refuses_what_is_no_machine) {
  try {
    probe_synthetic("pack:two");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("pack:two"), std::string::npos);
  }
  try {
    probe_xml("no_such_machine.xml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::data);
    EXPECT_NE(std::string(error.what()).find("no_such_machine.xml"), std::string::npos);
  }
}

struct Machine {
  const char* file;
  std::size_t n_numa_nodes;
  std::size_t n_pus;
};

// NUMA nodes and PUs as the collection's README states them; accelerators' memory not
// counted.
TEST(Probe, machines_of_the_collection) {
  const std::filesystem::path folder =
      std::filesystem::path(CROSSBOW_SOURCE_DIR).parent_path() / "shared" / "topologies";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "no collection of machine files at " << folder;
  }
  const std::vector<Machine> machines = {{"nvidiaDGX2.xml", 2, 4},
                                         {"power9-8335gtw-gpunuma.xml", 2, 32},
                                         {"coral-lassen.xml", 2, 160},
                                         {"g4dnmetal.xml", 2, 96},
                                         {"32em64t-2n8c2t-pci-noio.xml", 2, 32},
                                         {"24em64t-2n6c2t-pci.xml", 2, 24},
                                         {"64intel64-fakeKNL-SNC4-hybrid.xml", 8, 64},
                                         {"8intel64-4n2t-memattrs.xml", 4, 8},
                                         {"32amd64-4s2n4c-cgroup2.xml", 6, 6},
                                         {"16amd64-8n2c-cpusets.xml", 5, 10},
                                         {"dgxa100-like.xml", 8, 256}};
  for (const Machine& machine : machines) {
    const Topology topology = probe_xml((folder / machine.file).string());
    EXPECT_EQ(topology.numa_nodes().size(), machine.n_numa_nodes) << machine.file;
    EXPECT_EQ(topology.pus().size(), machine.n_pus) << machine.file;
    EXPECT_FALSE(topology.is_this_machine());
    std::size_t n_cores = 0;
    for (const L3Group& group : topology.l3_groups()) {
      n_cores += group.cores.size();
    }
    EXPECT_EQ(n_cores, topology.cores().size()) << machine.file;
  }
}

}  // namespace
}  // namespace crossbow
