#include "topology/reduction_tree.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "topology/route.hpp"
#include "topology/test_machines.hpp"

namespace crossbow {
namespace {

class ReductionTreeTest : public testing::Test {
 protected:
  // 0 and 1 on one socket, with an NVLink; 2 and 3 on the other.
  ReductionTreeTest() : machine(make()), routes(machine) {}

  static Topology make() {
    MachineBuilder builder = gpus_on_two_sockets();
    builder.add_nvlink(0, 1, 50);
    return builder.build();
  }

  void expect_refused(const std::vector<int>& parents) const {
    try {
      tree_of_parents(routes, parents);
      FAIL() << "accepted " << testing::PrintToString(parents);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::usage);
    }
  }

  Topology machine;
  Routes routes;
};

TEST_F(ReductionTreeTest, chain) {
  const ReductionTree tree = tree_of_parents(routes, {1, 2, -1, 2});
  EXPECT_EQ(tree.root, 2);
  EXPECT_EQ(tree.devices(), 4);
  EXPECT_EQ(tree.parent, (std::vector<int>{1, 2, -1, 2}));
  EXPECT_EQ(tree.children,
            (std::vector<std::vector<int>>{{}, {0}, {3, 1}, {}}));  // 3 has none below
  EXPECT_EQ(tree.depth, 2);
  ASSERT_EQ(tree.edges.size(), 3U);
  EXPECT_EQ(tree.edges[0], (ReductionEdge{0, 1, LinkType::nvlink, 50}));
  EXPECT_EQ(tree.edges[1], (ReductionEdge{1, 2, LinkType::socket, test_socket_rate}));
  EXPECT_EQ(tree.edges[2], (ReductionEdge{3, 2, LinkType::host_bridge, test_pcie_rate}));
}

TEST_F(ReductionTreeTest, star) {
  const ReductionTree tree = tree_of_parents(routes, {-1, 0, 0, 0});
  EXPECT_EQ(tree.root, 0);
  EXPECT_EQ(tree.depth, 1);
  EXPECT_EQ(tree.children, (std::vector<std::vector<int>>{{1, 2, 3}, {}, {}, {}}));
}

TEST_F(ReductionTreeTest, one_device_is_a_tree) {
  const Topology one = gpus_behind_a_switch(1).build();
  const Routes routes(one);
  EXPECT_EQ(tree_of_parents(routes, {-1}), ReductionTree{});
}

TEST_F(ReductionTreeTest, needs_one_root) {
  expect_refused({1, 2, 3, 0});
  expect_refused({-1, 0, -1, 2});
  expect_refused({-1, -1, -1, -1});
}

TEST_F(ReductionTreeTest, has_no_cycle) {
  expect_refused({-1, 2, 1, 0});
  expect_refused({-1, 2, 3, 1});
  expect_refused({-1, 1, 0, 0});  // its own parent
}

TEST_F(ReductionTreeTest, parents_must_be_there) {
  expect_refused({-1, 0, 0, 4});
  expect_refused({-1, 0, 0, -2});
  expect_refused({-1, 0, 0});
  expect_refused({-1, 0, 0, 0, 0});
  expect_refused({});
}

}  // namespace
}  // namespace crossbow
