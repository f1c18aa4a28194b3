#pragma once
// Which device, PUs and memory each learner gets. Rules, in this order: no core is used
// twice while another idles, so SMT siblings come last; a learner's cores are those
// nearest to its device; they share an L3 cache if possible, else a NUMA node of one
// package; the learners of a device spread evenly over its NUMA nodes, then over its
// caches; learners that stand near each other have neighbouring numbers, as the reduction
// tree joins neighbours first.

#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace crossbow {

struct Placement {
  /// (learners): device by device, as many on each.
  std::vector<int> device_of_learner;
  /// (learners, threads): OS indices; thread i of learner j runs best on
  /// pus_of_learner[j][i].
  std::vector<std::vector<int>> pus_of_learner;
  /// (learners): where a learner of a GPU has the thread that reads ahead; -1 on a host,
  /// whose learners read themselves.
  std::vector<int> prefetch_pu_of_learner;
  /// (learners): the NUMA node for its memory, on a GPU its pinned buffers; -1: any.
  std::vector<int> numa_node_of_learner;
  /// One sentence if threads share cores; else empty.
  std::string warning;

  int learners() const { return static_cast<int>(pus_of_learner.size()); }
  /// By device; none where nothing is placed.
  std::vector<int> learners_of_device() const;
};

/// Place `learners_per_device` (>= 1) with `threads_per_learner` (>= 1) each on the
/// devices of `topology` (none: the machine is one): on distinct cores as long as there
/// are enough, then on SMT siblings, then from the start again. A learner of a GPU has
/// one driving thread whatever is asked for, and one that reads ahead.
Placement place_learners(const Topology& topology,
                         int learners_per_device,
                         int threads_per_learner);

/// Give the NUMA node for the memory of a learner on `device` whose first thread runs on
/// `pu`; -1: any.
int memory_node(const Topology& topology, const Device& device, int pu);

/// Say in one sentence, with the numbers, that threads share hardware threads or cores;
/// empty where they do not.
std::string sharing_warning(const Topology& topology, const Placement& placement);

}  // namespace crossbow
