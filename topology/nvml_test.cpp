#include "topology/nvml.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/cuda_driver.hpp"

namespace crossbow {
namespace {

// Built from fakes/nvidia_ml.cpp: its comments say what the machine is.
const std::string fake = CROSSBOW_FAKE_NVIDIA_LIBRARY;

/// What hwloc alone may have found: two of the four, in the order of their addresses.
TopologyParts two_gpus() {
  TopologyParts parts;
  parts.places.push_back({PlaceKind::machine, "machine", -1, 0});
  for (const char* pci : {"0000:07:00.0", "0000:86:00.0"}) {
    Device device;
    device.id = pci;
    device.pci = pci;
    device.runs_cuda = true;
    device.link_rate = 4;  // at rest
    parts.devices.push_back(device);
  }
  return parts;
}

TEST(Nvml, tells_of_gpus_by_their_pci_addresses) {
  const std::vector<NvmlGpu> gpus = read_nvml(fake);
  ASSERT_EQ(gpus.size(), 4U);
  EXPECT_EQ(gpus[0].pci, "0000:86:00.0");
  EXPECT_EQ(gpus[1].pci, "0000:06:00.0");
  EXPECT_EQ(gpus[1].name, "Fake GPU 1");
  EXPECT_EQ(gpus[1].uuid, "GPU-1");
  EXPECT_EQ(gpus[1].memory, 2000U);
  EXPECT_NEAR(gpus[1].pcie_rate, 15.75, 0.02);
  EXPECT_EQ(gpus[0].nvswitch_rate, 25);
  ASSERT_EQ(gpus[1].peers.size(), 2U);
  EXPECT_EQ(gpus[1].peers[0].pci, "0000:07:00.0");
}

TEST(Nvml, properties_go_to_the_device_with_the_address_whatever_the_index) {
  TopologyParts parts = two_gpus();
  add_nvml(read_nvml(fake), parts);
  ASSERT_EQ(parts.devices.size(), 4U);
  const std::vector<std::string> addresses = {
      "0000:06:00.0", "0000:07:00.0", "0000:85:00.0", "0000:86:00.0"};
  const std::vector<std::string> names = {
      "Fake GPU 1", "Fake GPU 2", "Fake GPU 3", "Fake GPU 0"};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(parts.devices[i].pci, addresses[i]);
    EXPECT_EQ(parts.devices[i].name, names[i]);
    EXPECT_NEAR(parts.devices[i].link_rate, 15.75, 0.02);
  }
  ASSERT_EQ(parts.nvlinks.size(), 1U);
  EXPECT_EQ(parts.nvlinks[0].a, 0);
  EXPECT_EQ(parts.nvlinks[0].b, 1);
  EXPECT_EQ(parts.nvlinks[0].rate, 50);  // two links of 25 GB/s
  EXPECT_EQ(parts.devices[2].nvswitch_rate, 25);
  EXPECT_EQ(parts.devices[3].nvswitch_rate, 25);
}

TEST(Nvml, links_that_hwloc_has_told_stay_and_follow_their_devices) {
  TopologyParts parts = two_gpus();
  parts.nvlinks.push_back({0, 1, 75});
  add_nvml(read_nvml(fake), parts);
  ASSERT_EQ(parts.nvlinks.size(), 1U);
  EXPECT_EQ(parts.nvlinks[0].a, 1);
  EXPECT_EQ(parts.nvlinks[0].b, 3);
  EXPECT_EQ(parts.nvlinks[0].rate, 75);
  EXPECT_EQ(parts.devices[2].nvswitch_rate, 0);
}

TEST(Nvml, without_the_library_nothing_changes) {
  EXPECT_TRUE(read_nvml("libnot-there.so.1").empty());
  TopologyParts parts = two_gpus();
  add_nvml({}, parts);
  EXPECT_EQ(parts.devices.size(), 2U);
  EXPECT_EQ(parts.devices[0].link_rate, 4);
}

TEST(CudaDriver, names_the_devices_it_shows) {
  const CudaDevices devices = find_cuda_devices(fake);
  EXPECT_EQ(devices.count, 2);
  EXPECT_EQ(devices.reason, "");
  EXPECT_TRUE(devices.has_driver);
  EXPECT_FALSE(find_cuda_devices("libnot-there.so.1").has_driver);
  EXPECT_EQ(devices.pci, (std::vector<std::string>{"0000:86:00.0", "0000:07:00.0"}));
  EXPECT_EQ(find_cuda_devices("libnot-there.so.1").count, 0);
  EXPECT_NE(find_cuda_devices("libnot-there.so.1").reason, "");
}

TEST(CudaDriver, devices_it_does_not_show_run_no_cuda) {
  TopologyParts parts = two_gpus();
  keep_visible({"0000:86:00.0"}, parts);
  EXPECT_FALSE(parts.devices[0].runs_cuda);
  EXPECT_TRUE(parts.devices[1].runs_cuda);
  keep_visible({}, parts);  // CUDA_VISIBLE_DEVICES=""
  EXPECT_FALSE(parts.devices[1].runs_cuda);
}

}  // namespace
}  // namespace crossbow
