#include "driver/device_setup.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

/// The setup of a deck on the cores of this process, all of them one device.
DeviceSetup set_up(int per_device, int threads) {
  RunConfig config;
  config.devices.domain = HostDomain::machine;
  config.devices.backend = BackendName::host;
  config.learners.per_device = per_device;
  config.learners.threads = threads;
  return set_up_devices(config, per_device, 4000);
}

TEST(DeviceSetup, threads_are_the_cores_divided_among_the_learners) {
  const int cores = static_cast<int>(set_up(1, 1).machine->cores().size());
  for (const int learners : {1, 2, 3, 100}) {
    const DeviceSetup setup = set_up(learners, 0);
    EXPECT_EQ(setup.learners, learners);
    EXPECT_EQ(setup.threads, std::max(1, cores / learners)) << learners;
  }
}

TEST(DeviceSetup, a_number_of_threads_is_kept) {
  EXPECT_EQ(set_up(2, 3).threads, 3);
}

}  // namespace
}  // namespace crossbow
