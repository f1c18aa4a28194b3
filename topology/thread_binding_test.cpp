#include "topology/thread_binding.hpp"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "topology/probe.hpp"
#include "topology/test_mask.hpp"

namespace crossbow {
namespace {

TEST(ThreadBinding, binds_the_calling_thread_only) {
  const Topology topology = probe_live();
  const std::vector<int> before = pus_in_mask();
  for (const int pu : topology.pus()) {
    std::thread([&topology, pu] {
      EXPECT_TRUE(bind_this_thread(topology, std::vector<int>{pu}));
      EXPECT_EQ(pus_in_mask(), std::vector<int>{pu});
      std::thread([pu] { EXPECT_EQ(pus_in_mask(), std::vector<int>{pu}); }).join();
    }).join();
  }
  EXPECT_EQ(pus_in_mask(), before);
}

TEST(ThreadBinding, binds_to_several_pus_and_back) {
  const Topology topology = probe_live();
  std::thread([&topology] {
    EXPECT_TRUE(bind_this_thread(topology, std::vector<int>{topology.pus().front()}));
    EXPECT_TRUE(bind_this_thread(topology, topology.pus()));
    EXPECT_EQ(pus_in_mask(), topology.pus());
  }).join();
}

TEST(ThreadBinding, leaves_the_thread_as_it_was_if_it_cannot) {
  const Topology topology = probe_live();
  const Topology other = probe_synthetic("core:2 pu:1");
  const std::vector<int> before = pus_in_mask();
  EXPECT_FALSE(bind_this_thread(topology, {}));
  EXPECT_FALSE(bind_this_thread(topology, std::vector<int>{topology.pus().back() + 1}));
  EXPECT_FALSE(bind_this_thread(topology, std::vector<int>{-1}));
  EXPECT_FALSE(bind_this_thread(other, std::vector<int>{0}));  // another machine
  EXPECT_EQ(pus_in_mask(), before);
}

TEST(ThreadBinding, does_not_leave_the_mask_that_was_given) {
  const Topology whole = probe_live();
  if (whole.pus().size() < 2) {
    GTEST_SKIP() << "one hardware thread only";
  }
  std::thread([&whole] {
    ASSERT_TRUE(bind_this_thread(whole, std::vector<int>{whole.pus()[0]}));
    const Topology part = probe_live();
    EXPECT_FALSE(bind_this_thread(part, std::vector<int>{whole.pus()[1]}));
    EXPECT_EQ(pus_in_mask(), std::vector<int>{whole.pus()[0]});
  }).join();
}

}  // namespace
}  // namespace crossbow
