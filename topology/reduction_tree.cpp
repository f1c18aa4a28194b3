#include "topology/reduction_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/error.hpp"

#include "topology/route.hpp"

namespace crossbow {
namespace {

/// Whether the way up from a device comes to a root.
bool reaches_root(const std::vector<int>& parents, int device) {
  for (std::size_t steps = 0; steps <= parents.size(); ++steps) {
    if (device == -1) {
      return true;
    }
    device = parents[static_cast<std::size_t>(device)];
  }
  return false;
}

int depth_of(const std::vector<int>& parents, int device) {
  int depth = 0;
  for (; parents[static_cast<std::size_t>(device)] != -1; ++depth) {
    device = parents[static_cast<std::size_t>(device)];
  }
  return depth;
}

/// How many edges are below a device, one below the other.
int height_of(const ReductionTree& tree, int device) {
  int height = 0;
  for (const int child : tree.children[static_cast<std::size_t>(device)]) {
    height = std::max(height, 1 + height_of(tree, child));
  }
  return height;
}

}  // namespace

std::string tree_fault(const std::vector<int>& parents,
                       const std::vector<std::string>& devices) {
  const auto n = static_cast<int>(devices.size());
  if (parents.size() != devices.size()) {
    return std::to_string(parents.size()) + " devices have a parent or none, of " +
           std::to_string(n);
  }
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (parents[i] < -1 || parents[i] >= n) {
      return devices[i] + " has the parent " + std::to_string(parents[i]) +
             ", which is no device";
    }
  }
  for (std::size_t i = 0; i < parents.size(); ++i) {
    if (!reaches_root(parents, static_cast<int>(i))) {
      return "the way up from " + devices[i] + " goes round in a cycle";
    }
  }
  const auto roots = std::count(parents.begin(), parents.end(), -1);
  return roots == 1 ? "" : std::to_string(roots) + " devices have no parent";
}

ReductionTree tree_of_parents(const Routes& routes, const std::vector<int>& parents) {
  std::vector<std::string> names;
  names.reserve(parents.size());
  for (int device = 0; device < routes.devices(); ++device) {
    names.push_back("device " + std::to_string(device));
  }
  const std::string fault = tree_fault(parents, names);
  CROSSBOW_VALIDATE(fault.empty(),
                    ExitCode::usage,
                    {"the edges are not a tree",
                     fault,
                     "",
                     "Give every device but one, the root, a parent"});
  ReductionTree tree;
  tree.parent = parents;
  tree.children.assign(parents.size(), {});
  for (int device = 0; device < routes.devices(); ++device) {
    tree.depth = std::max(tree.depth, depth_of(parents, device));
    const int parent = parents[static_cast<std::size_t>(device)];
    if (parent == -1) {
      tree.root = device;
      continue;
    }
    const Route& route = routes.route(device, parent);
    tree.children[static_cast<std::size_t>(parent)].push_back(device);
    tree.edges.push_back({device, parent, route.type, route.rate});
  }
  // Who has less below is ready sooner.
  for (std::vector<int>& children : tree.children) {
    std::stable_sort(children.begin(), children.end(), [&tree](int a, int b) {
      return height_of(tree, a) < height_of(tree, b);
    });
  }
  return tree;
}

ReductionTree star_of(int devices) {
  ReductionTree tree;
  tree.parent.assign(static_cast<std::size_t>(devices), 0);
  tree.parent.front() = -1;
  tree.children.assign(static_cast<std::size_t>(devices), {});
  for (int device = 1; device < devices; ++device) {
    tree.children.front().push_back(device);
    tree.edges.push_back({device, 0, LinkType::memory, 0});
  }
  tree.depth = devices > 1 ? 1 : 0;
  return tree;
}

}  // namespace crossbow
