#include "kernels/shortcut.hpp"

#include "kernels/reference/shortcut.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

std::int64_t in_size(const ShortcutShape& s) {
  return s.n * s.h * s.w * s.c;
}

std::int64_t out_size(const ShortcutShape& s) {
  return s.n * s.out_h() * s.out_w() * s.filters;
}

// One row of three pixels with one channel each, to three channels: 1 and 3 stay, a zero
// before and one after.
TEST(Shortcut, reference_by_hand) {
  const ShortcutShape s{1, 1, 3, 1, 2, 3};
  const std::vector<double> x = {1, 2, 3}, dy = {1, 2, 3, 4, 5, 6};
  std::vector<double> y(6, 9), dx(3, 9);
  reference::shortcut_forward(s, x.data(), y.data());
  EXPECT_EQ(y, (std::vector<double>{0, 1, 0, 0, 3, 0}));
  reference::shortcut_backward(s, dy.data(), dx.data());
  EXPECT_EQ(dx, (std::vector<double>{2, 0, 5}));
}

template <class Exec>
class ShortcutTest : public ::testing::Test {};
TYPED_TEST_SUITE(ShortcutTest, Spaces, TargetName);

TYPED_TEST(ShortcutTest, agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const ShortcutShape& s : {ShortcutShape{2, 32, 32, 16, 2, 32},
                                 ShortcutShape{3, 5, 7, 3, 2, 8},
                                 ShortcutShape{1, 4, 4, 5, 3, 5},
                                 ShortcutShape{2, 3, 3, 1, 1, 4},
                                 ShortcutShape{0, 3, 3, 1, 1, 4}}) {
    const std::vector<float> x = random_values(in_size(s), 1);
    const std::vector<float> dy = random_values(out_size(s), 2);
    std::vector<float> y(dy.size()), dx(x.size());
    reference::shortcut_forward(s, x.data(), y.data());
    reference::shortcut_backward(s, dy.data(), dx.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy);
    const Array<TypeParam> y_there(exec, random_values(out_size(s), 3));
    const Array<TypeParam> dx_there(exec, random_values(in_size(s), 4));
    shortcut_forward(exec, s, x_there.view(), y_there.span());
    shortcut_backward(exec, s, dy_there.view(), dx_there.span());
    EXPECT_EQ(y_there.values(), y);
    EXPECT_EQ(dx_there.values(), dx);
  }
}

TYPED_TEST(ShortcutTest, a_nan_goes_through) {
  const TypeParam exec = test_instance<TypeParam>();
  const ShortcutShape s{1, 2, 2, 1, 2, 3};
  const Array<TypeParam> x(exec, std::vector<float>{NAN, 1, 1, 1}), y(exec, 3);
  shortcut_forward(exec, s, x.view(), y.span());
  EXPECT_TRUE(std::isnan(y.values()[1]));
}

}  // namespace
}  // namespace crossbow
