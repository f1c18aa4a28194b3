#pragma once
// Asks NVIDIA's driver which devices there are, without being linked to it: a program
// that is would not start where no driver is installed.

#include <string>
#include <vector>

namespace crossbow {

struct CudaDevices {
  bool has_driver = false;
  int count = 0;
  std::string reason;            // why there are none; empty otherwise
  std::vector<std::string> pci;  // their addresses, in the driver's order
};

/// Ask for the devices that the driver lets this process use (CUDA_VISIBLE_DEVICES and
/// cgroup count).
CudaDevices find_cuda_devices(const std::string& library = "libcuda.so.1");

}  // namespace crossbow
