#include "kernels/model_average.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/testing.hpp"
#include "kernels/testing_update.hpp"

namespace crossbow {
namespace {

using namespace testing;

constexpr StepRule rule = {0.05F, 0.9F, 0.01F};
constexpr float alpha = 0.3F, mu = 0.5F;

/// Vectors of one learner and z in the memory of Exec.
template <class Exec>
struct Vectors {
  Vectors(const Exec& exec, std::int64_t n)
      : g(exec, random_values(n, 1)),
        z(exec, random_values(n, 2)),
        w(exec, random_values(n, 3)),
        v(exec, random_values(n, 4)),
        flag(exec) {}

  SmaStep<Exec> step() const {
    return {rule, alpha, g.view(), z.view(), w.span(), v.span()};
  }

  Array<Exec> g, z, w, v;
  Flag<Exec> flag;
};

template <class Exec>
class ModelAverage : public ::testing::Test {
 protected:
  Exec exec = test_instance<Exec>();
};
TYPED_TEST_SUITE(ModelAverage, Spaces, TargetName);

// In this order: each sum is rounded before the next is added. Sizes around a block's.
TYPED_TEST(ModelAverage, adds_in_order_whatever_the_size) {
  for (const std::int64_t n : {0, 1, 7, 1023, 1024, 1025, 5000}) {
    for (const int count : {0, 1, 3}) {
      const std::int64_t stride = n + 5;
      const std::vector<float> first = random_values(n, 1);
      const std::vector<float> others = random_values(count * stride + 1, 2);
      const Array<TypeParam> sum(this->exec, first), parts(this->exec, others);
      add_in_order<TypeParam>(
          this->exec, {parts.view().data(), stride, count}, sum.span());
      std::vector<float> expected = first;
      for (int j = 0; j < count; ++j) {
        for (std::int64_t i = 0; i < n; ++i) {
          const auto element = static_cast<std::size_t>(i);
          expected[element] =
              expected[element] + others[static_cast<std::size_t>(j * stride + i)];
        }
      }
      EXPECT_EQ(sum.values(), expected) << n << " elements, " << count << " others";
    }
  }
}

// v = 0.25 x 8 + (1 - 0.5) = 2.5, c = 0.5 (-4 - 2) and
// w = -4 - 0.5 (0.5 + 0.25 x 2.5) + 3, by hand.
TYPED_TEST(ModelAverage, looks_ahead_with_nesterov) {
  const auto one = [&](float value) {
    return Array<TypeParam>(this->exec, std::vector<float>{value});
  };
  const Array<TypeParam> g = one(1), z = one(2), w = one(-4), v = one(8), c = one(0);
  const Flag<TypeParam> flag(this->exec);
  const StepRule ahead = {0.5F, 0.25F, 0.125F, true};
  sma_step<TypeParam>(this->exec,
                      {ahead, 0.5F, g.view(), z.view(), w.span(), v.span()},
                      c.span(),
                      flag.span());
  EXPECT_EQ(c.values(), std::vector<float>{-3});
  EXPECT_EQ(v.values(), std::vector<float>{2.5});
  EXPECT_EQ(w.values(), std::vector<float>{-1.5625});
}

TYPED_TEST(ModelAverage, step_follows_the_formula_in_double) {
  for (const std::int64_t n : update_sizes) {
    const Vectors<TypeParam> x(this->exec, n);
    const auto g = x.g.values(), z = x.z.values(), s = x.w.values(), v = x.v.values();
    Array<TypeParam> c(this->exec, n);
    sma_step<TypeParam>(this->exec, x.step(), c.span(), x.flag.span());
    std::vector<double> expected_c, expected_v, expected_w;
    for (std::size_t i = 0; i < g.size(); ++i) {
      const double correction = double{alpha} * (double{s[i]} - z[i]);
      const double velocity = double{rule.eta} * v[i] + g[i] + double{rule.lambda} * s[i];
      expected_c.push_back(correction);
      expected_v.push_back(velocity);
      expected_w.push_back(s[i] - double{rule.rate} * velocity - correction);
    }
    expect_close(c.values(), expected_c, update_tolerance, "c");
    expect_close(x.v.values(), expected_v, update_tolerance, "v");
    expect_close(x.w.values(), expected_w, update_tolerance, "w");
    EXPECT_EQ(x.flag.value(), 0U);
  }
}

/// z + (c_0 + c_1 + ...) + mu (z - z_prev) in float and this order.
std::vector<float> average_in_order(const std::vector<float>& z,
                                    const std::vector<float>& z_prev,
                                    const std::vector<float>& c,
                                    int count) {
  std::vector<float> next(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    float sum = c[i];
    for (int j = 1; j < count; ++j) {
      sum += c[static_cast<std::size_t>(j) * z.size() + i];
    }
    next[i] = (z[i] + sum) + mu * (z[i] - z_prev[i]);
  }
  return next;
}

TYPED_TEST(ModelAverage, update_sums_corrections_in_the_stated_order) {
  for (const std::int64_t n : update_sizes) {
    for (int k = 1; k <= 5; ++k) {
      const auto z = random_values(n, 1), z_prev = random_values(n, 2);
      const auto c = random_values(k * n, 3);
      const Array<TypeParam> a(this->exec, z), b(this->exec, z_prev), d(this->exec, c);
      Array<TypeParam> next(this->exec, n);
      average_update<TypeParam>(
          this->exec, {mu, {d.view().data(), n, k}, a.view(), b.view(), next.span()});
      expect_same_bits(next.values(), average_in_order(z, z_prev, c, k), "z_next");
      expect_same_bits(a.values(), z, "z");
      expect_same_bits(b.values(), z_prev, "z_prev");
    }
  }
}

TYPED_TEST(ModelAverage, update_may_write_over_z_prev) {
  const std::int64_t n = 1025;
  const auto z = random_values(n, 1), z_prev = random_values(n, 2);
  const auto c = random_values(2 * n, 3);
  const Array<TypeParam> a(this->exec, z), b(this->exec, z_prev), d(this->exec, c);
  average_update<TypeParam>(this->exec,
                            {mu, {d.view().data(), n, 2}, a.view(), b.view(), b.span()});
  expect_same_bits(b.values(), average_in_order(z, z_prev, c, 2), "z_next");
}

/// Both ways from the same vectors; the fused one finds NaN where its own corrections
/// would be stored, as it must neither read nor need them.
template <class Exec>
void expect_fused_equal(const Exec& exec, std::int64_t n, int k, int own) {
  const Vectors<Exec> separate(exec, n), fused(exec, n);
  const Array<Exec> z_prev(exec, random_values(n, 5));
  std::vector<float> corrections = random_values(k * n, 6);
  std::fill_n(corrections.begin() + own * n, n, std::numeric_limits<float>::quiet_NaN());
  const Array<Exec> c(exec, corrections), c_fused(exec, corrections);
  Array<Exec> next(exec, n), next_fused(exec, n);

  const Span<Exec> own_c(c.span().data() + own * n, static_cast<std::size_t>(n));
  sma_step<Exec>(exec, separate.step(), own_c, separate.flag.span());
  average_update<Exec>(
      exec, {mu, {c.view().data(), n, k}, separate.z.view(), z_prev.view(), next.span()});
  sma_step_and_average<Exec>(exec,
                             fused.step(),
                             {mu,
                              {c_fused.view().data(), n, k},
                              fused.z.view(),
                              z_prev.view(),
                              next_fused.span()},
                             own,
                             fused.flag.span());
  const std::string what = "of " + std::to_string(n) + " elements, learner " +
                           std::to_string(own) + " of " + std::to_string(k);
  expect_same_bits(fused.w.values(), separate.w.values(), "w " + what);
  expect_same_bits(fused.v.values(), separate.v.values(), "v " + what);
  expect_same_bits(next_fused.values(), next.values(), "z_next " + what);
  EXPECT_EQ(fused.flag.value(), separate.flag.value()) << what;
  EXPECT_EQ(fused.flag.value(), 0U) << what;
}

TYPED_TEST(ModelAverage, fused_is_bitwise_the_separate_way) {
  for (const std::int64_t n : update_sizes) {
    for (int k = 1; k <= 5; ++k) {
      for (int own = 0; own < k; ++own) {
        expect_fused_equal<TypeParam>(this->exec, n, k, own);
      }
    }
  }
}

/// The flags of both ways after element `place` of the vector that `which` names is
/// `bad`.
template <class Exec>
void expect_flagged(
    const Exec& exec, std::int64_t n, std::int64_t place, float bad, char which) {
  std::vector<float> values = random_values(n, 9);
  values[static_cast<std::size_t>(place)] = bad;
  const Array<Exec> bad_vector(exec, values);
  const std::string what = std::string("in ") + which + ", " + std::to_string(place) +
                           " of " + std::to_string(n) + ": " + std::to_string(bad);
  const auto with_bad = [&](const Vectors<Exec>& x) {
    SmaStep<Exec> step = x.step();
    if (which == 'g') {
      step.g = bad_vector.view();
    } else if (which == 'z') {
      step.z = bad_vector.view();
    } else {
      Kokkos::deep_copy(exec, step.w, bad_vector.span());
    }
    return step;
  };
  const Vectors<Exec> x(exec, n), y(exec, n);
  Array<Exec> c(exec, n), next(exec, n);
  sma_step<Exec>(exec, with_bad(x), c.span(), x.flag.span());
  EXPECT_EQ(x.flag.value(), 1U) << what;
  sma_step_and_average<Exec>(
      exec,
      with_bad(y),
      {mu, {c.view().data(), n, 1}, y.z.view(), y.z.view(), next.span()},
      0,
      y.flag.span());
  EXPECT_EQ(y.flag.value(), 1U) << what << ", fused";
}

// A NaN or Inf in the weights or in z is one in the correction.
TYPED_TEST(ModelAverage, flags_a_bad_gradient_or_correction_wherever_it_is) {
  for (const std::int64_t n : flag_sizes) {
    for (const std::int64_t place : places_in(n)) {
      for (const float bad : bad_numbers) {
        for (const char which : {'g', 'w', 'z'}) {
          expect_flagged<TypeParam>(this->exec, n, place, bad, which);
        }
      }
    }
  }
}

TYPED_TEST(ModelAverage, flags_what_overflows) {
  const auto flag_after = [&](float g, float z, float w, float v) {
    const auto one = [&](float value) {
      return Array<TypeParam>(this->exec, std::vector<float>{value});
    };
    const Array<TypeParam> gradient = one(g), average = one(z), weight = one(w);
    const Array<TypeParam> velocity = one(v);
    Array<TypeParam> c(this->exec, 1);
    const Flag<TypeParam> flag(this->exec);
    sma_step<TypeParam>(this->exec,
                        {{2.0F, 1.0F, 0.0F},
                         alpha,
                         gradient.view(),
                         average.view(),
                         weight.span(),
                         velocity.span()},
                        c.span(),
                        flag.span());
    return flag.value();
  };
  EXPECT_EQ(flag_after(0, -3e38F, 3e38F, 0), 1U) << "correction";
  EXPECT_EQ(flag_after(3e38F, 0, 0, 3e38F), 1U) << "velocity";
  EXPECT_EQ(flag_after(3e38F, 0, 0, 0), 1U) << "step";
  EXPECT_EQ(flag_after(1e38F, 0, 0, 0), 0U) << "2e38 is good";
}

TYPED_TEST(ModelAverage, never_resets_the_flag) {
  const Vectors<TypeParam> x(this->exec, 1025);
  Array<TypeParam> c(this->exec, 1025), next(this->exec, 1025);
  Flag<TypeParam> flag(this->exec, 1);
  sma_step<TypeParam>(this->exec, x.step(), c.span(), flag.span());
  sma_step_and_average<TypeParam>(
      this->exec,
      x.step(),
      {mu, {c.view().data(), 1025, 1}, x.z.view(), x.z.view(), next.span()},
      0,
      flag.span());
  EXPECT_EQ(flag.value(), 1U);
}

}  // namespace
}  // namespace crossbow
