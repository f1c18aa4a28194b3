#include "topology/cuda_driver.hpp"

#include <array>

#include "topology/dynamic_library.hpp"
#include "topology/pci_address.hpp"

namespace crossbow {

// From cuda.h, which need not be installed: CUresult and CUdevice are ints, 0 is success.
CudaDevices find_cuda_devices(const std::string& library) {
  const DynamicLibrary driver(library);
  if (!driver.is_open()) {
    return {false, 0, "no NVIDIA driver is installed (libcuda.so.1)", {}};
  }
  CudaDevices devices;
  devices.has_driver = true;
  if (!driver.call("cuInit", signature<unsigned>, 0U) ||
      !driver.call("cuDeviceGetCount", signature<int*>, &devices.count)) {
    return {true, 0, "the NVIDIA driver does not answer or shows no device", {}};
  }
  for (int i = 0; i < devices.count; ++i) {
    int device = 0;
    std::array<char, 64> address{};
    if (driver.call("cuDeviceGet", signature<int*, int>, &device, i) &&
        driver.call("cuDeviceGetPCIBusId",
                    signature<char*, int, int>,
                    address.data(),
                    static_cast<int>(address.size()),
                    device)) {
      devices.pci.push_back(plain_pci_address(address.data()));
    }
  }
  devices.reason = devices.count > 0 ? "" : "the NVIDIA driver shows no device";
  return devices;
}

}  // namespace crossbow
