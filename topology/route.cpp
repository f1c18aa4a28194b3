#include "topology/route.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace crossbow {
namespace {

/// How far apart two devices are whose ways meet at a place.
LinkType type_of_meeting(const Topology& topology, int place, bool are_hosts) {
  switch (topology.places()[static_cast<std::size_t>(place)].kind) {
    case PlaceKind::pcie_switch:
      return LinkType::pcie_switch;
    case PlaceKind::host_bridge:
      return LinkType::host_bridge;
    case PlaceKind::numa_node:
      return are_hosts ? LinkType::memory : LinkType::numa_node;
    case PlaceKind::package:
      return LinkType::package;
    case PlaceKind::machine:
      break;
  }
  return topology.packages().size() > 1 ? LinkType::socket : LinkType::package;
}

/// What a place's link to its parent is, for its share and latency.
LinkType type_of_uplink(PlaceKind kind) {
  switch (kind) {
    case PlaceKind::pcie_switch:
      return LinkType::pcie_switch;
    case PlaceKind::host_bridge:
      return LinkType::host_bridge;
    case PlaceKind::numa_node:
      return LinkType::package;
    case PlaceKind::package:
    case PlaceKind::machine:
      break;
  }
  return LinkType::socket;
}

LinkType type_of_device_link(const Device& device) {
  if (device.kind == DeviceKind::host) {
    return LinkType::memory;
  }
  return device.nvlink_to_host ? LinkType::nvlink : LinkType::pcie_switch;
}

/// Numbers channels: two for each place's link to its parent, for each device's link to
/// its place, for each device's links to the NVSwitches, and for each NVLink.
class Builder {
 public:
  explicit Builder(const Topology& topology) : t_(topology) {
    for (const Place& place : t_.places()) {
      const std::string parent =
          place.parent == -1 ? ""
                             : t_.places()[static_cast<std::size_t>(place.parent)].name;
      add_pair(place.link_rate, type_of_uplink(place.kind), place.name, parent);
    }
    for (const Device& device : t_.devices()) {
      add_pair(device.link_rate,
               type_of_device_link(device),
               device.id,
               t_.places()[static_cast<std::size_t>(device.place)].name);
    }
    for (const Device& device : t_.devices()) {
      add_pair(device.nvswitch_rate, LinkType::nvlink, device.id, "NVSwitches");
    }
    for (const NvLink& link : t_.nvlinks()) {
      add_pair(link.rate,
               LinkType::nvlink,
               t_.devices()[static_cast<std::size_t>(link.a)].id,
               t_.devices()[static_cast<std::size_t>(link.b)].id);
    }
  }

  std::vector<Channel> take_channels() { return std::move(channels_); }

  Route route(int from, int to) const {
    if (from == to) {
      return {};
    }
    Route route = way(from, to);
    route.rate = std::numeric_limits<double>::infinity();
    for (const int channel : route.channels) {
      const double rate = channels_[static_cast<std::size_t>(channel)].rate;
      route.rate = rate == 0 ? route.rate : std::min(route.rate, rate);
    }
    if (route.rate == std::numeric_limits<double>::infinity()) {
      route.rate = 0;
    }
    return route;
  }

 private:
  Route way(int from, int to) const {
    const int n_places = static_cast<int>(t_.places().size());
    const int n_devices = static_cast<int>(t_.devices().size());
    for (std::size_t i = 0; i < t_.nvlinks().size(); ++i) {
      const NvLink& link = t_.nvlinks()[i];
      if (link.a == std::min(from, to) && link.b == std::max(from, to)) {
        const int pair = n_places + 2 * n_devices + static_cast<int>(i);
        return {LinkType::nvlink, 0, 0, {2 * pair + (from == link.a ? 0 : 1)}};
      }
    }
    const Device& a = t_.devices()[static_cast<std::size_t>(from)];
    const Device& b = t_.devices()[static_cast<std::size_t>(to)];
    if (a.nvswitch_rate > 0 && b.nvswitch_rate > 0) {
      const int first = n_places + n_devices;
      return {LinkType::nvlink, 0, 0, {2 * (first + from), 2 * (first + to) + 1}};
    }
    return way_through_places(from, to);
  }

  Route way_through_places(int from, int to) const {
    const int n_places = static_cast<int>(t_.places().size());
    const Device& a = t_.devices()[static_cast<std::size_t>(from)];
    const Device& b = t_.devices()[static_cast<std::size_t>(to)];
    const std::vector<int> up = places_above(a.place);
    const std::vector<int> down = places_above(b.place);
    const auto meeting =
        std::find_first_of(up.begin(), up.end(), down.begin(), down.end());
    Route route;
    route.channels.push_back(2 * (n_places + from));
    for (auto place = up.begin(); place != meeting; ++place) {
      route.channels.push_back(2 * *place);
    }
    for (const int place : down) {
      if (place == *meeting) {
        break;
      }
      route.channels.push_back(2 * place + 1);
    }
    route.channels.push_back(2 * (n_places + to) + 1);
    route.type = type_of_meeting(t_, *meeting, a.kind == DeviceKind::host);
    route.depth = static_cast<int>(up.end() - meeting) - 1;
    return route;
  }

  /// The place and those above it, the machine last.
  std::vector<int> places_above(int place) const {
    std::vector<int> above;
    for (; place != -1; place = t_.places()[static_cast<std::size_t>(place)].parent) {
      above.push_back(place);
    }
    return above;
  }

  void add_pair(double rate, LinkType type, const std::string& a, const std::string& b) {
    channels_.push_back({rate, type, a + " -> " + b});
    channels_.push_back({rate, type, b + " -> " + a});
  }

  const Topology& t_;
  std::vector<Channel> channels_;
};

}  // namespace

Routes::Routes(const Topology& topology)
    : n_devices_(static_cast<int>(topology.devices().size())) {
  Builder builder(topology);
  for (int from = 0; from < n_devices_; ++from) {
    for (int to = 0; to < n_devices_; ++to) {
      routes_.push_back(builder.route(from, to));
    }
  }
  channels_ = builder.take_channels();
}

}  // namespace crossbow
