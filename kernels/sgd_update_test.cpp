#include "kernels/sgd_update.hpp"

#include <limits>
#include <string>
#include <vector>

#include "kernels/testing.hpp"
#include "kernels/testing_update.hpp"

namespace crossbow {
namespace {

using namespace testing;

template <class Exec>
class SgdUpdate : public ::testing::Test {
 protected:
  Exec exec = test_instance<Exec>();
};
TYPED_TEST_SUITE(SgdUpdate, Spaces, TargetName);

TYPED_TEST(SgdUpdate, follows_the_formula_in_double) {
  const StepRule rule = {0.05F, 0.9F, 0.01F};
  for (const std::int64_t n : update_sizes) {
    const auto g = random_values(n, 1), w = random_values(n, 2), v = random_values(n, 3);
    Array<TypeParam> new_w(this->exec, w), new_v(this->exec, v);
    Flag<TypeParam> flag(this->exec);
    sgd_update<TypeParam>(this->exec,
                          rule,
                          Array<TypeParam>(this->exec, g).view(),
                          new_w.span(),
                          new_v.span(),
                          flag.span());
    std::vector<double> expected_w, expected_v;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double velocity = double{rule.eta} * v[i] + g[i] + double{rule.lambda} * w[i];
      expected_v.push_back(velocity);
      expected_w.push_back(w[i] - double{rule.rate} * velocity);
    }
    expect_close(new_v.values(), expected_v, update_tolerance, "v");
    expect_close(new_w.values(), expected_w, update_tolerance, "w");
    EXPECT_EQ(flag.value(), 0U);
  }
}

// All values are small multiples of powers of two, so that nothing is rounded.
TYPED_TEST(SgdUpdate, is_exact_where_floats_are) {
  Array<TypeParam> w(this->exec, std::vector<float>{2, -4, 0});
  Array<TypeParam> v(this->exec, std::vector<float>{1, 8, -2});
  const Array<TypeParam> g(this->exec, std::vector<float>{0.5, 1, 3});
  Flag<TypeParam> flag(this->exec);
  sgd_update<TypeParam>(
      this->exec, {0.5F, 0.25F, 0.125F}, g.view(), w.span(), v.span(), flag.span());
  EXPECT_EQ(v.values(), (std::vector<float>{1, 2.5, 2.5}));
  EXPECT_EQ(w.values(), (std::vector<float>{1.5, -5.25, -1.25}));
}

// v = 0.25 x 8 + (1 - 0.5) = 2.5 and w = -4 - 0.5 (0.5 + 0.25 x 2.5), by hand.
TYPED_TEST(SgdUpdate, looks_ahead_with_nesterov) {
  Array<TypeParam> w(this->exec, std::vector<float>{-4});
  Array<TypeParam> v(this->exec, std::vector<float>{8});
  Array<TypeParam> g(this->exec, std::vector<float>{1});
  const StepRule rule = {0.5F, 0.25F, 0.125F, true};
  const Array<TypeParam> v_again(this->exec, v.values());
  const Array<TypeParam> w_before(this->exec, w.values());
  Flag<TypeParam> flag(this->exec);
  sgd_update<TypeParam>(this->exec, rule, g.view(), w.span(), v.span(), flag.span());
  EXPECT_EQ(v.values(), std::vector<float>{2.5});
  EXPECT_EQ(w.values(), std::vector<float>{-4.5625});
  sgd_step_of<TypeParam>(
      this->exec, rule, g.span(), w_before.view(), v_again.span(), flag.span());
  EXPECT_EQ(g.values(), std::vector<float>{-0.5625});
  EXPECT_EQ(v_again.values(), v.values());
}

TYPED_TEST(SgdUpdate, a_step_of_its_own_is_what_the_update_adds) {
  for (const bool nesterov : {false, true}) {
    const StepRule rule = {0.05F, 0.9F, 0.01F, nesterov};
    const std::vector<float> g = random_values(1025, 1), w = random_values(1025, 2);
    Array<TypeParam> step(this->exec, g), v(this->exec, random_values(1025, 3));
    Array<TypeParam> new_w(this->exec, w), new_v(this->exec, v.values());
    Flag<TypeParam> flag(this->exec);
    sgd_update<TypeParam>(this->exec,
                          rule,
                          Array<TypeParam>(this->exec, g).view(),
                          new_w.span(),
                          new_v.span(),
                          flag.span());
    sgd_step_of<TypeParam>(this->exec,
                           rule,
                           step.span(),
                           Array<TypeParam>(this->exec, w).view(),
                           v.span(),
                           flag.span());
    EXPECT_EQ(v.values(), new_v.values());
    std::vector<double> expected;
    for (std::size_t i = 0; i < w.size(); ++i) {
      expected.push_back(double{new_w.values()[i]} - w[i]);
    }
    expect_close(step.values(), expected, update_tolerance, "step");
    EXPECT_EQ(flag.value(), 0U);
  }
}

TYPED_TEST(SgdUpdate, a_step_of_its_own_is_flagged_when_bad) {
  for (const float bad : bad_numbers) {
    Array<TypeParam> g(this->exec, std::vector<float>{1, bad});
    Array<TypeParam> v(this->exec, std::vector<float>{0, 0});
    Flag<TypeParam> flag(this->exec);
    sgd_step_of<TypeParam>(this->exec,
                           {0.1F},
                           g.span(),
                           Array<TypeParam>(this->exec, std::vector<float>{0, 0}).view(),
                           v.span(),
                           flag.span());
    EXPECT_EQ(flag.value(), 1U) << bad;
  }
}

TYPED_TEST(SgdUpdate, does_nothing_with_no_elements) {
  Flag<TypeParam> flag(this->exec);
  sgd_update<TypeParam>(this->exec, {}, {}, {}, {}, flag.span());
  check_finite<TypeParam>(this->exec, {}, flag.span());
  scaled_sum<TypeParam>(this->exec, 1.0F, {nullptr, 0, 2}, {}, flag.span());
  EXPECT_EQ(flag.value(), 0U);
}

TYPED_TEST(SgdUpdate, flags_a_bad_gradient_wherever_it_is) {
  for (const std::int64_t n : flag_sizes) {
    for (const std::int64_t place : places_in(n)) {
      for (const float bad : bad_numbers) {
        std::vector<float> g = random_values(n, 1);
        g[static_cast<std::size_t>(place)] = bad;
        Array<TypeParam> w(this->exec, random_values(n, 2));
        Array<TypeParam> v(this->exec, random_values(n, 3));
        const Array<TypeParam> gradient(this->exec, g);
        Flag<TypeParam> flag(this->exec), flag_of_check(this->exec);
        sgd_update<TypeParam>(
            this->exec, {0.1F}, gradient.view(), w.span(), v.span(), flag.span());
        check_finite<TypeParam>(this->exec, gradient.view(), flag_of_check.span());
        EXPECT_EQ(flag.value(), 1U) << bad << " at " << place << " of " << n;
        EXPECT_EQ(flag_of_check.value(), 1U) << bad << " at " << place << " of " << n;
      }
    }
  }
}

TYPED_TEST(SgdUpdate, flags_weights_that_the_step_makes_bad) {
  const auto flag_after = [&](const StepRule& rule, float g, float w, float v) {
    const auto one = [&](float value) {
      return Array<TypeParam>(this->exec, std::vector<float>{value});
    };
    const Array<TypeParam> gradient = one(g), weight = one(w), velocity = one(v);
    const Flag<TypeParam> flag(this->exec);
    sgd_update<TypeParam>(
        this->exec, rule, gradient.view(), weight.span(), velocity.span(), flag.span());
    return flag.value();
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(flag_after({0.1F, 0.9F, 0.0F}, 0, nan, 0), 1U) << "bad weight";
  EXPECT_EQ(flag_after({0.1F, 0.9F, 0.0F}, 0, 0, nan), 1U) << "bad velocity";
  EXPECT_EQ(flag_after({1e30F, 0.0F, 0.0F}, 1e9F, 0, 0), 1U) << "step overflows";
  EXPECT_EQ(flag_after({0.1F, 1.0F, 0.0F}, 3e38F, 0, 3e38F), 1U) << "velocity overflows";
  EXPECT_EQ(flag_after({1.0F, 0.0F, 0.0F}, 3e38F, -3e38F, 0), 1U) << "weight overflows";
  EXPECT_EQ(flag_after({1.0F, 0.0F, 0.0F}, 3e38F, 3e38F, 0), 0U) << "0 is good";
}

TYPED_TEST(SgdUpdate, finite_numbers_of_any_size_are_good) {
  using Limits = std::numeric_limits<float>;
  const Array<TypeParam> g(
      this->exec,
      std::vector<float>{
          Limits::max(), Limits::lowest(), Limits::denorm_min(), -0.0F, Limits::min()});
  Array<TypeParam> w(this->exec, std::vector<float>(5, 0.0F));
  Array<TypeParam> v(this->exec, std::vector<float>(5, 0.0F));
  Flag<TypeParam> flag(this->exec);
  check_finite<TypeParam>(this->exec, g.view(), flag.span());
  sgd_update<TypeParam>(this->exec, {0.1F}, g.view(), w.span(), v.span(), flag.span());
  EXPECT_EQ(flag.value(), 0U);
}

TYPED_TEST(SgdUpdate, never_resets_the_flag) {
  const Array<TypeParam> good(this->exec, random_values(1025, 1));
  Array<TypeParam> w(this->exec, random_values(1025, 2));
  Array<TypeParam> v(this->exec, random_values(1025, 3));
  Flag<TypeParam> flag(this->exec, 1);
  sgd_update<TypeParam>(this->exec, {}, good.view(), w.span(), v.span(), flag.span());
  check_finite<TypeParam>(this->exec, good.view(), flag.span());
  scaled_sum<TypeParam>(
      this->exec, 1.0F, {good.view().data(), 0, 1}, w.span(), flag.span());
  EXPECT_EQ(flag.value(), 1U);
}

/// scale (a_0 + a_1 + ...) in float and this order.
std::vector<float> sum_in_order(float scale,
                                const std::vector<float>& summands,
                                std::int64_t stride,
                                int count,
                                std::int64_t n) {
  std::vector<float> sum(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < sum.size(); ++i) {
    float total = summands[i];
    for (int j = 1; j < count; ++j) {
      total += summands[static_cast<std::size_t>(j * stride) + i];
    }
    sum[i] = scale * total;
  }
  return sum;
}

TYPED_TEST(SgdUpdate, sums_in_the_stated_order) {
  for (const std::int64_t n : update_sizes) {
    for (int count = 1; count <= 5; ++count) {
      const std::int64_t stride = n + 7;
      const auto summands = random_values(count * stride, 5);
      const float scale = 1.0F / static_cast<float>(count);
      const Array<TypeParam> a(this->exec, summands);
      Array<TypeParam> sum(this->exec, n);
      Flag<TypeParam> flag(this->exec);
      scaled_sum<TypeParam>(
          this->exec, scale, {a.view().data(), stride, count}, sum.span(), flag.span());
      expect_same_bits(
          sum.values(), sum_in_order(scale, summands, stride, count, n), "sum");
      EXPECT_EQ(flag.value(), 0U);
    }
  }
}

TYPED_TEST(SgdUpdate, a_sum_may_replace_its_first_summand) {
  const std::int64_t n = 1025, stride = 1030;
  const auto summands = random_values(3 * stride, 5);
  const Array<TypeParam> a(this->exec, summands);
  const Span<TypeParam> first(a.span().data(), static_cast<std::size_t>(n));
  Flag<TypeParam> flag(this->exec);
  scaled_sum<TypeParam>(
      this->exec, 0.3F, {a.view().data(), stride, 3}, first, flag.span());
  std::vector<float> expected = sum_in_order(0.3F, summands, stride, 3, n);
  expected.insert(expected.end(), summands.begin() + n, summands.end());  // untouched
  expect_same_bits(a.values(), expected, "sum and what follows");
}

TYPED_TEST(SgdUpdate, flags_a_bad_sum_wherever_it_comes_from) {
  for (const std::int64_t n : flag_sizes) {
    for (const std::int64_t place : places_in(n)) {
      for (int j = 0; j < 3; ++j) {
        auto summands = random_values(3 * n, 5);
        summands[static_cast<std::size_t>(j * n + place)] =
            bad_numbers[static_cast<std::size_t>(j)];
        const Array<TypeParam> a(this->exec, summands);
        Array<TypeParam> sum(this->exec, n);
        Flag<TypeParam> flag(this->exec);
        scaled_sum<TypeParam>(
            this->exec, 0.3F, {a.view().data(), n, 3}, sum.span(), flag.span());
        EXPECT_EQ(flag.value(), 1U) << "summand " << j << ", " << place << " of " << n;
      }
    }
  }
}

TYPED_TEST(SgdUpdate, flags_an_overflow_of_good_summands) {
  const Array<TypeParam> a(this->exec, std::vector<float>{3e38F, 3e38F});
  Array<TypeParam> sum(this->exec, 1);
  Flag<TypeParam> flag(this->exec);
  scaled_sum<TypeParam>(
      this->exec, 0.5F, {a.view().data(), 1, 2}, sum.span(), flag.span());
  EXPECT_EQ(flag.value(), 1U);
}

}  // namespace
}  // namespace crossbow
