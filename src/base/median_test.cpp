#include "base/median.hpp"

#include <gtest/gtest.h>

namespace crossbow {
namespace {

TEST(UpperMedian, is_the_middle_and_of_an_even_number_the_upper_one) {
  EXPECT_EQ(upper_median({3, 1, 2}), 2);
  EXPECT_EQ(upper_median({4, 1, 2, 3}), 3);
  EXPECT_EQ(upper_median({5}), 5);
}

}  // namespace
}  // namespace crossbow
