#include "topology/tree_shapes.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <set>
#include <tuple>
#include <utility>

namespace crossbow {
namespace {

/// How far and how narrow a route is; smaller ones are joined first.
using Level = std::tuple<double, double, double>;

std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// Joins devices level by level.
class Joiner {
 public:
  Joiner(const Routes& routes,
         const std::vector<int>& islands,
         const std::vector<int>& order,
         const TreeShape& shape)
      : routes_(routes),
        shape_(shape),
        islands_(islands),
        position_(order.size()),
        neighbours_(order.size()) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      position_[at(order[i])] = static_cast<int>(i);
      groups_.push_back({order[i]});
    }
    std::set<Level> levels;
    for (int a = 0; a < routes.devices(); ++a) {
      for (int b = 0; b < a; ++b) {
        levels.insert(level(a, b));
      }
    }
    for (const Level& each : levels) {
      join(each);
    }
  }

  FreeTree take() { return std::move(neighbours_); }

 private:
  Level level(int a, int b) const {
    const Route& route = routes_.route(a, b);
    if (route.type == LinkType::nvlink) {
      const bool is_between = shape_.islands_first && islands_[at(a)] != islands_[at(b)];
      return {is_between ? 1 : 0, shape_.order == JoinOrder::near ? 0 : -route.rate, 0};
    }
    // Of switches one inside the other the innermost is the nearest.
    const double distance = 2 + static_cast<double>(route.type);
    switch (shape_.order) {
      case JoinOrder::near_then_wide:
        return {distance, -route.depth, -route.rate};
      case JoinOrder::near:
        return {distance, -route.depth, 0};
      case JoinOrder::wide:
        break;
    }
    return {2, -route.rate, distance};
  }

  /// Join all groups that have routes of a level between them, each with its own tree.
  void join(const Level& wanted) {
    std::vector<bool> is_reached(groups_.size(), false);
    std::vector<std::vector<int>> joined;
    for (std::size_t first = 0; first < groups_.size(); ++first) {
      if (!is_reached[first]) {
        joined.push_back(grow(static_cast<int>(first), wanted, is_reached));
      }
    }
    groups_ = std::move(joined);
  }

  /// Grow a tree of groups from the first one; give its devices.
  std::vector<int> grow(int first, const Level& wanted, std::vector<bool>& is_reached) {
    std::vector<int> reached = {first};
    std::deque<int> waiting = {first};
    is_reached[at(first)] = true;
    const auto reach = [&](int from, int limit) {
      for (int to = 0; to < static_cast<int>(groups_.size()) && limit > 0; ++to) {
        if (!is_reached[at(to)] && connect(from, to, wanted)) {
          is_reached[at(to)] = true;
          reached.push_back(to);
          waiting.push_back(to);
          --limit;
        }
      }
    };
    while (!waiting.empty()) {
      const int from = waiting.front();
      waiting.pop_front();
      reach(from, shape_.max_children);
      // Where that leaves somebody out, more children must do.
      for (std::size_t i = 0; waiting.empty() && i < reached.size(); ++i) {
        reach(reached[i], 1);
      }
    }
    std::vector<int> devices;
    for (const int group : reached) {
      devices.insert(devices.end(), groups_[at(group)].begin(), groups_[at(group)].end());
    }
    return devices;
  }

  /// Connect two groups by their best route of a level, if they have one. Chains are
  /// prolonged at their ends, stars at their first device.
  bool connect(int from, int to, const Level& wanted) {
    std::tuple<int, int, int> best_rank;
    int best_a = -1, best_b = -1;
    for (const int a : groups_[at(from)]) {
      for (const int b : groups_[at(to)]) {
        if (level(a, b) != wanted) {
          continue;
        }
        const std::tuple rank{
            crowd(from, a) + crowd(to, b), position_[at(a)], position_[at(b)]};
        if (best_a == -1 || rank < best_rank) {
          best_rank = rank;
          best_a = a;
          best_b = b;
        }
      }
    }
    if (best_a == -1) {
      return false;
    }
    neighbours_[at(best_a)].push_back(best_b);
    neighbours_[at(best_b)].push_back(best_a);
    return true;
  }

  int crowd(int group, int device) const {
    if (shape_.max_children > 2) {
      return groups_[at(group)].front() == device ? 0 : 1;
    }
    return static_cast<int>(neighbours_[at(device)].size());
  }

  const Routes& routes_;
  TreeShape shape_;
  const std::vector<int>& islands_;
  std::vector<int> position_;
  std::vector<std::vector<int>> groups_;  // of devices joined so far
  FreeTree neighbours_;
};

}  // namespace

FreeTree shape_tree(const Routes& routes,
                    const std::vector<int>& islands,
                    const std::vector<int>& order,
                    const TreeShape& shape) {
  return Joiner(routes, islands, order, shape).take();
}

std::vector<int> hang_up(const FreeTree& tree, int root) {
  std::vector<int> parents(tree.size(), -1);
  std::deque<int> waiting = {root};
  while (!waiting.empty()) {
    const int device = waiting.front();
    waiting.pop_front();
    for (const int next : tree[at(device)]) {
      if (next != root && next != parents[at(device)]) {
        parents[at(next)] = device;
        waiting.push_back(next);
      }
    }
  }
  return parents;
}

std::vector<int> shape_star(int devices, int root) {
  std::vector<int> parents(at(devices), root);
  parents[at(root)] = -1;
  return parents;
}

}  // namespace crossbow
