#pragma once
// The part of a probe that finds GPUs, what they hang on and what links them. For
// probe.cpp alone: callers elsewhere see no hwloc.

#include <string>

#include "topology/hwloc_handle.hpp"
#include "topology/topology.hpp"

namespace crossbow {

/// Give an info of an object by its key, empty where it has none.
std::string info_of(hwloc_obj_t object, const char* key);

/// Make the machine, packages and NUMA nodes of `parts` places, from its cores.
void read_places(TopologyParts& parts);

/// Read the GPUs, by PCI address, with PCIe switches, host bridges and NVLinks.
///
/// A GPU is a PCI device that a compute library has named (CUDA, NVML, RSMI, OpenCL,
/// Level Zero), however often, or else one of display class: 3D controllers, and VGA
/// controllers that are NVIDIA's or whose maker cannot be read; the others of that class
/// drive consoles.
void read_devices(hwloc_topology_t source, TopologyParts& parts);

}  // namespace crossbow
