#include "kernels/concat.hpp"

#include "kernels/reference/concat.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

// rows, channels, all, begin
const ChannelPart parts[] = {{1, 1, 1, 0},
                             {7, 1, 3, 2},
                             {20, 16, 48, 16},
                             {5, 33, 40, 7},
                             {64, 20, 20, 0},
                             {0, 3, 5, 1}};

template <class Exec>
class ConcatTest : public ::testing::Test {};
TYPED_TEST_SUITE(ConcatTest, Spaces, TargetName);

TYPED_TEST(ConcatTest, agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const ChannelPart& part : parts) {
    SCOPED_TRACE(part.channels);
    std::vector<float> narrow = random_values(part.rows * part.channels, 1);
    const std::vector<float> wide = random_values(part.rows * part.all, 2);
    if (!narrow.empty()) {
      narrow[0] = NAN;
    }
    std::vector<float> put = wide, taken(narrow.size());
    reference::put_channels(part, narrow.data(), put.data());
    reference::take_channels(part, wide.data(), taken.data());
    const Array<TypeParam> narrow_there(exec, narrow), wide_there(exec, wide),
        y(exec, wide), dx(exec, part.rows * part.channels);
    put_channels(exec, part, narrow_there.view(), y.span());
    take_channels(exec, part, wide_there.view(), dx.span());
    expect_same_bits(y.values(), put, "put");  // what is not of the part stays
    expect_same_bits(dx.values(), taken, "taken");
  }
}

TEST(ConcatReference, worked_example) {
  const double left[2] = {1, 2}, right[4] = {3, 4, 5, 6};  // two rows of 1 and 2 channels
  double y[6], back[4];
  reference::put_channels({2, 1, 3, 0}, left, y);
  reference::put_channels({2, 2, 3, 1}, right, y);
  EXPECT_EQ(std::vector<double>(y, y + 6), (std::vector<double>{1, 3, 4, 2, 5, 6}));
  reference::take_channels({2, 2, 3, 1}, y, back);
  EXPECT_EQ(std::vector<double>(back, back + 4), std::vector<double>(right, right + 4));
}

}  // namespace
}  // namespace crossbow
