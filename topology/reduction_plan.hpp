#pragma once
// The plan of averaging as data: tree, rings, chunks, and what it should cost.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "topology/reduction_tree.hpp"
#include "topology/transfer_model.hpp"

namespace crossbow {

/// How devices do it. A host takes the tree, GPUs whichever is cheapest.
enum class ReductionMethod {
  tree,
  ring,         // NCCL's rings, several at once where NVLinks allow them
  switch_group  // a ring through NVSwitches, any order as good as any other
};

/// "tree", "ring", "switch group".
std::string_view reduction_method_name(ReductionMethod method);

/// Devices in a cycle, over which a share of the model goes, half of it each way round.
struct Ring {
  std::vector<int> order;
  double share = 1;

  bool operator==(const Ring&) const = default;
};

struct ReductionPlan {
  ReductionMethod method = ReductionMethod::tree;
  ReductionTree tree;
  std::vector<Ring> rings;       // empty where method is tree
  std::int64_t chunk_bytes = 0;  // of the tree
  Cost cost;                     // of the method
  Cost tree_cost;
  std::string bottleneck;  // of the method, in words; empty if nothing moves
  // For comparison [s]: all devices in one ring by number; all send to device 0, which
  // adds and sends back. With one device they are the same as the plan.
  double flat_ring_seconds = 0, star_seconds = 0;
};

/// Plan averaging of a model of `bytes` over the devices (>= 1) of `topology` with so
/// many learners on each. The same for the same machine, however its devices are
/// numbered.
///
/// The tree joins the devices of an NVLink island first, then islands over NVLink, then
/// what is below one PCIe switch, one host bridge, NUMA node, package, the machine,
/// always over the widest routes there are; of several shapes the cheapest by the
/// transfer model is taken, and of the methods. Where NVLinks join devices, directly or
/// over others, no edge is over anything else. The method is never dearer than the star
/// and the flat ring.
ReductionPlan plan_reduction(const Topology& topology,
                             int learners_per_device,
                             std::int64_t bytes,
                             const TransferRates& rates = {});

/// The same over a tree that is given, with its order of adding.
ReductionPlan plan_with_tree(const Topology& topology,
                             int learners_per_device,
                             std::int64_t bytes,
                             const ReductionTree& tree,
                             const TransferRates& rates = {});

/// What goes on where a model of `bytes` is averaged over a tree in chunks of `chunk`: a
/// device takes what its children have one after the other.
Traffic traffic_of_tree(const TransferModel& model,
                        const ReductionTree& tree,
                        std::int64_t bytes,
                        std::int64_t chunk);
/// The same of rings.
Traffic traffic_of_rings(const TransferModel& model, const std::vector<Ring>& rings);

}  // namespace crossbow
