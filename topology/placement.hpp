#pragma once
// Which PUs each learner gets. Rules, in this order: no core is used twice while another
// idles, so SMT siblings come last; the cores of a learner share an L3 cache if possible,
// else a NUMA node of one package; learners spread evenly over NUMA nodes, then over
// caches; learners that stand near each other have neighbouring numbers, as the reduction
// tree joins neighbours first.

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace crossbow {

struct Placement {
  /// (learners, threads): OS indices; thread i of learner j runs best on
  /// pus_of_learner[j][i].
  std::vector<std::vector<int>> pus_of_learner;
  /// One sentence if threads share cores; else empty.
  std::string warning;
};

/// Place `learners` (>= 1) with `threads_per_learner` (>= 1) each, on distinct cores as
/// long as there are enough, then on SMT siblings, then from the start again.
Placement place_learners(const Topology& topology, int learners, int threads_per_learner);

}  // namespace crossbow
