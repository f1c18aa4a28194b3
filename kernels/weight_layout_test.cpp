#include "kernels/weight_layout.hpp"

#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

TEST(WeightLayout, permuted_layout_takes_element_order_i) {
  const PermutedLayout layout({2, 0, 1});
  EXPECT_EQ(layout.size(), 3);
  const std::vector<float> own = packed(layout, {10, 20, 30});
  EXPECT_EQ(own, (std::vector<float>{30, 10, 20}));
  EXPECT_EQ(unpacked(layout, own, 3), (std::vector<float>{10, 20, 30}));
}

TEST(WeightLayout, identity_layout_changes_nothing) {
  const auto layout = identity_layout(5);
  EXPECT_EQ(packed(*layout, {1, 2, 3, 4, 5}), (std::vector<float>{1, 2, 3, 4, 5}));
  expect_lossless(*layout, 5);
}

TEST(WeightLayout, empty) {
  EXPECT_EQ(identity_layout(0)->size(), 0);
  expect_lossless(*identity_layout(0), 0);
}

}  // namespace
}  // namespace crossbow
