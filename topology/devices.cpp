#include "topology/devices.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/error.hpp"

#include "topology/pci_address.hpp"

namespace crossbow {
namespace {

/// What the cores of one device have in common, and its name.
struct Group {
  std::tuple<int, int, int, int> key;
  std::string id;
};

Group group_of(const Topology& machine, HostDomain domain, int index) {
  const Core& core = machine.cores()[static_cast<std::size_t>(index)];
  const std::string package =
      "package" +
      std::to_string(machine.packages()[static_cast<std::size_t>(core.package)].os_index);
  switch (domain) {
    case HostDomain::machine:
      return {{0, 0, 0, 0}, "machine"};
    case HostDomain::package:
      return {{core.package, 0, 0, 0}, package};
    case HostDomain::numa:
      if (core.numa_node != -1) {
        return {
            {0, core.numa_node, 0, 0},
            "numa" + std::to_string(
                         machine.numa_nodes()[static_cast<std::size_t>(core.numa_node)]
                             .os_index)};
      }
      return {{core.package, -1, 0, 0}, package};
    case HostDomain::l3:
      return {{0, 0, core.l3_group, 0}, "l3-" + std::to_string(core.l3_group)};
    case HostDomain::core:
      break;
  }
  return {{0, 0, 0, index}, "core" + std::to_string(index)};
}

/// What cores have in common; -1: they differ.
int common(const Topology& machine, const std::vector<int>& cores, int Core::*what) {
  const int first = machine.cores()[static_cast<std::size_t>(cores.front())].*what;
  const bool is_common = std::all_of(cores.begin(), cores.end(), [&](int core) {
    return machine.cores()[static_cast<std::size_t>(core)].*what == first;
  });
  return is_common ? first : -1;
}

/// Complete a host device whose cores are all there.
void complete(const Topology& machine, Device& device) {
  device.package = common(machine, device.cores, &Core::package);
  device.numa_node = common(machine, device.cores, &Core::numa_node);
  if (device.package != -1) {
    device.name = machine.packages()[static_cast<std::size_t>(device.package)].model;
    device.place = find_place(machine.places(), PlaceKind::package, device.package);
  }
  if (device.numa_node != -1) {
    device.place = find_place(machine.places(), PlaceKind::numa_node, device.numa_node);
  }
  std::set<int> nodes;
  for (const int core : device.cores) {
    nodes.insert(machine.cores()[static_cast<std::size_t>(core)].numa_node);
  }
  nodes.erase(-1);
  for (const int node : nodes) {
    device.memory += machine.numa_nodes()[static_cast<std::size_t>(node)].memory;
  }
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

bool is_named(const Device& device, const std::string& name) {
  const std::string wanted = lower(name);
  if (wanted.empty()) {
    return false;
  }
  return wanted == lower(device.id) || plain_pci_address(wanted) == device.pci ||
         (!device.pci.empty() && "0000:" + wanted == device.pci) ||
         (!device.uuid.empty() && wanted == lower(device.uuid));
}

std::string list_of(const Topology& machine) {
  std::string text;
  for (const Device& device : machine.devices()) {
    text += (text.empty() ? "" : ", ") + device.id;
    text += device.name.empty() ? "" : " (" + device.name + ")";
  }
  return text.empty() ? "none" : text;
}

/// Keep the devices for which keep[i] holds.
Topology keep_devices(const Topology& machine, const std::vector<bool>& keep) {
  TopologyParts parts = machine.parts();
  std::vector<int> new_index(keep.size(), -1);
  std::vector<Device> devices;
  for (std::size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) {
      new_index[i] = static_cast<int>(devices.size());
      devices.push_back(parts.devices[i]);
    }
  }
  std::vector<NvLink> links;
  for (const NvLink& link : parts.nvlinks) {
    const int a = new_index[static_cast<std::size_t>(link.a)];
    const int b = new_index[static_cast<std::size_t>(link.b)];
    if (a != -1 && b != -1) {
      links.push_back({a, b, link.rate});
    }
  }
  parts.devices = std::move(devices);
  parts.nvlinks = std::move(links);
  return Topology(std::move(parts));
}

}  // namespace

Topology with_host_devices(const Topology& machine, HostDomain domain) {
  TopologyParts parts = machine.parts();
  parts.devices.clear();
  parts.nvlinks.clear();
  std::map<std::tuple<int, int, int, int>, std::size_t> known;
  for (std::size_t i = 0; i < machine.cores().size(); ++i) {
    const Group group = group_of(machine, domain, static_cast<int>(i));
    const auto [entry, is_new] = known.emplace(group.key, parts.devices.size());
    if (is_new) {
      Device device;
      device.kind = DeviceKind::host;
      device.id = group.id;
      parts.devices.push_back(std::move(device));
    }
    parts.devices[entry->second].cores.push_back(static_cast<int>(i));
  }
  for (Device& device : parts.devices) {
    complete(machine, device);
  }
  return Topology(std::move(parts));
}

Topology with_cuda_devices(const Topology& machine) {
  std::vector<bool> keep;
  keep.reserve(machine.devices().size());
  for (const Device& device : machine.devices()) {
    keep.push_back(device.runs_cuda);
  }
  return keep_devices(machine, keep);
}

Topology with_devices(const Topology& machine,
                      const std::vector<std::string>& names,
                      const std::string& where) {
  std::vector<bool> keep(machine.devices().size(), false);
  for (const std::string& name : names) {
    const auto found =
        std::find_if(machine.devices().begin(),
                     machine.devices().end(),
                     [&name](const Device& device) { return is_named(device, name); });
    CROSSBOW_VALIDATE(found != machine.devices().end(),
                      ExitCode::usage,
                      {"there is no device \"" + name + "\"",
                       "there are: " + list_of(machine),
                       where,
                       "Name devices as they are listed"});
    const auto index = static_cast<std::size_t>(found - machine.devices().begin());
    CROSSBOW_VALIDATE(!keep[index],
                      ExitCode::usage,
                      {"device \"" + found->id + "\" is named twice",
                       "",
                       where,
                       "Name each device once"});
    keep[index] = true;
  }
  return keep_devices(machine, keep);
}

}  // namespace crossbow
