#include "base/strong_id.hpp"

#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

using LearnerId = StrongId<struct LearnerTag>;
using DeviceId = StrongId<struct DeviceTag>;

static_assert(!std::is_convertible_v<LearnerId, DeviceId>);
static_assert(!std::is_constructible_v<LearnerId, DeviceId>);
static_assert(!std::is_convertible_v<int, LearnerId>);
static_assert(!std::is_convertible_v<LearnerId, int>);
static_assert(sizeof(LearnerId) == sizeof(int));

TEST(StrongId, ComparesByValue) {
  EXPECT_EQ(LearnerId(3), LearnerId(3));
  EXPECT_LT(LearnerId(2), LearnerId(3));
  EXPECT_EQ(LearnerId().value(), 0);
}

TEST(StrongId, CountsUpInALoop) {
  int sum = 0;
  for (LearnerId j(0); j < LearnerId(4); ++j) {
    sum += j.value();
  }
  EXPECT_EQ(sum, 6);
}

TEST(StrongId, IsAKeyOfHashedContainers) {
  const std::unordered_set<DeviceId> ids{DeviceId(1), DeviceId(2), DeviceId(1)};
  EXPECT_EQ(ids.size(), 2U);
}

}  // namespace
}  // namespace crossbow
