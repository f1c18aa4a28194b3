// The properties that the other tests of methods assert, with one rule broken on purpose
// each: every one of them must then fail, and by far more than rounding.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

constexpr double clearly = 1e-3;  // the properties hold to 1e-6

MethodOptions without_momentum(AveragingMethodName method, std::int64_t period = 1) {
  MethodOptions options = options_of(method, period);
  options.averaging.momentum = 0.0;  // of z
  return options;
}

double largest_difference(const std::vector<float>& a, const Doubles& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::abs(a[i] - b[i]));
  }
  return largest;
}

/// How far z is, after one round, from the mean of the replicas before it.
double distance_from_mean(const MethodOptions& options) {
  const Fleet fleet(3, options);
  fleet.run(1, 1, averaging_every(1));
  Doubles mean(fleet.z().size(), 0.0);
  const Fleet untouched(3, options);
  for (int j = 0; j < 3; ++j) {
    const std::vector<float> w = untouched.w(j);
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += w[i] / 3.0;
    }
  }
  return largest_difference(fleet.z(), mean);
}

TEST(BrokenRules, z_is_not_the_mean_with_another_alpha_or_with_momentum) {
  for (const auto method : {AveragingMethodName::sma, AveragingMethodName::easgd}) {
    MethodOptions options = without_momentum(method);
    options.averaging.alpha_rule = AlphaRule::one_over_k;
    EXPECT_LT(distance_from_mean(options), 1e-6);
    options.averaging.alpha_rule = AlphaRule::automatic;  // 1/(k+1)
    EXPECT_GT(distance_from_mean(options), clearly);
  }
  MethodOptions options = without_momentum(AveragingMethodName::sma);
  options.averaging.alpha_rule = AlphaRule::one_over_k;
  options.averaging.momentum = 0.5;
  EXPECT_GT(distance_from_mean(options), clearly);
}

/// How far learner 0's weights are from plain SGD's after six rounds.
double distance_from_plain_sgd(const MethodOptions& options) {
  const Fleet fleet(1, options);
  const Fleet plain(1, without_momentum(AveragingMethodName::sma, 0));
  const RuleOf rule = averaging_every(options.averaging.period);
  fleet.run(1, 6, rule);
  plain.run(1, 6, averaging_every(0));
  return largest_difference(fleet.w(0), to_double(plain.w(0)));
}

TEST(BrokenRules, one_learner_that_is_averaged_does_no_plain_sgd) {
  EXPECT_EQ(distance_from_plain_sgd(without_momentum(AveragingMethodName::sma, 0)), 0);
  EXPECT_GT(distance_from_plain_sgd(without_momentum(AveragingMethodName::sma, 1)),
            clearly);
  EXPECT_GT(distance_from_plain_sgd(without_momentum(AveragingMethodName::sma, 5)),
            clearly);
}

TEST(BrokenRules, local_sgd_is_not_ssgd_with_a_period) {
  const auto distance = [](std::int64_t period) {
    const Fleet ssgd(3, without_momentum(AveragingMethodName::ssgd), {}, Start::together);
    const Fleet local(
        3, without_momentum(AveragingMethodName::local_sgd, period), {}, Start::together);
    // Weight decay acts at other weights where replicas have moved apart.
    const StepRule step = {0.05F, 0.9F, 0.5F};
    ssgd.run(1, 6, averaging_every(1, step));
    local.run(1, 6, averaging_every(period, step));
    return largest_difference(local.w(0), to_double(ssgd.w(0)));
  };
  EXPECT_LT(distance(1), 1e-5);
  EXPECT_GT(distance(4), clearly);
}

TEST(BrokenRules, learners_that_are_not_permuted_do_not_match) {
  const MethodOptions options = without_momentum(AveragingMethodName::sma);
  const Fleet fleet(3, options), permuted(3, options, {2, 0, 1});
  fleet.run(1, 4, averaging_every(1));
  permuted.run(1, 4, averaging_every(1));
  EXPECT_LT(largest_difference(permuted.w(0), to_double(fleet.w(2))), 1e-6);
  EXPECT_GT(largest_difference(permuted.w(0), to_double(fleet.w(0))), clearly);
}

TEST(BrokenRules, a_lost_round_shows_in_the_bits) {
  for (const auto& [name, method] : averaging_method_names) {
    const Fleet whole(1, without_momentum(method)),
        short_of_one(1, without_momentum(method));
    whole.run(1, 6, averaging_every(1));
    short_of_one.run(1, 5, averaging_every(1));
    EXPECT_GT(largest_difference(whole.z(), to_double(short_of_one.z())), clearly)
        << name;
  }
}

}  // namespace
}  // namespace crossbow
