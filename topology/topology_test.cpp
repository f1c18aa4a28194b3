#include "topology/topology.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

TEST(Topology, adds_up_its_parts) {
  TopologyParts parts;
  parts.machine_name = "node7";
  parts.packages = {{0, "a processor"}};
  parts.numa_nodes = {{0, 300}, {1, 200}};
  parts.l3_groups = {{0, 0, {0, 1}}};
  parts.cores = {{0, 0, 0, 0, {2, 6}}, {1, 0, 0, 0, {1, 5}}};
  const Topology topology(parts);
  EXPECT_EQ(topology.machine_name(), "node7");
  EXPECT_FALSE(topology.is_this_machine());
  EXPECT_EQ(topology.memory(), 500U);
  EXPECT_EQ(topology.pus(), (std::vector<int>{1, 2, 5, 6}));
  EXPECT_TRUE(topology.has_pu(5));
  EXPECT_FALSE(topology.has_pu(0));
  EXPECT_FALSE(topology.has_pu(7));
}

}  // namespace
}  // namespace crossbow
