#include "topology/probe_devices.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "topology/pci_address.hpp"

namespace crossbow {
namespace {

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

constexpr int vendor_nvidia = 0x10de;
constexpr int class_display = 0x03, class_vga = 0x0300;

/// What GPUs get between sockets and between the NUMA nodes of one, in GB/s: what NCCL
/// reckons with (topology/README.md).
double socket_rate(const std::string& processor) {
  if (processor.find("POWER") != std::string::npos) {
    return 32;
  }
  return processor.find("AMD") != std::string::npos ? 16 : 10;
}

constexpr double node_rate = 32;

std::string address_of(const PciAttributes& pci) {
  return pci_address(pci.domain, pci.bus, pci.dev, pci.func);
}

bool is_compute_device(hwloc_obj_t os_device) {
  const hwloc_obj_osdev_type_t type = os_device->attr->osdev.type;
  return type == HWLOC_OBJ_OSDEV_COPROC ||
         (type == HWLOC_OBJ_OSDEV_GPU && !info_of(os_device, "Backend").empty());
}

bool is_gpu(hwloc_obj_t pci_device) {
  for (hwloc_obj_t child = pci_device->io_first_child; child != nullptr;
       child = child->next_sibling) {
    if (child->type == HWLOC_OBJ_OS_DEVICE && is_compute_device(child)) {
      return true;
    }
  }
  const PciAttributes& pci = pci_device->attr->pcidev;
  if (pci.class_id >> 8 != class_display) {
    return false;
  }
  return pci.class_id != class_vga || pci.vendor_id == vendor_nvidia ||
         pci.vendor_id == 0;
}

bool is_bridge(hwloc_obj_t object) {
  return object != nullptr && object->type == HWLOC_OBJ_BRIDGE;
}

bool is_host_bridge(hwloc_obj_t bridge) {
  return bridge->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

/// The narrower of two rates, where 0 is none that is known.
double narrower(double a, double b) {
  if (a == 0 || b == 0) {
    return std::max(a, b);
  }
  return std::min(a, b);
}

double known_or_usual(double rate) {
  return rate == 0 ? usual_pcie_rate : rate;
}

/// A GPU at rest lowers its link to 2.5 GT/s, 0.25 GB/s a lane. Those that today's
/// libraries know can do more, so 8 or 16 lanes at that rate are taken for PCIe 3.0.
double awake(double rate, hwloc_obj_t gpu) {
  const double lanes = rate / 0.25;
  const bool is_at_rest = gpu->io_first_child != nullptr && (lanes == 8 || lanes == 16);
  return is_at_rest ? lanes / 16 * usual_pcie_rate : rate;
}

double kilobytes_of(const std::string& text) {
  return text.empty() ? 0 : std::strtod(text.c_str(), nullptr);
}

/// Finds a machine's GPUs; one object for one machine.
class DeviceReader {
 public:
  DeviceReader(hwloc_topology_t source, TopologyParts& parts)
      : source_(source), parts_(parts) {}

  void read() {
    for (hwloc_obj_t object = nullptr;
         (object = hwloc_get_next_pcidev(source_, object)) != nullptr;) {
      if (is_gpu(object)) {
        gpus_.push_back(object);
      }
    }
    std::sort(gpus_.begin(), gpus_.end(), [](hwloc_obj_t a, hwloc_obj_t b) {
      return address_of(a->attr->pcidev) < address_of(b->attr->pcidev);
    });
    count_branches();
    for (hwloc_obj_t gpu : gpus_) {
      parts_.devices.push_back(read_gpu(gpu));
    }
    read_nvlinks();
  }

 private:
  /// A bridge below which the ways to several GPUs part is a switch: its upstream port.
  void count_branches() {
    std::map<hwloc_obj_t, std::vector<hwloc_obj_t>> branches;
    for (hwloc_obj_t gpu : gpus_) {
      for (hwloc_obj_t below = gpu; is_bridge(below->parent); below = below->parent) {
        std::vector<hwloc_obj_t>& known = branches[below->parent];
        if (std::find(known.begin(), known.end(), below) == known.end()) {
          known.push_back(below);
        }
      }
    }
    for (const auto& [bridge, below] : branches) {
      is_junction_[bridge] = is_host_bridge(bridge) || below.size() > 1;
    }
  }

  Device read_gpu(hwloc_obj_t gpu) {
    Device device;
    const PciAttributes& pci = gpu->attr->pcidev;
    device.pci = address_of(pci);
    device.id = device.pci;
    device.name = info_of(gpu, "PCIDevice");
    device.runs_cuda = pci.vendor_id == vendor_nvidia || pci.vendor_id == 0;
    for (hwloc_obj_t child = gpu->io_first_child; child != nullptr;
         child = child->next_sibling) {
      read_os_device(child, device);
    }
    const Locality locality = locality_of(gpu);
    device.package = locality.package;
    device.numa_node = locality.numa_node;
    double rate = awake(pci.linkspeed, gpu);
    gpu_ = gpu;
    device.place = place_above(gpu, rate);
    device.link_rate = known_or_usual(rate);
    return device;
  }

  static void read_os_device(hwloc_obj_t os_device, Device& device) {
    if (const std::string model = info_of(os_device, "GPUModel"); !model.empty()) {
      device.name = model;
    }
    for (const char* key : {"NVIDIAUUID", "AMDUUID"}) {
      if (const std::string uuid = info_of(os_device, key); !uuid.empty()) {
        device.uuid = uuid;
      }
    }
    for (const char* key :
         {"CUDAGlobalMemorySize", "OpenCLGlobalMemorySize", "RSMIVRAMSize"}) {
      if (const double size = kilobytes_of(info_of(os_device, key)); size > 0) {
        device.memory = static_cast<std::uint64_t>(size * 1024);
        return;
      }
    }
  }

  struct Locality {
    int package = -1;
    int numa_node = -1;
  };

  /// The only package and the only host NUMA node of what the device hangs on; of several
  /// nodes with the same cores (tiers of memory) the first.
  Locality locality_of(hwloc_obj_t gpu) {
    hwloc_obj_t near = hwloc_get_non_io_ancestor_obj(source_, gpu);
    Locality result;
    std::optional<int> package, node;
    bool one_package = true, one_node = true;
    for (const Core& core : parts_.cores) {
      if (near->cpuset == nullptr ||
          hwloc_bitmap_isset(near->cpuset, static_cast<unsigned>(core.pus[0])) == 0) {
        continue;
      }
      one_package = one_package && package.value_or(core.package) == core.package;
      one_node = one_node && node.value_or(core.numa_node) == core.numa_node;
      package = core.package;
      node = core.numa_node;
    }
    result.package = one_package ? package.value_or(-1) : -1;
    result.numa_node = one_node ? node.value_or(-1) : -1;
    if (!node.has_value()) {
      result.numa_node = node_without_cores(near);
    }
    return result;
  }

  /// The node of a place whose cores the process may not use, or that has none.
  int node_without_cores(hwloc_obj_t near) const {
    int found = -1;
    for (std::size_t i = 0; i < parts_.numa_nodes.size(); ++i) {
      const auto os_index = static_cast<unsigned>(parts_.numa_nodes[i].os_index);
      if (near->nodeset != nullptr && hwloc_bitmap_isset(near->nodeset, os_index) != 0) {
        if (found != -1) {
          return -1;
        }
        found = static_cast<int>(i);
      }
    }
    return found;
  }

  int place_of(const Locality& locality) const {
    if (locality.numa_node != -1) {
      return find_place(parts_.places, PlaceKind::numa_node, locality.numa_node);
    }
    return locality.package == -1
               ? 0
               : find_place(parts_.places, PlaceKind::package, locality.package);
  }

  /// The nearest junction above an object, made with all above it where it is new; `rate`
  /// becomes that of the narrowest link on the way.
  int place_above(hwloc_obj_t object, double& rate) {
    hwloc_obj_t above = object->parent;
    for (; is_bridge(above) && !is_junction_[above]; above = above->parent) {
      rate = narrower(rate, awake(above->attr->bridge.upstream.pci.linkspeed, gpu_));
    }
    if (!is_bridge(above)) {
      return place_of(locality_of(object));
    }
    if (const auto known = places_.find(above); known != places_.end()) {
      return known->second;
    }
    Place place;
    if (is_host_bridge(above)) {
      place = {PlaceKind::host_bridge,
               "host bridge " + std::to_string(above->logical_index),
               place_of(locality_of(above)),
               0};
    } else {
      double up = awake(above->attr->bridge.upstream.pci.linkspeed, gpu_);
      const int parent = place_above(above, up);
      place = {PlaceKind::pcie_switch,
               "PCIe switch " + address_of(above->attr->bridge.upstream.pci),
               parent,
               known_or_usual(up)};
    }
    parts_.places.push_back(place);
    const int index = static_cast<int>(parts_.places.size()) - 1;
    places_[above] = index;
    return index;
  }

  int device_of(hwloc_obj_t object) const {
    hwloc_obj_t pci_device = object;
    while (pci_device != nullptr && pci_device->type == HWLOC_OBJ_OS_DEVICE) {
      pci_device = pci_device->parent;
    }
    const auto found = std::find(gpus_.begin(), gpus_.end(), pci_device);
    return found == gpus_.end() ? -1 : static_cast<int>(found - gpus_.begin());
  }

  /// hwloc's matrix is in MB/s, one direction, all links of a pair added. NVSwitches are
  /// taken for one: their driver does not tell of links among them.
  void read_nvlinks() {
    unsigned count = 1;
    hwloc_distances_s* matrix = nullptr;
    if (hwloc_distances_get_by_name(source_, "NVLinkBandwidth", &count, &matrix, 0) !=
            0 ||
        count == 0) {
      return;
    }
    for (unsigned i = 0; i < matrix->nbobjs; ++i) {
      const int device = matrix->objs[i] == nullptr ? -1 : device_of(matrix->objs[i]);
      for (unsigned j = 0; device != -1 && j < matrix->nbobjs; ++j) {
        const double rate = static_cast<double>(matrix->values[i * matrix->nbobjs + j]);
        if (i != j && matrix->objs[j] != nullptr && rate > 0) {
          add_nvlink(device, matrix->objs[j], rate / 1000);
        }
      }
    }
    hwloc_distances_release(source_, matrix);
  }

  void add_nvlink(int device, hwloc_obj_t peer, double rate) {
    Device& own = parts_.devices[static_cast<std::size_t>(device)];
    if (const int other = device_of(peer); other != -1) {
      if (device < other) {
        parts_.nvlinks.push_back({device, other, rate});
      }
    } else if (peer->type == HWLOC_OBJ_PACKAGE) {
      own.nvlink_to_host = true;
      own.link_rate = rate;
      own.place = place_of({own.package, own.numa_node});
    } else if (peer->subtype != nullptr && std::strcmp(peer->subtype, "NVSwitch") == 0) {
      own.nvswitch_rate += rate;
    }
  }

  hwloc_topology_t source_;
  TopologyParts& parts_;
  std::vector<hwloc_obj_t> gpus_;  // in the order of devices
  hwloc_obj_t gpu_ = nullptr;      // that is being read
  std::map<hwloc_obj_t, bool> is_junction_;
  std::map<hwloc_obj_t, int> places_;
};

}  // namespace

std::string info_of(hwloc_obj_t object, const char* key) {
  const char* text = hwloc_obj_get_info_by_name(object, key);
  return text == nullptr ? std::string() : std::string(text);
}

void read_places(TopologyParts& parts) {
  parts.places.push_back({PlaceKind::machine, "machine", -1, 0});
  for (const Package& package : parts.packages) {
    parts.places.push_back({PlaceKind::package,
                            "package " + std::to_string(package.os_index),
                            0,
                            socket_rate(package.model)});
  }
  for (std::size_t i = 0; i < parts.numa_nodes.size(); ++i) {
    int package = -1;
    bool in_one_package = true;
    for (const Core& core : parts.cores) {
      if (core.numa_node == static_cast<int>(i)) {
        in_one_package = in_one_package && (package == -1 || package == core.package);
        package = core.package;
      }
    }
    const bool has_parent = in_one_package && package != -1;
    const auto siblings =
        std::count_if(parts.cores.begin(), parts.cores.end(), [&](const Core& core) {
          return core.package == package && core.numa_node != static_cast<int>(i);
        });
    parts.places.push_back(
        {PlaceKind::numa_node,
         "NUMA node " + std::to_string(parts.numa_nodes[i].os_index),
         has_parent ? find_place(parts.places, PlaceKind::package, package) : 0,
         siblings > 0 ? node_rate : 0});
  }
}

void read_devices(hwloc_topology_t source, TopologyParts& parts) {
  DeviceReader(source, parts).read();
}

}  // namespace crossbow
