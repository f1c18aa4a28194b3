#include "kernels/gradient_clip.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "kernels/testing.hpp"
#include "kernels/testing_update.hpp"

namespace crossbow {
namespace {

using namespace testing;

template <class Exec>
class GradientClip : public ::testing::Test {
 protected:
  /// `g` after clipping; what it leaves as |g|^2 is in `squared`.
  std::vector<float> clipped(const std::vector<float>& g, float max_norm) {
    Array<Exec> values(exec, g);
    Array<Exec, double> norm(exec, std::vector<double>{-1});
    clip_gradient<Exec>(exec, max_norm, values.span(), norm.span());
    squared = norm.values()[0];
    return values.values();
  }

  Exec exec = test_instance<Exec>();
  double squared = 0;
};
TYPED_TEST_SUITE(GradientClip, Spaces, TargetName);

TYPED_TEST(GradientClip, shortens_to_the_largest_norm_as_pytorch_does) {
  for (const std::int64_t n : update_sizes) {
    const std::vector<float> g = random_values(n, 1);
    double sum = 0;
    for (const float value : g) {
      sum += double{value} * value;
    }
    const auto half = static_cast<float>(std::sqrt(sum) / 2);
    std::vector<double> expected;
    expected.reserve(g.size());
    for (const float value : g) {
      expected.push_back(value * (double{half} / (std::sqrt(sum) + 1e-6)));
    }
    expect_close(this->clipped(g, half), expected, 4 * 0x1p-24, "g");
    EXPECT_NEAR(this->squared / sum, 1, 1e-12) << n;
  }
}

TYPED_TEST(GradientClip, leaves_a_short_gradient_alone) {
  const std::vector<float> g = {3, 0, -4};
  EXPECT_EQ(this->clipped(g, 5.001F), g);
  EXPECT_EQ(this->squared, 25);
  // At the norm itself PyTorch's 1e-6 makes the factor a little less than 1.
  const std::vector<float> at_norm = this->clipped(g, 5);
  EXPECT_LT(at_norm[0], 3);
  EXPECT_GT(at_norm[0], 2.99999F);
  EXPECT_EQ(this->clipped({0, 0}, 1), (std::vector<float>{0, 0}));
}

TYPED_TEST(GradientClip, a_bad_number_stays_one) {
  for (const float bad : bad_numbers) {
    const std::vector<float> g = this->clipped({1, bad, 2}, 1);
    EXPECT_FALSE(std::isfinite(g[1])) << bad;
  }
}

TYPED_TEST(GradientClip, squares_beyond_floats_do_not_overflow) {
  const std::vector<float> g = this->clipped({3e30F, 4e30F}, 5);
  EXPECT_NEAR(g[0], 3, 1e-5);
  EXPECT_NEAR(g[1], 4, 1e-5);
}

}  // namespace
}  // namespace crossbow
