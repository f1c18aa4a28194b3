#include "kernels/shared_model.hpp"

#include <vector>

#include "base/testing.hpp"

#include "kernels/testing.hpp"
#include "kernels/testing_update.hpp"

namespace crossbow {
namespace {

using namespace testing;

template <class Exec>
class SharedModel : public ::testing::Test {
 protected:
  Exec exec = test_instance<Exec>();
};
TYPED_TEST_SUITE(SharedModel, Spaces, TargetName);

TYPED_TEST(SharedModel, an_exchange_hands_in_what_is_new_and_takes_the_sum) {
  Array<TypeParam> z(this->exec, std::vector<float>{10, 20});
  Array<TypeParam> w(this->exec, std::vector<float>{3, 5});
  Array<TypeParam> pulled(this->exec, std::vector<float>{1, 8});
  exchange_steps<TypeParam>(this->exec, z.span(), w.span(), pulled.span());
  EXPECT_EQ(z.values(), (std::vector<float>{12, 17}));
  EXPECT_EQ(w.values(), z.values());
  EXPECT_EQ(pulled.values(), z.values());
}

TYPED_TEST(SharedModel, relaxed_copies_and_sums_reach_every_element) {
  for (const std::int64_t n : update_sizes) {
    const std::vector<float> model = random_values(n, 1), step = random_values(n, 2);
    Array<TypeParam> z(this->exec, model), w(this->exec, n);
    load_relaxed<TypeParam>(this->exec, z.span(), w.span());
    EXPECT_EQ(w.values(), model);
    add_relaxed<TypeParam>(
        this->exec, Array<TypeParam>(this->exec, step).view(), z.span());
    const std::vector<float> sum = z.values();
    for (std::size_t i = 0; i < sum.size(); ++i) {
      ASSERT_EQ(sum[i], model[i] + step[i]) << i << " of " << n;
    }
  }
}

// Small whole numbers: every order of the additions gives the same, and a lost one shows.
TEST(SharedModelOfThreads, no_addition_is_lost) {
  constexpr int threads = 4, times = 500;
  constexpr std::int64_t n = 67;
  using Exec = Kokkos::Serial;
  const Exec exec = make_instance<Exec>(1);
  const Array<Exec> z(exec, std::vector<float>(n, 0));
  in_threads(threads, [&](int j) {
    const Exec own = make_instance<Exec>(1);
    const Array<Exec> step(own, std::vector<float>(n, static_cast<float>(j + 1)));
    for (int i = 0; i < times; ++i) {
      add_relaxed<Exec>(own, step.view(), z.span());
    }
  });
  EXPECT_EQ(z.values(), std::vector<float>(n, times * (1 + 2 + 3 + 4)));
}

}  // namespace
}  // namespace crossbow
