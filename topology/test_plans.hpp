#pragma once
// For tests of this folder: what every placement and every plan has to hold, whatever the
// machine.

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "topology/placement.hpp"
#include "topology/reduction_plan.hpp"
#include "topology/route.hpp"
#include "topology/topology.hpp"

namespace crossbow {

/// Give the core of a PU; the test fails if there is none.
inline const Core& core_of_pu(const Topology& topology, int pu) {
  for (const Core& core : topology.cores()) {
    if (std::find(core.pus.begin(), core.pus.end(), pu) != core.pus.end()) {
      return core;
    }
  }
  ADD_FAILURE() << "no core has PU " << pu;
  return topology.cores().front();
}

/// Give the PUs of all threads: driving or computing ones, and those that read ahead.
inline std::vector<int> pus_of(const Placement& placement) {
  std::vector<int> pus;
  for (const std::vector<int>& of_learner : placement.pus_of_learner) {
    pus.insert(pus.end(), of_learner.begin(), of_learner.end());
  }
  for (const int pu : placement.prefetch_pu_of_learner) {
    if (pu != -1) {
      pus.push_back(pu);
    }
  }
  return pus;
}

/// No core has two threads while another has none, and second threads of a core are taken
/// only when each has one.
inline void expect_cores_shared_last(const Topology& topology,
                                     const Placement& placement) {
  std::map<int, int> uses;
  const std::vector<int> pus = pus_of(placement);
  for (const int pu : pus) {
    ASSERT_TRUE(topology.has_pu(pu)) << pu;
    ++uses[pu];
  }
  std::size_t idle = 0;
  std::size_t shared = 0;
  for (const Core& core : topology.cores()) {
    int threads = 0;
    for (const int pu : core.pus) {
      threads += uses.count(pu) > 0 ? uses[pu] : 0;
    }
    idle += threads == 0 ? 1 : 0;
    shared += threads > 1 ? 1 : 0;
  }
  EXPECT_TRUE(idle == 0 || shared == 0) << idle << " idle, " << shared << " shared";
  if (pus.size() <= topology.cores().size()) {
    for (const int pu : pus) {
      EXPECT_EQ(core_of_pu(topology, pu).pus.front(), pu);
    }
  }
}

/// Each device has its learners, one after the other, and every vector its size.
inline void expect_all_learners(const Topology& topology,
                                const Placement& placement,
                                int learners_per_device) {
  const int devices = std::max(1, static_cast<int>(topology.devices().size()));
  const auto learners =
      static_cast<std::size_t>(devices) * static_cast<std::size_t>(learners_per_device);
  ASSERT_EQ(placement.pus_of_learner.size(), learners);
  ASSERT_EQ(placement.device_of_learner.size(), learners);
  ASSERT_EQ(placement.prefetch_pu_of_learner.size(), learners);
  ASSERT_EQ(placement.numa_node_of_learner.size(), learners);
  for (std::size_t j = 0; j < learners; ++j) {
    EXPECT_EQ(placement.device_of_learner[j], static_cast<int>(j) / learners_per_device);
    const int node = placement.numa_node_of_learner[j];
    ASSERT_GE(node, -1);
    ASSERT_LT(node, static_cast<int>(topology.numa_nodes().size()));
    EXPECT_TRUE(node == -1 ||
                topology.numa_nodes()[static_cast<std::size_t>(node)].memory > 0);
  }
}

/// Both threads of every learner of a GPU, and its buffers, are on the GPU's NUMA node.
inline void expect_threads_near_gpus(const Topology& topology,
                                     const Placement& placement) {
  for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
    const auto d = static_cast<std::size_t>(placement.device_of_learner[j]);
    const int node = topology.devices()[d].numa_node;
    ASSERT_EQ(placement.pus_of_learner[j].size(), 1U);
    const int driving = placement.pus_of_learner[j].front();
    const int prefetch = placement.prefetch_pu_of_learner[j];
    EXPECT_EQ(core_of_pu(topology, driving).numa_node, node) << "learner " << j;
    EXPECT_EQ(core_of_pu(topology, prefetch).numa_node, node) << "learner " << j;
    EXPECT_EQ(placement.numa_node_of_learner[j], node) << "learner " << j;
  }
}

/// A placement of a machine with GPUs that has room for all threads near them.
inline void expect_good_gpu_placement(const Topology& topology, int learners_per_device) {
  const Placement placement = place_learners(topology, learners_per_device, 3);
  expect_all_learners(topology, placement, learners_per_device);
  expect_threads_near_gpus(topology, placement);
  expect_cores_shared_last(topology, placement);
}

/// The edges that a tree has to have by its parents, with depth and children.
inline void expect_tree(const Routes& routes, const ReductionTree& tree) {
  const int n = routes.devices();
  ASSERT_EQ(tree.devices(), n);
  ASSERT_EQ(tree.edges.size(), static_cast<std::size_t>(n - 1));
  ASSERT_EQ(tree.children.size(), static_cast<std::size_t>(n));
  EXPECT_EQ(tree.parent[static_cast<std::size_t>(tree.root)], -1);
  int depth = 0;
  std::size_t edge = 0;
  for (int device = 0; device < n; ++device) {
    int steps = 0;
    for (int up = device; up != tree.root; ++steps) {
      ASSERT_LT(steps, n) << "a cycle";
      up = tree.parent[static_cast<std::size_t>(up)];
      ASSERT_GE(up, 0);
    }
    depth = std::max(depth, steps);
    if (device != tree.root) {
      const int parent = tree.parent[static_cast<std::size_t>(device)];
      const Route& route = routes.route(device, parent);
      EXPECT_EQ(tree.edges[edge++],
                (ReductionEdge{device, parent, route.type, route.rate}));
      const std::vector<int>& siblings = tree.children[static_cast<std::size_t>(parent)];
      EXPECT_EQ(std::count(siblings.begin(), siblings.end(), device), 1);
    }
  }
  EXPECT_EQ(tree.depth, depth);
  std::size_t children = 0;
  for (const std::vector<int>& of_device : tree.children) {
    children += of_device.size();
  }
  EXPECT_EQ(children, static_cast<std::size_t>(n - 1));
}

/// Count the parts of a machine that NVLinks, direct or through NVSwitches, join.
inline int nvlink_parts(const Topology& topology) {
  const std::size_t n = topology.devices().size();
  std::vector<int> leader(n);
  std::iota(leader.begin(), leader.end(), 0);
  const auto find = [&leader](int device) {
    while (leader[static_cast<std::size_t>(device)] != device) {
      device = leader[static_cast<std::size_t>(device)];
    }
    return device;
  };
  const auto join = [&](int a, int b) {
    leader[static_cast<std::size_t>(find(a))] = find(b);
  };
  for (const NvLink& link : topology.nvlinks()) {
    join(link.a, link.b);
  }
  int on_switch = -1;
  for (int device = 0; device < static_cast<int>(n); ++device) {
    if (topology.devices()[static_cast<std::size_t>(device)].nvswitch_rate > 0) {
      join(device, on_switch == -1 ? device : on_switch);
      on_switch = device;
    }
  }
  std::set<int> parts;
  for (int device = 0; device < static_cast<int>(n); ++device) {
    parts.insert(find(device));
  }
  return static_cast<int>(parts.size());
}

/// Count a tree's edges by what they go over.
inline std::map<LinkType, int> links_of_tree(const ReductionTree& tree) {
  std::map<LinkType, int> links;
  for (const ReductionEdge& edge : tree.edges) {
    ++links[edge.link];
  }
  return links;
}

/// Give the rate [GB/s] that NVLinks let through for rings: half of a share goes each way
/// round. 0 if a ring takes a pair without an NVLink.
inline double rate_of_nvlink_rings(const Topology& topology,
                                   const std::vector<Ring>& rings) {
  std::map<std::pair<int, int>, double> load;
  for (const Ring& ring : rings) {
    for (std::size_t i = 0; i < ring.order.size(); ++i) {
      const int a = ring.order[i];
      const int b = ring.order[(i + 1) % ring.order.size()];
      load[{a, b}] += ring.share / 2;
      load[{b, a}] += ring.share / 2;
    }
  }
  double slowest = 0;
  for (const auto& [pair, share] : load) {
    double rate = 0;
    for (const NvLink& link : topology.nvlinks()) {
      if (std::minmax(pair.first, pair.second) == std::minmax(link.a, link.b)) {
        rate = link.rate;
      }
    }
    if (rate == 0) {
      return 0;
    }
    slowest = std::max(slowest, share / rate);
  }
  return slowest == 0 ? 0 : 1 / slowest;
}

/// Rings pass each device once, and their shares are the whole.
inline void expect_rings(const ReductionPlan& plan, std::size_t n) {
  EXPECT_EQ(plan.rings.empty(), plan.method == ReductionMethod::tree);
  double whole = 0;
  for (const Ring& ring : plan.rings) {
    std::vector<int> order = ring.order;
    std::sort(order.begin(), order.end());
    std::vector<int> all(n);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all);
    EXPECT_GT(ring.share, 0);
    whole += ring.share;
  }
  if (!plan.rings.empty()) {
    EXPECT_NEAR(whole, 1, 1e-9);
  }
}

}  // namespace crossbow
