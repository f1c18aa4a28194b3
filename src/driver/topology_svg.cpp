#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "driver/topology_drawing.hpp"

namespace crossbow {
namespace {

constexpr int box_width = 150, box_height = 64, gap = 24, margin = 24, header = 56;

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        // Names of devices are the makers' own: whatever is no plain character would make
        // the picture unreadable.
        out += c >= ' ' && c <= '~' ? c : '?';
    }
  }
  return out;
}

/// Colours that people with colour blindness tell apart (Okabe and Ito).
const char* colour_of(LinkType type) {
  switch (type) {
    case LinkType::nvlink:
      return "#009e73";
    case LinkType::memory:
      return "#56b4e9";
    case LinkType::pcie_switch:
    case LinkType::host_bridge:
      return "#e69f00";
    case LinkType::numa_node:
    case LinkType::package:
      return "#cc79a7";
    case LinkType::socket:
      break;
  }
  return "#d55e00";
}

/// Devices stand in columns by package and NUMA node, and in rows by how deep they are in
/// the tree, so that sums flow upwards.
class SvgDrawing {
 public:
  explicit SvgDrawing(const TopologyView& view)
      : view_(view), t_(view.topology), tree_(view.plan.tree) {
    lay_out();
  }

  std::string draw() {
    svg_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"11\">\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
        width(),
        height());
    draw_title();
    draw_nodes();
    for (const ReductionEdge& edge : tree_.edges) {
      draw_edge(edge);
    }
    for (std::size_t i = 0; i < t_.devices().size(); ++i) {
      draw_device(static_cast<int>(i));
    }
    return std::move(svg_) + "</svg>\n";
  }

 private:
  int depth(int device) const {
    int depth = 0;
    for (; tree_.parent[static_cast<std::size_t>(device)] != -1; ++depth) {
      device = tree_.parent[static_cast<std::size_t>(device)];
    }
    return depth;
  }

  void lay_out() {
    std::vector<int> order;
    for (std::size_t i = 0; i < t_.devices().size(); ++i) {
      order.push_back(static_cast<int>(i));
    }
    std::stable_sort(order.begin(), order.end(), [this](int a, int b) {
      return node_of(a) < node_of(b);
    });
    columns_.assign(order.size(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      columns_[static_cast<std::size_t>(order[i])] = static_cast<int>(i);
    }
  }

  std::pair<int, int> node_of(int device) const {
    const Device& own = t_.devices()[static_cast<std::size_t>(device)];
    return {own.package, own.numa_node};
  }

  int x(int device) const {
    return margin + columns_[static_cast<std::size_t>(device)] * (box_width + gap) +
           gap / 2;
  }
  int y(int device) const {
    return header + 2 * margin + depth(device) * (box_height + 2 * gap);
  }
  int width() const {
    const int columns = std::max(3, static_cast<int>(columns_.size()));
    return 2 * margin + columns * (box_width + gap);
  }
  int height() const {
    return header + 3 * margin + (tree_.depth + 1) * (box_height + 2 * gap);
  }

  void text(int x, int y, const std::string& anchor, const std::string& content) {
    svg_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n",
                        x,
                        y,
                        anchor,
                        escaped(content));
  }

  void draw_title() {
    const ReductionPlan& plan = view_.plan;
    text(margin,
         margin,
         "start",
         fmt::format("{}: {} devices, {} learners; a model of {} is averaged in {} by {}",
                     t_.machine_name().empty() ? "machine" : t_.machine_name(),
                     t_.devices().size(),
                     view_.placement.learners(),
                     bytes_text(static_cast<double>(view_.model_bytes)),
                     seconds_text(plan.cost.seconds),
                     reduction_method_name(plan.method)));
    text(margin,
         margin + 16,
         "start",
         plan.bottleneck.empty() ? "" : "bottleneck: " + plan.bottleneck);
  }

  /// A frame around the devices of each NUMA node.
  void draw_nodes() {
    std::map<std::pair<int, int>, std::vector<int>> nodes;
    for (std::size_t i = 0; i < t_.devices().size(); ++i) {
      nodes[node_of(static_cast<int>(i))].push_back(static_cast<int>(i));
    }
    for (const auto& [node, devices] : nodes) {
      int left = width(), right = 0;
      for (const int device : devices) {
        left = std::min(left, x(device) - gap / 3);
        right = std::max(right, x(device) + box_width + gap / 3);
      }
      svg_ += fmt::format(
          "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f4f4f4\" "
          "stroke=\"#bbbbbb\"/>\n",
          left,
          header,
          right - left,
          height() - header - margin / 2);
      text(left + 6, header + 14, "start", node_name(node));
    }
  }

  std::string node_name(const std::pair<int, int>& node) const {
    std::string name =
        node.first == -1
            ? ""
            : fmt::format("package {}",
                          t_.packages()[static_cast<std::size_t>(node.first)].os_index);
    if (node.second != -1) {
      name +=
          fmt::format("{}NUMA node {}",
                      name.empty() ? "" : ", ",
                      t_.numa_nodes()[static_cast<std::size_t>(node.second)].os_index);
    }
    return name;
  }

  void draw_edge(const ReductionEdge& edge) {
    const int x1 = x(edge.from) + box_width / 2, y1 = y(edge.from);
    const int x2 = x(edge.to) + box_width / 2, y2 = y(edge.to) + box_height;
    svg_ += fmt::format(
        "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" "
        "stroke-width=\"2\"/>\n",
        x1,
        y1,
        x2,
        y2,
        colour_of(edge.link));
    text(x1 + 6,
         y1 - 6,
         "start",
         edge.rate == 0
             ? std::string(link_type_name(edge.link))
             : fmt::format("{} {:.0f} GB/s", link_type_name(edge.link), edge.rate));
  }

  void draw_device(int device) {
    const Device& own = t_.devices()[static_cast<std::size_t>(device)];
    std::vector<int> learners;
    for (int j = 0; j < view_.placement.learners(); ++j) {
      if (view_.placement.device_of_learner[static_cast<std::size_t>(j)] == device) {
        learners.push_back(j);
      }
    }
    svg_ += fmt::format(
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"white\" "
        "stroke=\"black\" stroke-width=\"{}\"/>\n",
        x(device),
        y(device),
        box_width,
        box_height,
        device == tree_.root ? 3 : 1);
    const int middle = x(device) + box_width / 2;
    text(middle, y(device) + 18, "middle", own.id);
    text(middle, y(device) + 34, "middle", own.name.substr(0, 24));
    text(middle,
         y(device) + 52,
         "middle",
         learners.empty() ? "" : fmt::format("learners {}", fmt::join(learners, " ")));
  }

  const TopologyView& view_;
  const Topology& t_;
  const ReductionTree& tree_;
  std::vector<int> columns_;  // by device
  std::string svg_;
};

}  // namespace

std::string draw_svg(const TopologyView& view) {
  return SvgDrawing(view).draw();
}

}  // namespace crossbow
