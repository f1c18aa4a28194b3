#include "topology/reduction_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

#include "base/contract.hpp"

#include "topology/device_order.hpp"
#include "topology/locality_domain.hpp"
#include "topology/ring_search.hpp"
#include "topology/tree_shapes.hpp"

namespace crossbow {
namespace {

constexpr std::int64_t smallest_gpu_chunk = 65536, largest_gpu_chunk = 16777216;
/// Devices up to which every root is looked at.
constexpr std::size_t most_devices_for_all_roots = 32;

bool are_hosts(const Topology& topology) {
  return topology.devices().front().kind == DeviceKind::host;
}

/// When a device has the sum of all below it of the first chunk: it takes its children
/// one after the other, in their order.
double seconds_until_summed(const TransferModel& model,
                            const ReductionTree& tree,
                            int device,
                            std::int64_t chunk) {
  double seconds = 0;
  for (const int child : tree.children[static_cast<std::size_t>(device)]) {
    seconds = std::max(seconds, seconds_until_summed(model, tree, child, chunk)) +
              model.step(child, device, chunk);
  }
  return seconds;
}

/// In a GPU's memory: what its learners have and its children send is read, the sum
/// written, and what comes back; the root reads z and z_prev besides.
double arrays_at_gpu(const TransferModel& model, const ReductionTree& tree, int device) {
  const auto children =
      static_cast<double>(tree.children[static_cast<std::size_t>(device)].size());
  return model.learners_per_device() + children + (device == tree.root ? 4 : 2);
}

/// In a host device's memory: its learners' corrections are read; where others are added
/// to the first of them, that is written and, below the root, read once more by whoever
/// adds it to the parent's. The root reads z and z_prev and writes the new z, which is
/// read before. One device alone makes sum and z in one pass.
double arrays_at_host(const TransferModel& model, const ReductionTree& tree, int device) {
  const int own = model.learners_per_device();
  const bool is_root = device == tree.root;
  const std::size_t parts = static_cast<std::size_t>(own) +
                            tree.children[static_cast<std::size_t>(device)].size();
  const bool adds = tree.devices() > 1 && parts > 1;
  return own + (adds ? (is_root ? 1 : 2) : 0) + (is_root ? 4 : 0);
}

/// Put the children of every device in the order in which they are ready.
void order_children(const TransferModel& model, std::int64_t chunk, ReductionTree& tree) {
  // From the leaves up: a child is ready later where its own children are in order.
  const auto order = [&](const auto& self, int device) -> void {
    std::vector<int>& children = tree.children[static_cast<std::size_t>(device)];
    std::vector<std::pair<double, int>> ready;
    ready.reserve(children.size());
    for (const int child : children) {
      self(self, child);
      ready.emplace_back(seconds_until_summed(model, tree, child, chunk), child);
    }
    std::sort(ready.begin(), ready.end());
    std::transform(ready.begin(), ready.end(), children.begin(), [](const auto& entry) {
      return entry.second;
    });
  };
  order(order, tree.root);
}

struct PricedTree {
  ReductionTree tree;
  std::int64_t chunk = 0;
  Cost cost;
};

enum class ChildOrder { as_given, as_ready };

/// A tree in chunks of the best size; on a host there is one size.
PricedTree price_tree(const TransferModel& model,
                      const ReductionTree& tree,
                      std::int64_t bytes,
                      ChildOrder order = ChildOrder::as_ready) {
  const auto price = [&](std::int64_t chunk) {
    PricedTree priced = {tree, chunk, {}};
    if (order == ChildOrder::as_ready) {
      order_children(model, std::min(chunk, bytes), priced.tree);
    }
    priced.cost = model.cost(traffic_of_tree(model, priced.tree, bytes, chunk), bytes);
    return priced;
  };
  if (are_hosts(model.topology())) {
    return price(reduction_chunk_bytes);
  }
  PricedTree best = price(smallest_gpu_chunk);
  // Small chunks are soon through, large ones take fewer steps.
  for (std::int64_t chunk = 2 * smallest_gpu_chunk; chunk <= largest_gpu_chunk;
       chunk *= 2) {
    PricedTree next = price(chunk);
    if (next.cost.seconds < best.cost.seconds) {
      best = std::move(next);
    }
  }
  return best;
}

/// Which devices NVLinks join, directly or over others: by device, the lowest of them.
std::vector<int> nvlink_groups(const Routes& routes) {
  std::vector<int> group(static_cast<std::size_t>(routes.devices()));
  std::iota(group.begin(), group.end(), 0);
  for (bool changes = true; changes;) {
    changes = false;
    for (int a = 0; a < routes.devices(); ++a) {
      for (int b = 0; b < routes.devices(); ++b) {
        int& own = group[static_cast<std::size_t>(a)];
        const int other = group[static_cast<std::size_t>(b)];
        if (routes.route(a, b).type == LinkType::nvlink && other < own) {
          own = other;
          changes = true;
        }
      }
    }
  }
  return group;
}

/// Whether no more edges are over anything else than it takes to join what NVLinks leave
/// apart.
bool keeps_to_nvlinks(const std::vector<int>& group, const ReductionTree& tree) {
  const auto others =
      std::count_if(tree.edges.begin(), tree.edges.end(), [](const ReductionEdge& edge) {
        return edge.link != LinkType::nvlink;
      });
  std::ptrdiff_t groups = 0;
  for (std::size_t device = 0; device < group.size(); ++device) {
    groups += group[device] == static_cast<int>(device) ? 1 : 0;
  }
  return others == groups - 1;
}

/// Where a tree may hang: anywhere, or, with many devices, at the first device or at the
/// end of a chain.
std::vector<int> roots_of(const FreeTree& tree, const std::vector<int>& order) {
  if (order.size() <= most_devices_for_all_roots) {
    return order;
  }
  std::vector<int> roots = {order.front()};
  for (const int device : order) {
    if (tree[static_cast<std::size_t>(device)].size() == 1 && roots.size() < 4) {
      roots.push_back(device);
    }
  }
  return roots;
}

PricedTree cheapest_tree(const TransferModel& model,
                         const std::vector<int>& order,
                         std::int64_t bytes) {
  const int n = model.routes().devices();
  std::vector<std::vector<int>> candidates;
  std::vector<TreeShape> shapes;
  for (const JoinOrder order_of_joins :
       {JoinOrder::near_then_wide, JoinOrder::near, JoinOrder::wide}) {
    for (const int max_children : {1, 2, n}) {
      shapes.push_back({max_children, order_of_joins, true});
      shapes.push_back({max_children, order_of_joins, false});
    }
  }
  const std::vector<int> islands = nvlink_island_of_device(model.topology());
  for (const TreeShape& shape : shapes) {
    const FreeTree tree = shape_tree(model.routes(), islands, order, shape);
    for (const int root : roots_of(tree, order)) {
      candidates.push_back(hang_up(tree, root));
    }
  }
  for (int root = 0; root < (order.size() <= most_devices_for_all_roots ? n : 1);
       ++root) {
    candidates.push_back(shape_star(n, root));
  }
  const std::vector<int> group = nvlink_groups(model.routes());
  std::optional<PricedTree> best;
  for (const std::vector<int>& parents : candidates) {
    PricedTree tree = price_tree(model, tree_of_parents(model.routes(), parents), bytes);
    const bool is_better =
        !best.has_value() || tree.cost.seconds < best->cost.seconds * (1 - 1e-9);
    if (is_better && keeps_to_nvlinks(group, tree.tree)) {
      best = std::move(tree);
    }
  }
  return *best;
}

/// All devices on NVSwitches.
bool is_switch_group(const Topology& topology) {
  return std::all_of(topology.devices().begin(),
                     topology.devices().end(),
                     [](const Device& device) { return device.nvswitch_rate > 0; });
}

/// On a host, whose devices see each other's memory, a flat ring is a chain by number
/// whose last device makes z and passes it on to the first.
Traffic traffic_of_host_ring(const TransferModel& model, std::int64_t bytes) {
  const int n = model.routes().devices();
  std::vector<int> parents(static_cast<std::size_t>(n), -1);
  std::iota(parents.begin(), parents.end() - 1, 1);
  Traffic traffic = traffic_of_tree(
      model, tree_of_parents(model.routes(), parents), bytes, reduction_chunk_bytes);
  traffic.transfers.clear();
  for (int i = 0; i < n; ++i) {
    const int next = (i + 1) % n;
    traffic.transfers.push_back({i, next, i == n - 1 || i == n - 2 ? 1.0 : 2.0});
  }
  return traffic;
}

/// Take rings in place of the tree where they are cheaper.
void consider_rings(const TransferModel& model,
                    std::vector<Ring> rings,
                    std::int64_t bytes,
                    ReductionPlan& plan) {
  if (rings.empty()) {
    return;
  }
  const Cost cost = model.cost(traffic_of_rings(model, rings), bytes);
  if (cost.seconds < plan.cost.seconds) {
    plan.method = is_switch_group(model.topology()) ? ReductionMethod::switch_group
                                                    : ReductionMethod::ring;
    plan.rings = std::move(rings);
    plan.cost = cost;
  }
}

void compare(const TransferModel& model, std::int64_t bytes, ReductionPlan& plan) {
  const int n = model.routes().devices();
  if (n < 2) {
    plan.flat_ring_seconds = plan.cost.seconds;
    plan.star_seconds = plan.cost.seconds;
    return;
  }
  std::vector<int> by_number(static_cast<std::size_t>(n));
  std::iota(by_number.begin(), by_number.end(), 0);
  const Traffic ring = are_hosts(model.topology())
                           ? traffic_of_host_ring(model, bytes)
                           : traffic_of_rings(model, {{by_number, 1}});
  plan.flat_ring_seconds = model.cost(ring, bytes).seconds;
  const ReductionTree star = tree_of_parents(model.routes(), shape_star(n, 0));
  plan.star_seconds = price_tree(model, star, bytes).cost.seconds;
}

ReductionPlan plan_of(PricedTree tree) {
  ReductionPlan plan;
  plan.tree = std::move(tree.tree);
  plan.chunk_bytes = tree.chunk;
  plan.cost = tree.cost;
  plan.tree_cost = tree.cost;
  return plan;
}

void name_bottleneck(const TransferModel& model, ReductionPlan& plan) {
  if (plan.cost.bottleneck == -1) {
    return;
  }
  plan.bottleneck = model.channel_name(plan.cost.bottleneck);
  const Traffic traffic = plan.rings.empty()
                              ? traffic_of_tree(model, plan.tree, 0, plan.chunk_bytes)
                              : traffic_of_rings(model, plan.rings);
  if (plan.cost.transfer != -1) {
    const Transfer& first =
        traffic.transfers[static_cast<std::size_t>(plan.cost.transfer)];
    const auto& devices = model.topology().devices();
    plan.bottleneck += " (first used from " +
                       devices[static_cast<std::size_t>(first.from)].id + " to " +
                       devices[static_cast<std::size_t>(first.to)].id + ")";
  }
}

}  // namespace

std::string_view reduction_method_name(ReductionMethod method) {
  switch (method) {
    case ReductionMethod::tree:
      return "tree";
    case ReductionMethod::ring:
      return "ring";
    case ReductionMethod::switch_group:
      return "switch group";
  }
  return {};
}

Traffic traffic_of_tree(const TransferModel& model,
                        const ReductionTree& tree,
                        std::int64_t bytes,
                        std::int64_t chunk) {
  Traffic traffic;
  traffic.chunk = chunk;
  for (const ReductionEdge& edge : tree.edges) {
    traffic.transfers.push_back({edge.from, edge.to, 1});
    traffic.transfers.push_back({edge.to, edge.from, 1});
  }
  traffic.memory.reserve(tree.parent.size());
  for (int device = 0; device < tree.devices(); ++device) {
    traffic.memory.push_back(are_hosts(model.topology())
                                 ? arrays_at_host(model, tree, device)
                                 : arrays_at_gpu(model, tree, device));
  }
  const double up = seconds_until_summed(model, tree, tree.root, std::min(chunk, bytes));
  traffic.latency = 2 * up;  // and down again
  return traffic;
}

/// Every device sends and receives 2 (n-1)/n of the model (reduce-scatter, all-gather).
Traffic traffic_of_rings(const TransferModel& model, const std::vector<Ring>& rings) {
  Traffic traffic;
  const auto n = static_cast<std::size_t>(model.routes().devices());
  traffic.memory.assign(n, model.learners_per_device() + 4);
  double longest_step = 0;
  for (const Ring& ring : rings) {
    const double share = ring.share * static_cast<double>(n - 1) / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const int a = ring.order[i], b = ring.order[(i + 1) % n];
      traffic.transfers.push_back({a, b, share});
      traffic.transfers.push_back({b, a, share});
      longest_step = std::max(longest_step, model.step(a, b, 0));
    }
  }
  traffic.latency = 2 * static_cast<double>(n - 1) * longest_step;
  return traffic;
}

ReductionPlan plan_reduction(const Topology& topology,
                             int learners_per_device,
                             std::int64_t bytes,
                             const TransferRates& rates) {
  CROSSBOW_EXPECT(!topology.devices().empty() && learners_per_device >= 1 && bytes >= 0);
  const Routes routes(topology);
  const TransferModel model(topology, routes, learners_per_device, rates);
  const std::vector<int> order = order_devices(topology, routes);
  ReductionPlan plan = plan_of(cheapest_tree(model, order, bytes));
  compare(model, bytes, plan);
  if (!are_hosts(topology) && order.size() > 1) {
    consider_rings(model, pack_nvlink_rings(topology), bytes, plan);
    consider_rings(model, {best_single_ring(model, order, bytes)}, bytes, plan);
  }
  name_bottleneck(model, plan);
  return plan;
}

ReductionPlan plan_with_tree(const Topology& topology,
                             int learners_per_device,
                             std::int64_t bytes,
                             const ReductionTree& tree,
                             const TransferRates& rates) {
  const Routes routes(topology);
  const TransferModel model(topology, routes, learners_per_device, rates);
  ReductionPlan plan = plan_of(price_tree(model, tree, bytes, ChildOrder::as_given));
  compare(model, bytes, plan);
  name_bottleneck(model, plan);
  return plan;
}

}  // namespace crossbow
