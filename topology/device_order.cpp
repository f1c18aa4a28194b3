#include "topology/device_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace crossbow {
namespace {

using Signature = std::vector<double>;

/// Replace signatures by their ranks.
std::vector<double> ranks_of(const std::vector<Signature>& signatures) {
  std::map<Signature, double> ranks;
  for (const Signature& signature : signatures) {
    ranks[signature] = 0;
  }
  double next = 0;
  for (auto& [signature, rank] : ranks) {
    rank = next++;
  }
  std::vector<double> result;
  result.reserve(signatures.size());
  for (const Signature& signature : signatures) {
    result.push_back(ranks[signature]);
  }
  return result;
}

/// A device's colour, then its routes with the colours of their ends, sorted.
Signature refine(const Routes& routes, const std::vector<double>& colours, int device) {
  std::vector<Signature> seen;
  for (int other = 0; other < routes.devices(); ++other) {
    if (other != device) {
      const Route& route = routes.route(device, other);
      Signature way = {colours[static_cast<std::size_t>(other)],
                       static_cast<double>(route.type),
                       static_cast<double>(route.depth)};
      for (const int channel : route.channels) {
        way.push_back(-routes.channels()[static_cast<std::size_t>(channel)].rate);
      }
      seen.push_back(std::move(way));
    }
  }
  std::sort(seen.begin(), seen.end());
  Signature signature = {colours[static_cast<std::size_t>(device)]};
  for (const Signature& part : seen) {
    signature.insert(signature.end(), part.begin(), part.end());
  }
  return signature;
}

/// Refine until nothing more is told apart.
std::vector<double> refine_all(const Routes& routes, std::vector<double> colours) {
  for (;;) {
    std::vector<Signature> signatures;
    signatures.reserve(colours.size());
    for (int device = 0; device < routes.devices(); ++device) {
      signatures.push_back(refine(routes, colours, device));
    }
    std::vector<double> finer = ranks_of(signatures);
    if (finer == colours) {
      return colours;
    }
    colours = std::move(finer);
  }
}

/// The first device of the first colour that several have; none: -1.
int first_of_several(const std::vector<double>& colours) {
  int first = -1;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const bool is_shared = std::count(colours.begin(), colours.end(), colours[i]) > 1;
    if (is_shared &&
        (first == -1 || colours[i] < colours[static_cast<std::size_t>(first)])) {
      first = static_cast<int>(i);
    }
  }
  return first;
}

}  // namespace

std::vector<int> order_devices(const Topology& topology, const Routes& routes) {
  std::vector<Signature> signatures;
  signatures.reserve(topology.devices().size());
  for (const Device& device : topology.devices()) {
    signatures.push_back({-device.nvswitch_rate,
                          -device.link_rate,
                          static_cast<double>(device.cores.size())});
  }
  std::vector<double> colours = refine_all(routes, ranks_of(signatures));
  // Telling one apart tells others by how they are linked to it.
  for (int first = first_of_several(colours); first != -1 && routes.devices() <= 64;
       first = first_of_several(colours)) {
    colours[static_cast<std::size_t>(first)] -= 0.5;
    colours = refine_all(routes, std::move(colours));
  }
  std::vector<int> order(colours.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&colours](int a, int b) {
    return colours[static_cast<std::size_t>(a)] < colours[static_cast<std::size_t>(b)];
  });
  return order;
}

}  // namespace crossbow
