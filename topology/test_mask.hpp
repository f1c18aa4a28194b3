#pragma once
// For tests of this folder: the mask of the calling thread as the system itself states
// it.

#include <vector>

#include <gtest/gtest.h>
#include <sched.h>

namespace crossbow {

/// Give the PUs that the calling thread may run on, ascending.
inline std::vector<int> pus_in_mask() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  std::vector<int> pus;
  for (int pu = 0; pu < CPU_SETSIZE; ++pu) {
    if (CPU_ISSET(pu, &mask)) {
      pus.push_back(pu);
    }
  }
  return pus;
}

/// Leave the calling thread one PU.
inline void set_mask(int pu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(pu, &mask);
  ASSERT_EQ(sched_setaffinity(0, sizeof(mask), &mask), 0);
}

}  // namespace crossbow
