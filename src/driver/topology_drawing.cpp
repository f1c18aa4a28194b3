#include "driver/topology_drawing.hpp"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "topology/locality_domain.hpp"

namespace crossbow {
namespace {

/// Numbers as runs: "0-3,8,10-11".
std::string runs_text(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    text += last == i ? "" : fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text.empty() ? "none" : text;
}

/// Draws one view; a method for each part.
class TextDrawing {
 public:
  explicit TextDrawing(const TopologyView& view) : view_(view), t_(view.topology) {}

  std::string draw() {
    draw_machine();
    draw_devices();
    draw_domains();
    draw_learners();
    if (!t_.devices().empty()) {
      text_ += fmt::format(
          "\nReduction tree (a sum goes up to the root, z comes down), "
          "chunks of {}\n",
          bytes_text(static_cast<double>(view_.plan.chunk_bytes)));
      draw_tree(view_.plan.tree.root, "", "");
      draw_prediction();
    }
    return std::move(text_);
  }

 private:
  void draw_machine() {
    text_ += fmt::format(
        "{}: {} package(s), {} NUMA node(s), {} core(s), {} hardware "
        "thread(s), {}\n",
        t_.machine_name().empty() ? "machine" : t_.machine_name(),
        t_.packages().size(),
        t_.numa_nodes().size(),
        t_.cores().size(),
        t_.pus().size(),
        bytes_text(static_cast<double>(t_.memory())));
    for (const Package& package : t_.packages()) {
      text_ += fmt::format("  package {}{}{}\n",
                           package.os_index,
                           package.model.empty() ? "" : ": ",
                           package.model);
    }
  }

  std::string numa_text(int node) const {
    return node == -1
               ? "any NUMA node"
               : fmt::format("NUMA node {}",
                             t_.numa_nodes()[static_cast<std::size_t>(node)].os_index);
  }

  void draw_devices() {
    text_ += fmt::format("\nDevices ({})\n", t_.devices().size());
    for (std::size_t i = 0; i < t_.devices().size(); ++i) {
      const Device& device = t_.devices()[i];
      text_ += fmt::format("  {:>3}  {:<14} {}", i, device.id, device.name);
      text_ += device.memory == 0
                   ? ""
                   : fmt::format(", {}", bytes_text(static_cast<double>(device.memory)));
      text_ += ", " + numa_text(device.numa_node);
      if (device.kind == DeviceKind::host) {
        text_ += fmt::format(", {} core(s)", device.cores.size());
      } else {
        text_ += fmt::format(", {} {:.1f} GB/s",
                             device.nvlink_to_host ? "NVLink to host" : "PCIe",
                             device.link_rate);
        text_ += device.nvswitch_rate == 0
                     ? ""
                     : fmt::format(", NVSwitch {:.0f} GB/s", device.nvswitch_rate);
      }
      text_ += "\n";
    }
  }

  void draw_domains() {
    text_ += "\nDomains\n";
    for (const LocalityDomain& domain : locality_domains(t_)) {
      const bool is_small =
          domain.kind == DomainKind::core || domain.kind == DomainKind::l3;
      if (domain.kind == DomainKind::machine || is_small) {
        continue;
      }
      text_ +=
          fmt::format("  {:<28} devices {:<12}", domain.name, runs_text(domain.devices));
      text_ += domain.cores.empty() ? "\n"
                                    : fmt::format(" cores {}\n", runs_text(domain.cores));
    }
  }

  void draw_learners() {
    const Placement& placement = view_.placement;
    text_ += fmt::format("\nLearners ({})\n", placement.learners());
    for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
      const auto device = static_cast<std::size_t>(placement.device_of_learner[j]);
      text_ +=
          fmt::format("  {:>3}  on {:<14} hardware threads {:<8}",
                      j,
                      t_.devices().empty() ? "the machine" : t_.devices()[device].id,
                      fmt::format("{}", fmt::join(placement.pus_of_learner[j], ",")));
      const int prefetch = placement.prefetch_pu_of_learner[j];
      text_ += prefetch == -1 ? "" : fmt::format(" reads ahead on {:<4}", prefetch);
      text_ += " memory on " + numa_text(placement.numa_node_of_learner[j]) + "\n";
    }
    text_ += placement.warning.empty() ? "" : "  note: " + placement.warning + "\n";
  }

  void draw_tree(int device, const std::string& lead, const std::string& own_lead) {
    const ReductionTree& tree = view_.plan.tree;
    std::string link = "root";
    for (const ReductionEdge& edge : tree.edges) {
      if (edge.from == device) {
        link = fmt::format("{}{}",
                           link_type_name(edge.link),
                           edge.rate == 0 ? "" : fmt::format(", {:.1f} GB/s", edge.rate));
      }
    }
    text_ += fmt::format("  {}{} ({})\n",
                         own_lead,
                         t_.devices()[static_cast<std::size_t>(device)].id,
                         link);
    const std::vector<int>& children = tree.children[static_cast<std::size_t>(device)];
    for (std::size_t i = 0; i < children.size(); ++i) {
      const bool is_last = i + 1 == children.size();
      draw_tree(children[i],
                lead + (is_last ? "   " : "│  "),
                lead + (is_last ? "└─ " : "├─ "));
    }
  }

  void draw_prediction() {
    const ReductionPlan& plan = view_.plan;
    text_ += fmt::format("\nAveraging a model of {}: {} by {}\n",
                         bytes_text(static_cast<double>(view_.model_bytes)),
                         seconds_text(plan.cost.seconds),
                         reduction_method_name(plan.method));
    for (const Ring& ring : plan.rings) {
      text_ += fmt::format(
          "  ring {} with {:.0f} %\n", fmt::join(ring.order, "-"), 100 * ring.share);
    }
    text_ += plan.bottleneck.empty() ? "" : "  bottleneck: " + plan.bottleneck + "\n";
    if (t_.devices().size() > 1) {
      text_ += fmt::format("  this tree {}, a flat ring {}, a star {}\n",
                           seconds_text(plan.tree_cost.seconds),
                           seconds_text(plan.flat_ring_seconds),
                           seconds_text(plan.star_seconds));
    }
  }

  const TopologyView& view_;
  const Topology& t_;
  std::string text_;
};

}  // namespace

std::string draw_text(const TopologyView& view) {
  return TextDrawing(view).draw();
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) {
    bytes /= 1000;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) {
    return fmt::format("{:.1f} us", 1e6 * seconds);
  }
  return seconds < 1 ? fmt::format("{:.2f} ms", 1e3 * seconds)
                     : fmt::format("{:.2f} s", seconds);
}

}  // namespace crossbow
