#include "topology/placement.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/probe.hpp"

namespace crossbow {
namespace {

using Pus = std::vector<std::vector<int>>;

Pus place(const std::string& machine, int learners, int threads) {
  return place_learners(probe_synthetic(machine), learners, threads).pus_of_learner;
}

// Two packages of four cores with two PUs: core c has the PUs 2c and 2c+1, package 0 the
// cores 0 to 3. All expectations are by hand.
constexpr auto two_packages = "pack:2 numa:1 l3:1 core:4 pu:2";

TEST(Placement, one_learner_takes_the_first_cores) {
  EXPECT_EQ(place(two_packages, 1, 1), (Pus{{0}}));
  EXPECT_EQ(place(two_packages, 1, 3), (Pus{{0, 2, 4}}));
}

TEST(Placement, learners_spread_over_numa_nodes) {
  EXPECT_EQ(place(two_packages, 2, 1), (Pus{{0}, {8}}));
  EXPECT_EQ(place(two_packages, 3, 1), (Pus{{0}, {2}, {8}}));
  EXPECT_EQ(place(two_packages, 2, 3), (Pus{{0, 2, 4}, {8, 10, 12}}));
}

TEST(Placement, neighbours_have_neighbouring_numbers) {
  EXPECT_EQ(place(two_packages, 4, 2), (Pus{{0, 2}, {4, 6}, {8, 10}, {12, 14}}));
  EXPECT_EQ(place(two_packages, 8, 1), (Pus{{0}, {2}, {4}, {6}, {8}, {10}, {12}, {14}}));
}

TEST(Placement, siblings_come_last) {
  EXPECT_EQ(place("core:4 pu:2", 5, 1), (Pus{{0}, {2}, {4}, {6}, {1}}));
  EXPECT_EQ(place("core:4 pu:2", 4, 2), (Pus{{0, 2}, {4, 6}, {1, 3}, {5, 7}}));
  EXPECT_EQ(place("core:4 pu:2", 1, 8), (Pus{{0, 2, 4, 6, 1, 3, 5, 7}}));
  EXPECT_EQ(place("core:4 pu:2", 2, 3), (Pus{{0, 2, 4}, {6, 1, 3}}));
}

TEST(Placement, siblings_are_known_whatever_their_numbers) {
  EXPECT_EQ(place("core:2 pu:2(indexes=0,2,1,3)", 3, 1), (Pus{{0}, {1}, {2}}));
}

TEST(Placement, more_learners_than_hardware_threads_wrap_around) {
  EXPECT_EQ(place("core:2 pu:1", 5, 1), (Pus{{0}, {1}, {0}, {1}, {0}}));
  EXPECT_EQ(place("core:2 pu:1", 1, 3), (Pus{{0, 1, 0}}));
}

// One package, two NUMA nodes of two caches of three cores: cache i has the PUs 3i to
// 3i+2.
constexpr auto four_caches = "pack:1 numa:2 l3:2 core:3 pu:1";

TEST(Placement, a_learner_stays_in_one_cache) {
  EXPECT_EQ(place(four_caches, 4, 2), (Pus{{0, 1}, {3, 4}, {6, 7}, {9, 10}}));
  EXPECT_EQ(place(four_caches, 3, 3), (Pus{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}));
}

TEST(Placement, learners_spread_over_caches_within_a_node) {
  EXPECT_EQ(place(four_caches, 4, 1), (Pus{{0}, {3}, {6}, {9}}));
}

TEST(Placement, a_learner_larger_than_a_cache_stays_in_one_node) {
  EXPECT_EQ(place(four_caches, 2, 5), (Pus{{0, 1, 2, 3, 4}, {6, 7, 8, 9, 10}}));
}

// Each cache has one core left after four learners of two, so the fifth and sixth take
// the rests of a node together.
TEST(Placement, leftovers_of_a_node_make_a_learner) {
  EXPECT_EQ(place(four_caches, 6, 2),
            (Pus{{0, 1}, {2, 5}, {3, 4}, {6, 7}, {8, 11}, {9, 10}}));
}

TEST(Placement, a_learner_larger_than_a_node_uses_the_machine) {
  EXPECT_EQ(place(four_caches, 1, 8), (Pus{{0, 1, 2, 3, 4, 5, 6, 7}}));
}

// Two packages of three cores with two PUs: core c has 2c and 2c+1. Three learners of two
// threads fill a package if they use siblings at once.
TEST(Placement, learners_stay_in_a_node_when_siblings_are_needed) {
  EXPECT_EQ(place("pack:2 numa:1 core:3 pu:2", 6, 2),
            (Pus{{0, 2}, {4, 1}, {3, 5}, {6, 8}, {10, 7}, {9, 11}}));
  EXPECT_EQ(place("pack:2 numa:1 core:3 pu:2", 3, 4),
            (Pus{{0, 2, 4, 1}, {3, 5, 9, 11}, {6, 8, 10, 7}}));
}

// Two fast cores with siblings and two slow ones without, as hybrid processors have them:
// the seventh learner doubles on a slow core, where there is one thread yet.
TEST(Placement, cores_without_siblings_are_not_used_twice_before_the_others) {
  TopologyParts parts;
  parts.packages = {{}};
  parts.l3_groups = {{0, -1, {0, 1, 2, 3}}};
  parts.cores = {{0, 0, -1, 0, {0, 1}},
                 {1, 0, -1, 0, {2, 3}},
                 {2, 0, -1, 0, {4}},
                 {3, 0, -1, 0, {5}}};
  EXPECT_EQ(place_learners(Topology(parts), 7, 1).pus_of_learner,
            (Pus{{0}, {2}, {4}, {5}, {1}, {3}, {4}}));
}

// What the rules promise on any machine: hardware threads are used evenly, and none twice
// while another idles.
void expect_even_use(const Topology& machine, int learners, int threads) {
  std::map<int, int> uses;
  for (const std::vector<int>& pus :
       place_learners(machine, learners, threads).pus_of_learner) {
    EXPECT_EQ(static_cast<int>(pus.size()), threads);
    for (const int pu : pus) {
      ++uses[pu];
    }
  }
  const int wanted = learners * threads;
  const auto n_pus = static_cast<int>(machine.pus().size());
  int idle_cores = 0;
  int shared_cores = 0;
  for (const Core& core : machine.cores()) {
    const auto is_used = [&uses](int pu) { return uses.count(pu) > 0; };
    const auto used = std::count_if(core.pus.begin(), core.pus.end(), is_used);
    idle_cores += used == 0 ? 1 : 0;
    shared_cores += used > 1 ? 1 : 0;
  }
  EXPECT_TRUE(idle_cores == 0 || shared_cores == 0);
  for (const auto& [pu, count] : uses) {
    EXPECT_TRUE(machine.has_pu(pu));
    EXPECT_LE(count, (wanted + n_pus - 1) / n_pus);
  }
}

TEST(Placement, uses_any_machine_evenly) {
  for (const char* description : {"pu:1",
                                  "core:3 pu:4",
                                  "pack:2 numa:1 l3:1 core:4 pu:2",
                                  "pack:2 numa:4 l3:4 core:2 pu:2",
                                  "pack:4 core:5 pu:1"}) {
    const Topology machine = probe_synthetic(description);
    for (int learners = 1; learners <= 20; ++learners) {
      for (int threads = 1; threads <= 9; ++threads) {
        SCOPED_TRACE(std::string(description) + ", " + std::to_string(learners) + " x " +
                     std::to_string(threads));
        expect_even_use(machine, learners, threads);
      }
    }
  }
}

TEST(Placement, warns_if_threads_share_cores) {
  const Topology machine = probe_synthetic("core:4 pu:2");
  EXPECT_EQ(place_learners(machine, 4, 1).warning, "");
  EXPECT_EQ(place_learners(machine, 2, 2).warning, "");
  EXPECT_EQ(place_learners(machine, 5, 1).warning,
            "5 learners with 1 thread each want 5 cores, but this process may use 4 "
            "cores: some "
            "run on the second hardware thread of a core");
  EXPECT_EQ(place_learners(machine, 1, 9).warning,
            "1 learner with 9 threads each want 9 cores, but this process may use 4 "
            "cores: threads "
            "take turns on a core");
}

TEST(Placement, stays_inside_the_live_machine) {
  const Topology machine = probe_live();
  const Placement placement =
      place_learners(machine, static_cast<int>(machine.cores().size()), 1);
  EXPECT_EQ(placement.warning, "");
  for (const std::vector<int>& pus : placement.pus_of_learner) {
    ASSERT_EQ(pus.size(), 1U);
    EXPECT_TRUE(machine.has_pu(pus.front()));
  }
}

}  // namespace
}  // namespace crossbow
