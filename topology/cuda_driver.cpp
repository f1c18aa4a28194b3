#include "topology/cuda_driver.hpp"

#include <memory>

#include <dlfcn.h>

namespace crossbow {
namespace {

// From cuda.h, which need not be installed: CUresult is an int and 0 is success.
using Initialise = int (*)(unsigned int);
using CountDevices = int (*)(int*);

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};

}  // namespace

CudaDevices count_cuda_devices() {
  const std::unique_ptr<void, CloseLibrary> driver(
      dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL));
  if (driver == nullptr) {
    return {0, "no NVIDIA driver is installed (libcuda.so.1)"};
  }
  const auto initialise = reinterpret_cast<Initialise>(dlsym(driver.get(), "cuInit"));
  const auto count_devices =
      reinterpret_cast<CountDevices>(dlsym(driver.get(), "cuDeviceGetCount"));
  int count = 0;
  if (initialise == nullptr || count_devices == nullptr || initialise(0) != 0 ||
      count_devices(&count) != 0) {
    return {0, "the NVIDIA driver does not answer"};
  }
  return {count, count > 0 ? "" : "the NVIDIA driver shows no device"};
}

}  // namespace crossbow
