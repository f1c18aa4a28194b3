#include "topology/probe.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/error.hpp"

#include "topology/cuda_driver.hpp"
#include "topology/hwloc_handle.hpp"
#include "topology/nvml.hpp"
#include "topology/probe_devices.hpp"
#include "topology/xml_trial.hpp"

namespace crossbow {
namespace {

/// Turns a loaded hwloc topology into parts, PU by PU: machines without core, package or
/// cache objects exist, but every machine has PUs.
class Reader {
 public:
  explicit Reader(hwloc_topology_t source) : source_(source) {
    parts_.machine_name = info_of(hwloc_get_root_obj(source), "HostName");
    read_numa_nodes();
    hwloc_obj_t pu = nullptr;
    while ((pu = hwloc_get_next_obj_by_type(source_, HWLOC_OBJ_PU, pu)) != nullptr) {
      read_pu(pu);
    }
    read_places(parts_);
    read_devices(source_, parts_);
  }

  TopologyParts take() { return std::move(parts_); }

 private:
  void read_numa_nodes() {
    hwloc_obj_t node = nullptr;
    while ((node = hwloc_get_next_obj_by_type(source_, HWLOC_OBJ_NUMANODE, node)) !=
           nullptr) {
      const bool of_accelerator =
          node->subtype != nullptr && std::strcmp(node->subtype, "GPUMemory") == 0;
      if (!of_accelerator) {
        parts_.numa_nodes.push_back(
            {static_cast<int>(node->os_index), node->attr->numanode.local_memory});
        numa_objects_.push_back(node);
        numa_weights_.push_back(hwloc_bitmap_weight(node->cpuset));
      }
    }
  }

  void read_pu(hwloc_obj_t pu) {
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(source_, HWLOC_OBJ_CORE, pu);
    if (core == nullptr) {
      core = pu;
    }
    if (core != last_core_) {
      last_core_ = core;
      read_core(core, pu);
    }
    parts_.cores.back().pus.push_back(static_cast<int>(pu->os_index));
  }

  void read_core(hwloc_obj_t object, hwloc_obj_t pu) {
    Core core;
    core.os_index = static_cast<int>(object->os_index);
    core.package = package_of(pu);
    core.numa_node = numa_node_of(pu);
    core.l3_group = l3_group_of(core, pu);
    parts_.l3_groups[core.l3_group].cores.push_back(
        static_cast<int>(parts_.cores.size()));
    parts_.cores.push_back(std::move(core));
  }

  int package_of(hwloc_obj_t pu) {
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(source_, HWLOC_OBJ_PACKAGE, pu);
    if (package == nullptr) {
      package = hwloc_get_root_obj(source_);
    }
    const auto known =
        std::find(package_objects_.begin(), package_objects_.end(), package);
    const auto index = static_cast<int>(known - package_objects_.begin());
    if (known == package_objects_.end()) {
      package_objects_.push_back(package);
      parts_.packages.push_back(
          {static_cast<int>(package->os_index), info_of(package, "CPUModel")});
    }
    return index;
  }

  /// Of the nodes around a PU the one with the fewest PUs is the nearest; the first of
  /// several tiers is taken.
  int numa_node_of(hwloc_obj_t pu) const {
    int nearest = -1;
    int fewest_pus = 0;
    for (std::size_t i = 0; i < numa_objects_.size(); ++i) {
      const int n_pus = numa_weights_[i];
      if (hwloc_bitmap_isset(numa_objects_[i]->cpuset, pu->os_index) != 0 &&
          (nearest == -1 || n_pus < fewest_pus)) {
        nearest = static_cast<int>(i);
        fewest_pus = n_pus;
      }
    }
    return nearest;
  }

  /// Cores come in order, so a group is the last one or new.
  int l3_group_of(const Core& core, hwloc_obj_t pu) {
    hwloc_obj_t cache = hwloc_get_ancestor_obj_by_type(source_, HWLOC_OBJ_L3CACHE, pu);
    const bool is_last = !parts_.l3_groups.empty() && cache == last_cache_ &&
                         parts_.l3_groups.back().package == core.package &&
                         parts_.l3_groups.back().numa_node == core.numa_node;
    if (!is_last) {
      last_cache_ = cache;
      parts_.l3_groups.push_back({core.package, core.numa_node, {}});
    }
    return static_cast<int>(parts_.l3_groups.size()) - 1;
  }

  hwloc_topology_t source_;
  TopologyParts parts_;
  std::vector<hwloc_obj_t> numa_objects_;
  std::vector<int> numa_weights_;  // PUs of each
  std::vector<hwloc_obj_t> package_objects_;
  hwloc_obj_t last_core_ = nullptr;
  hwloc_obj_t last_cache_ = nullptr;
};

HwlocHandle make_source() {
  HwlocHandle source = make_hwloc();
  CROSSBOW_VALIDATE(
      source, ExitCode::device, {"hwloc cannot start", std::strerror(errno), "", ""});
  return source;
}

/// The flag of probe_live leaves the mask out when threads of the process differ in
/// theirs, so the calling thread's is applied here once more.
void restrict_to_this_thread(hwloc_topology_t source) {
  const BitmapHandle mask(hwloc_bitmap_alloc());
  const bool known =
      mask && hwloc_get_cpubind(source, mask.get(), HWLOC_CPUBIND_THREAD) == 0;
  if (known) {
    hwloc_topology_restrict(source, mask.get(), HWLOC_RESTRICT_FLAG_ADAPT_IO);
  }
}

constexpr double most_synthetic_objects = 1e6;

/// The product of the numbers after colons: at least as many objects as there will be.
double size_of_synthetic(const std::string& description) {
  double size = 1;
  for (std::size_t colon = description.find(':'); colon != std::string::npos;
       colon = description.find(':', colon + 1)) {
    size *= std::max(1.0, std::strtod(description.c_str() + colon + 1, nullptr));
  }
  return size;
}

}  // namespace

Topology probe_live() {
  const HwlocHandle source = make_source();
  hwloc_topology_set_flags(
      source.get(),
      HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM | HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING);
  CROSSBOW_VALIDATE(
      hwloc_topology_load(source.get()) == 0,
      ExitCode::device,
      {"this machine's topology cannot be read", std::strerror(errno), "", ""});
  restrict_to_this_thread(source.get());
  TopologyParts parts = Reader(source.get()).take();
  parts.is_this_machine = true;
  return Topology(std::move(parts));
}

Topology ask_drivers(const Topology& machine) {
  TopologyParts parts = machine.parts();
  add_nvml(read_nvml(), parts);
  if (const CudaDevices devices = find_cuda_devices(); devices.has_driver) {
    keep_visible(devices.pci, parts);
  }
  return Topology(std::move(parts));
}

Topology probe_synthetic(const std::string& description) {
  CROSSBOW_VALIDATE(size_of_synthetic(description) <= most_synthetic_objects,
                    ExitCode::usage,
                    {"the machine \"" + description.substr(0, 200) + "\" is too large",
                     "at most a million hardware threads",
                     "",
                     "Describe a smaller one"});
  const HwlocHandle source = make_source();
  CROSSBOW_VALIDATE(
      hwloc_topology_set_synthetic(source.get(), description.c_str()) == 0 &&
          hwloc_topology_load(source.get()) == 0,
      ExitCode::usage,
      {"\"" + description + "\" does not describe a machine",
       "hwloc's synthetic notation is expected",
       "",
       "Write for example \"pack:2 numa:1 l3:1 core:4 pu:2\""});
  TopologyParts parts = Reader(source.get()).take();
  parts.machine_name = description;
  return Topology(std::move(parts));
}

Topology probe_xml(const std::string& path) {
  const std::string fault = xml_fault(path);
  const HwlocHandle source = fault.empty() ? load_xml(path) : HwlocHandle();
  CROSSBOW_VALIDATE(source,
                    ExitCode::data,
                    {"the machine file cannot be read",
                     fault,
                     path,
                     "Write one with lstopo of hwloc 2"});
  TopologyParts parts = Reader(source.get()).take();
  CROSSBOW_VALIDATE(!parts.cores.empty(),
                    ExitCode::data,
                    {"the machine has no core that may be used",
                     "",
                     path,
                     "Write one with lstopo of hwloc 2"});
  return Topology(std::move(parts));
}

}  // namespace crossbow
