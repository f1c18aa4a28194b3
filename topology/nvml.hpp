#pragma once
// What NVIDIA's management library knows of GPUs and hwloc may not: names, memory, the
// best PCIe link, and NVLinks. Matched by PCI address, never by index: the two number
// devices differently.

#include <cstdint>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace crossbow {

struct NvmlGpu {
  std::string pci;  // "0000:06:00.0"
  std::string name, uuid;
  std::uint64_t memory = 0;  // [bytes]
  double pcie_rate = 0;      // of the best link that device and machine allow [GB/s]
  double nvswitch_rate = 0;  // of all links into NVSwitches [GB/s], each direction
  double host_rate = 0;      // of all NVLinks to the host
  struct Peer {
    std::string pci;
    double rate = 0;  // of one link [GB/s], each direction
  };
  std::vector<Peer> peers;  // GPUs at the other ends, once for each link
};

/// Ask NVML for all GPUs; none where it is not installed or does not answer.
std::vector<NvmlGpu> read_nvml(const std::string& library = "libnvidia-ml.so.1");

/// Complete the devices of `parts`, and add those that hwloc has not seen, at the machine
/// itself. NVLinks are taken from here where hwloc has told none.
void add_nvml(const std::vector<NvmlGpu>& gpus, TopologyParts& parts);

/// Devices that the driver does not let this process use run no CUDA (by PCI address).
void keep_visible(const std::vector<std::string>& visible, TopologyParts& parts);

}  // namespace crossbow
