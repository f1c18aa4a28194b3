#pragma once
// Asks NVIDIA's driver how many devices there are, without being linked to it: a program
// that is would not start where no driver is installed.

#include <string>

namespace crossbow {

struct CudaDevices {
  int count = 0;
  std::string reason;  // why there are none; empty otherwise
};

/// Count the devices that the driver lets this process use (CUDA_VISIBLE_DEVICES and
/// cgroup count).
CudaDevices count_cuda_devices();

}  // namespace crossbow
