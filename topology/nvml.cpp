#include "topology/nvml.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "topology/dynamic_library.hpp"
#include "topology/pci_address.hpp"

namespace crossbow {
namespace {

// From nvml.h, which need not be installed.
using DeviceHandle = void*;
struct PciInfo {
  std::array<char, 16> legacy_bus_id;
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  std::array<char, 32> bus_id;
};
struct MemoryInfo {
  unsigned long long total, free, used;
};
enum class RemoteType : unsigned { gpu = 0, ibm_npu = 1, nvswitch = 2, unknown = 255 };
constexpr unsigned most_links = 36;

/// One direction of a link, by NVML's number of NVLink's version (1.0, 2.0, 2.2, 3.0,
/// 3.1, 4.0, 5.0) [GB/s]. Drivers of Hopper have been seen to give the last one for 4.0.
double link_rate(unsigned version, const std::string& gpu) {
  constexpr std::array<double, 8> rates = {0, 20, 25, 25, 25, 25, 25, 50};
  const bool is_hopper = gpu.find("H100") != std::string::npos ||
                         gpu.find("H200") != std::string::npos ||
                         gpu.find("GH200") != std::string::npos;
  return is_hopper ? 25 : rates[std::min<std::size_t>(version, rates.size() - 1)];
}

/// One lane and direction, by PCIe's generation [GB/s].
double lane_rate(unsigned generation) {
  constexpr std::array<double, 7> rates = {0, 0.25, 0.5, 0.985, 1.969, 3.938, 7.563};
  return generation < rates.size() ? rates[generation] : rates.back();
}

class Reader {
 public:
  explicit Reader(const std::string& library) : nvml_(library) {
    is_ready_ = nvml_.call("nvmlInit_v2", signature<>);
  }
  ~Reader() {
    if (is_ready_) {
      nvml_.call("nvmlShutdown", signature<>);
    }
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::vector<NvmlGpu> read() const {
    std::vector<NvmlGpu> gpus;
    unsigned count = 0;
    if (!is_ready_ ||
        !nvml_.call("nvmlDeviceGetCount_v2", signature<unsigned*>, &count)) {
      return gpus;
    }
    for (unsigned i = 0; i < count; ++i) {
      DeviceHandle handle = nullptr;
      if (nvml_.call("nvmlDeviceGetHandleByIndex_v2",
                     signature<unsigned, DeviceHandle*>,
                     i,
                     &handle)) {
        if (std::optional<NvmlGpu> gpu = read_gpu(handle); gpu.has_value()) {
          gpus.push_back(std::move(*gpu));
        }
      }
    }
    return gpus;
  }

 private:
  std::optional<NvmlGpu> read_gpu(DeviceHandle handle) const {
    PciInfo pci{};
    if (!nvml_.call(
            "nvmlDeviceGetPciInfo_v3", signature<DeviceHandle, PciInfo*>, handle, &pci)) {
      return std::nullopt;
    }
    NvmlGpu gpu;
    gpu.pci = plain_pci_address(pci.bus_id.data());
    gpu.name = text("nvmlDeviceGetName", handle);
    gpu.uuid = text("nvmlDeviceGetUUID", handle);
    MemoryInfo memory{};
    nvml_.call(
        "nvmlDeviceGetMemoryInfo", signature<DeviceHandle, MemoryInfo*>, handle, &memory);
    gpu.memory = memory.total;
    gpu.pcie_rate = lane_rate(number("nvmlDeviceGetMaxPcieLinkGeneration", handle)) *
                    number("nvmlDeviceGetMaxPcieLinkWidth", handle);
    for (unsigned link = 0; link < most_links; ++link) {
      read_link(handle, link, gpu);
    }
    return gpu;
  }

  void read_link(DeviceHandle handle, unsigned link, NvmlGpu& gpu) const {
    if (link_number("nvmlDeviceGetNvLinkState", handle, link) != 1) {
      return;
    }
    const double rate =
        link_rate(link_number("nvmlDeviceGetNvLinkVersion", handle, link), gpu.name);
    PciInfo remote{};
    nvml_.call("nvmlDeviceGetNvLinkRemotePciInfo_v2",
               signature<DeviceHandle, unsigned, PciInfo*>,
               handle,
               link,
               &remote);
    // Drivers before 450 do not tell the type.
    switch (static_cast<RemoteType>(
        link_number("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link))) {
      case RemoteType::nvswitch:
        gpu.nvswitch_rate += rate;
        break;
      case RemoteType::ibm_npu:
        gpu.host_rate += rate;
        break;
      case RemoteType::gpu:
      case RemoteType::unknown:
        gpu.peers.push_back({plain_pci_address(remote.bus_id.data()), rate});
        break;
    }
  }

  std::string text(const char* function, DeviceHandle handle) const {
    std::array<char, 128> buffer{};
    nvml_.call(function,
               signature<DeviceHandle, char*, unsigned>,
               handle,
               buffer.data(),
               static_cast<unsigned>(buffer.size() - 1));
    return buffer.data();
  }

  unsigned number(const char* function, DeviceHandle handle) const {
    unsigned value = 0;
    nvml_.call(function, signature<DeviceHandle, unsigned*>, handle, &value);
    return value;
  }

  unsigned link_number(const char* function, DeviceHandle handle, unsigned link) const {
    unsigned value = 0;
    nvml_.call(
        function, signature<DeviceHandle, unsigned, unsigned*>, handle, link, &value);
    return value;
  }

  DynamicLibrary nvml_;
  bool is_ready_ = false;
};

int device_with(const TopologyParts& parts, const std::string& pci) {
  for (std::size_t i = 0; i < parts.devices.size(); ++i) {
    if (parts.devices[i].pci == pci) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

void add_missing(const std::vector<NvmlGpu>& gpus, TopologyParts& parts) {
  for (const NvmlGpu& gpu : gpus) {
    if (device_with(parts, gpu.pci) == -1) {
      Device device;
      device.pci = gpu.pci;
      device.id = gpu.pci;
      device.runs_cuda = true;
      device.link_rate = usual_pcie_rate;
      parts.devices.push_back(std::move(device));
    }
  }
  // Links name devices by their places in the list, which sorting changes.
  std::vector<std::string> before;
  before.reserve(parts.devices.size());
  for (const Device& device : parts.devices) {
    before.push_back(device.pci);
  }
  std::stable_sort(parts.devices.begin(),
                   parts.devices.end(),
                   [](const Device& a, const Device& b) { return a.pci < b.pci; });
  for (NvLink& link : parts.nvlinks) {
    const int a = device_with(parts, before[static_cast<std::size_t>(link.a)]);
    const int b = device_with(parts, before[static_cast<std::size_t>(link.b)]);
    link.a = std::min(a, b);
    link.b = std::max(a, b);
  }
}

void add_links(const NvmlGpu& gpu, int device, TopologyParts& parts) {
  for (const NvmlGpu::Peer& peer : gpu.peers) {
    const int other = device_with(parts, peer.pci);
    if (other <= device) {  // the other end tells of it, too
      continue;
    }
    const auto known =
        std::find_if(parts.nvlinks.begin(), parts.nvlinks.end(), [&](const NvLink& link) {
          return link.a == device && link.b == other;
        });
    if (known == parts.nvlinks.end()) {
      parts.nvlinks.push_back({device, other, peer.rate});
    } else {
      known->rate += peer.rate;
    }
  }
}

}  // namespace

std::vector<NvmlGpu> read_nvml(const std::string& library) {
  return Reader(library).read();
}

void add_nvml(const std::vector<NvmlGpu>& gpus, TopologyParts& parts) {
  add_missing(gpus, parts);
  const bool has_links =
      !parts.nvlinks.empty() ||
      std::any_of(parts.devices.begin(), parts.devices.end(), [](const Device& device) {
        return device.nvswitch_rate > 0 || device.nvlink_to_host;
      });
  for (const NvmlGpu& gpu : gpus) {
    const int index = device_with(parts, gpu.pci);
    Device& device = parts.devices[static_cast<std::size_t>(index)];
    device.name = gpu.name.empty() ? device.name : gpu.name;
    device.uuid = gpu.uuid.empty() ? device.uuid : gpu.uuid;
    device.memory = gpu.memory == 0 ? device.memory : gpu.memory;
    if (!device.nvlink_to_host && gpu.pcie_rate > 0) {
      device.link_rate = gpu.pcie_rate;
    }
    if (!has_links) {
      device.nvswitch_rate = gpu.nvswitch_rate;
      device.nvlink_to_host = gpu.host_rate > 0;
      device.link_rate = gpu.host_rate > 0 ? gpu.host_rate : device.link_rate;
      add_links(gpu, index, parts);
    }
  }
}

void keep_visible(const std::vector<std::string>& visible, TopologyParts& parts) {
  for (Device& device : parts.devices) {
    device.runs_cuda =
        std::find(visible.begin(), visible.end(), device.pci) != visible.end();
  }
}

}  // namespace crossbow
