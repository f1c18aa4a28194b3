#include "topology/locality_domain.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace crossbow {
namespace {

/// NVLink rates between all pairs, direct or through NVSwitches; 0: none.
class NvLinkRates {
 public:
  explicit NvLinkRates(const Topology& topology)
      : n_(topology.devices().size()), rates_(n_ * n_, 0) {
    for (std::size_t a = 0; a < n_; ++a) {
      for (std::size_t b = 0; b < n_; ++b) {
        const double both = std::min(topology.devices()[a].nvswitch_rate,
                                     topology.devices()[b].nvswitch_rate);
        rates_[a * n_ + b] = a == b ? 0 : both;
      }
    }
    for (const NvLink& link : topology.nvlinks()) {
      const auto a = static_cast<std::size_t>(link.a);
      const auto b = static_cast<std::size_t>(link.b);
      rates_[a * n_ + b] = std::max(rates_[a * n_ + b], link.rate);
      rates_[b * n_ + a] = rates_[a * n_ + b];
    }
  }

  double between(int a, int b) const {
    return rates_[static_cast<std::size_t>(a) * n_ + static_cast<std::size_t>(b)];
  }

 private:
  std::size_t n_;
  std::vector<double> rates_;
};

/// Finds the best clique among devices that are free: most devices, then most bandwidth,
/// then the lowest numbers.
class CliqueSearch {
 public:
  CliqueSearch(const NvLinkRates& rates, const std::vector<int>& free)
      : rates_(rates), free_(free) {
    extend(0, 0);
  }

  const std::vector<int>& best() const { return best_; }

 private:
  void extend(std::size_t next, double bandwidth) {
    if (std::tuple(members_.size(), bandwidth) >
        std::tuple(best_.size(), best_bandwidth_)) {
      best_ = members_;
      best_bandwidth_ = bandwidth;
    }
    for (; next < free_.size(); ++next) {
      if (members_.size() + free_.size() - next < best_.size()) {
        return;
      }
      double added = 0;
      const bool fits = std::all_of(members_.begin(), members_.end(), [&](int member) {
        added += rates_.between(member, free_[next]);
        return rates_.between(member, free_[next]) > 0;
      });
      if (fits) {
        members_.push_back(free_[next]);
        extend(next + 1, bandwidth + added);
        members_.pop_back();
      }
    }
  }

  const NvLinkRates& rates_;
  const std::vector<int>& free_;
  std::vector<int> members_, best_;
  double best_bandwidth_ = -1;
};

bool is_below(const Topology& topology, int place, int above) {
  for (; place != -1; place = topology.places()[static_cast<std::size_t>(place)].parent) {
    if (place == above) {
      return true;
    }
  }
  return false;
}

/// Collects the domains of one machine.
class Collector {
 public:
  explicit Collector(const Topology& topology) : t_(topology) {}

  std::vector<LocalityDomain> collect() {
    add(
        DomainKind::machine,
        t_.machine_name().empty() ? "machine" : t_.machine_name(),
        [](const Device&) { return true; },
        [](const Core&) { return true; });
    for (std::size_t i = 0; i < t_.packages().size(); ++i) {
      const int package = static_cast<int>(i);
      add(
          DomainKind::package,
          "package " + std::to_string(t_.packages()[i].os_index),
          [package](const Device& device) { return device.package == package; },
          [package](const Core& core) { return core.package == package; });
    }
    for (std::size_t i = 0; i < t_.numa_nodes().size(); ++i) {
      const int node = static_cast<int>(i);
      add(
          DomainKind::numa_node,
          "NUMA node " + std::to_string(t_.numa_nodes()[i].os_index),
          [node](const Device& device) { return device.numa_node == node; },
          [node](const Core& core) { return core.numa_node == node; });
    }
    add_switches();
    add_islands();
    if (!t_.devices().empty() && t_.devices().front().kind == DeviceKind::host) {
      add_caches_and_cores();
    }
    return std::move(domains_);
  }

 private:
  template <class HasDevice, class HasCore>
  void add(DomainKind kind, std::string name, HasDevice has_device, HasCore has_core) {
    LocalityDomain domain;
    domain.kind = kind;
    domain.name = std::move(name);
    for (std::size_t i = 0; i < t_.devices().size(); ++i) {
      if (has_device(t_.devices()[i])) {
        domain.devices.push_back(static_cast<int>(i));
      }
    }
    for (std::size_t i = 0; i < t_.cores().size(); ++i) {
      if (has_core(t_.cores()[i])) {
        domain.cores.push_back(static_cast<int>(i));
      }
    }
    domains_.push_back(std::move(domain));
  }

  void add_switches() {
    for (std::size_t i = 0; i < t_.places().size(); ++i) {
      if (t_.places()[i].kind != PlaceKind::pcie_switch) {
        continue;
      }
      const int place = static_cast<int>(i);
      add(
          DomainKind::pcie_switch,
          t_.places()[i].name,
          [this, place](const Device& device) {
            return is_below(t_, device.place, place);
          },
          [](const Core&) { return false; });
      if (domains_.back().devices.size() < 2) {
        domains_.pop_back();
      }
    }
  }

  void add_islands() {
    const std::vector<int> island = nvlink_island_of_device(t_);
    int number = 0;
    for (std::size_t first = 0; first < island.size(); ++first) {
      LocalityDomain domain;
      domain.kind = DomainKind::nvlink_island;
      for (std::size_t i = 0; i < island.size(); ++i) {
        if (island[i] == static_cast<int>(first)) {
          domain.devices.push_back(static_cast<int>(i));
        }
      }
      if (domain.devices.size() > 1) {
        domain.name = "NVLink island " + std::to_string(number++);
        domains_.push_back(std::move(domain));
      }
    }
  }

  void add_caches_and_cores() {
    for (std::size_t i = 0; i < t_.l3_groups().size(); ++i) {
      const std::vector<int>& cores = t_.l3_groups()[i].cores;
      add_host(DomainKind::l3, "L3 group " + std::to_string(i), cores);
    }
    for (std::size_t i = 0; i < t_.cores().size(); ++i) {
      add_host(DomainKind::core, "core " + std::to_string(i), {static_cast<int>(i)});
    }
  }

  /// A domain of cores, with the devices that lie wholly in it.
  void add_host(DomainKind kind, std::string name, const std::vector<int>& cores) {
    LocalityDomain domain{kind, std::move(name), {}, cores};
    for (std::size_t i = 0; i < t_.devices().size(); ++i) {
      const std::vector<int>& own = t_.devices()[i].cores;
      if (std::includes(cores.begin(), cores.end(), own.begin(), own.end())) {
        domain.devices.push_back(static_cast<int>(i));
      }
    }
    domains_.push_back(std::move(domain));
  }

  const Topology& t_;
  std::vector<LocalityDomain> domains_;
};

}  // namespace

std::string_view domain_kind_name(DomainKind kind) {
  switch (kind) {
    case DomainKind::machine:
      return "machine";
    case DomainKind::package:
      return "package";
    case DomainKind::numa_node:
      return "NUMA node";
    case DomainKind::pcie_switch:
      return "PCIe switch";
    case DomainKind::nvlink_island:
      return "NVLink island";
    case DomainKind::l3:
      return "L3";
    case DomainKind::core:
      return "core";
  }
  return {};
}

std::vector<LocalityDomain> locality_domains(const Topology& topology) {
  return Collector(topology).collect();
}

std::vector<int> nvlink_island_of_device(const Topology& topology) {
  const NvLinkRates rates(topology);
  const auto n = static_cast<int>(topology.devices().size());
  std::vector<int> island(static_cast<std::size_t>(n));
  std::vector<int> free;
  for (int a = 0; a < n; ++a) {
    island[static_cast<std::size_t>(a)] = a;
    bool has_nvlink = false;
    for (int b = 0; b < n && !has_nvlink; ++b) {
      has_nvlink = rates.between(a, b) > 0;
    }
    if (has_nvlink) {
      free.push_back(a);
    }
  }
  while (!free.empty()) {
    const std::vector<int> members = CliqueSearch(rates, free).best();
    for (const int member : members) {
      island[static_cast<std::size_t>(member)] = members.front();
      free.erase(std::find(free.begin(), free.end(), member));
    }
  }
  return island;
}

}  // namespace crossbow
