#pragma once
// Which devices of a machine a run uses: its GPUs, or on a host groups of cores.

#include <string>
#include <vector>

#include "topology/device_options.hpp"
#include "topology/topology.hpp"

namespace crossbow {

/// Give the machine with its cores as devices, one for each `domain`, in place of its
/// GPUs. Cores without memory of their own make a device of their package.
Topology with_host_devices(const Topology& machine, HostDomain domain);

/// Give the machine with the devices that run CUDA only.
Topology with_cuda_devices(const Topology& machine);

/// Give the machine with the devices named by id, PCI address or UUID (any case; the PCI
/// domain 0000 may be left out), in the machine's own order. Throws Error(usage) that
/// lists the devices there are for a name that is none of them, or that comes twice;
/// `where` says who named them.
Topology with_devices(const Topology& machine,
                      const std::vector<std::string>& names,
                      const std::string& where = "devices.use");

}  // namespace crossbow
