#pragma once
// How data gets from one device to another, and over what: the lowest terms in which
// plans are judged.

#include <vector>

#include "topology/topology.hpp"

namespace crossbow {

/// Anything that carries data in one direction and that several transfers may share.
/// Numbered per topology: 0 .. Routes::channels() - 1.
struct Channel {
  double rate = 0;  // [GB/s]; 0: no limit
  LinkType type = LinkType::memory;
  std::string name;  // "0000:06:00.0 -> PCIe switch 0000:02:00.0"
};

struct Route {
  LinkType type = LinkType::memory;  // the farthest on the way
  double rate = 0;                   // of the narrowest channel [GB/s]
  int depth = 0;  // of the place where up turns to down, below the machine; 0 by NVLink
  std::vector<int> channels;
};

/// The routes between all devices of a topology.
///
/// NVLink is taken where two devices share one, or sit on the same NVSwitches; else the
/// way leads up the places to the nearest above both, and down. A device with NVLink to
/// its host takes that in place of PCIe.
class Routes {
 public:
  explicit Routes(const Topology& topology);

  const Route& route(int from, int to) const {
    const auto row =
        static_cast<std::size_t>(from) * static_cast<std::size_t>(n_devices_);
    return routes_[row + static_cast<std::size_t>(to)];
  }
  const std::vector<Channel>& channels() const { return channels_; }
  int devices() const { return n_devices_; }

 private:
  int n_devices_;
  std::vector<Channel> channels_;
  std::vector<Route> routes_;
};

}  // namespace crossbow
