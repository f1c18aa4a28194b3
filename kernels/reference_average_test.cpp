#include "kernels/reference_average.hpp"

#include <vector>

#include "kernels/testing.hpp"
#include "kernels/testing_update.hpp"

namespace crossbow {
namespace {

using namespace testing;

template <class Exec>
class ReferenceAverageKernel : public ::testing::Test {
 protected:
  Exec exec = test_instance<Exec>();
};
TYPED_TEST_SUITE(ReferenceAverageKernel, Spaces, TargetName);

TYPED_TEST(ReferenceAverageKernel, follows_the_formula_in_double) {
  constexpr float alpha = 0.25F, mu = 0.9F;
  for (const int devices : {1, 2, 3}) {
    for (const std::int64_t n : update_sizes) {
      const std::int64_t stride = n + 16;  // what lies between two models is not touched
      const std::vector<float> q = random_values(devices * stride, 1);
      const std::vector<float> z = random_values(n, 2), z_prev = random_values(n, 3);
      Array<TypeParam> new_q(this->exec, q), new_z(this->exec, z),
          new_prev(this->exec, z_prev);
      reference_average<TypeParam>(
          this->exec,
          {alpha, mu, devices, stride, new_q.span(), new_z.span(), new_prev.span()});
      std::vector<double> expected_q = to_double(q), expected_z;
      for (std::size_t i = 0; i < z.size(); ++i) {
        double sum = 0;
        for (int d = 0; d < devices; ++d) {
          const auto at = static_cast<std::size_t>(d * stride) + i;
          const double correction = double{alpha} * (double{q[at]} - z[i]);
          expected_q[at] -= correction;
          sum += correction;
        }
        expected_z.push_back(z[i] + sum + double{mu} * (double{z[i]} - z_prev[i]));
      }
      expect_close(new_q.values(), expected_q, update_tolerance, "q");
      expect_close(new_z.values(), expected_z, update_tolerance, "z");
      EXPECT_EQ(new_prev.values(), z) << n;
    }
  }
}

}  // namespace
}  // namespace crossbow
