#pragma once
// Where a Topology comes from: this machine, or a description of another one (for tests,
// and for playing a machine that is not at hand). The only place, with thread_binding,
// that calls hwloc.

#include <string>

#include "topology/topology.hpp"

namespace crossbow {

/// Probe this machine, restricted to what the calling thread may run on (taskset, Slurm,
/// cgroup). Call it before threads are bound: a bound one sees its own cores only. Throws
/// Error(device) if the machine cannot be read.
Topology probe_live();

/// Complete what probe_live found of GPUs by asking NVIDIA's libraries, if they are
/// there, by PCI address: names, memory, links, and which of them the driver lets this
/// process use.
Topology ask_drivers(const Topology& machine);

/// Build the machine of hwloc's synthetic notation, e.g. "pack:2 numa:1 l3:1 core:4 pu:2"
/// (each level's count is per object of the level before). Throws Error(usage) if it is
/// malformed.
Topology probe_synthetic(const std::string& description);

/// Read a machine from an XML file of lstopo (format 2). Throws Error(data) if that
/// fails.
Topology probe_xml(const std::string& path);

}  // namespace crossbow
