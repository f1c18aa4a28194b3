#include "averaging/stability.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "averaging/averaging_options.hpp"

namespace crossbow {
namespace {

double paper(int k, std::int64_t period) {
  return stability_limit({0.9, 0.9, 1.0 / k, k, period});
}

double automatic(int k, std::int64_t period) {
  return stability_limit({0.9, 0.5, 1.0 / (k + 1), k, period});
}

TEST(Stability, plain_sgd_with_momentum) {
  EXPECT_NEAR(stability_limit({0.9, 0.5, 0.5, 1, 0}), 3.8, 1e-9);
  EXPECT_NEAR(stability_limit({0, 0.9, 0.5, 4, 0}), 2, 1e-9);
}

// DESIGN 2.1 gives these to two digits.
TEST(Stability, figures_of_the_papers_options) {
  EXPECT_NEAR(paper(1, 1), 0.15, 0.005);
  EXPECT_NEAR(paper(2, 1), 0.25, 0.005);
  EXPECT_NEAR(paper(4, 1), 0.39, 0.005);
  for (const int k : {1, 2, 4}) {
    EXPECT_GT(paper(k, 4), 0.035) << k;
    EXPECT_LT(paper(k, 4), 0.075) << k;
  }
}

TEST(Stability, figures_of_the_automatic_options) {
  EXPECT_NEAR(automatic(1, 1), 2.7, 0.05);
  EXPECT_NEAR(automatic(2, 1), 3.0, 0.05);
  EXPECT_NEAR(automatic(4, 1), 3.3, 0.05);
}

TEST(Stability, without_pull_it_is_plain_sgd) {
  for (const std::int64_t period : {1, 3, 1000000}) {
    EXPECT_NEAR(stability_limit({0.9, 0.5, 0, 3, period}), 3.8, 1e-4) << period;
    EXPECT_NEAR(stability_limit({0, 0, 0, 1, period}), 2, 1e-4) << period;
  }
}

// Without momentum of learners and z, by hand: differences w -= (x + alpha) w; the mean's
// characteristic polynomial at -1 gives x < 2 (2 - alpha - k alpha) / (2 - k alpha).
TEST(Stability, no_momentum_at_all) {
  for (const int k : {2, 3, 8}) {
    const double alpha = 1.0 / (k + 1);
    const double mean = 2 * (2 - alpha - k * alpha) / (2 - k * alpha);
    const double differences = 2 - alpha;
    EXPECT_NEAR(stability_limit({0, 0, alpha, k, 1}), std::fmin(mean, differences), 1e-4)
        << k;
  }
}

// DESIGN 2.1: alpha (k + 1 + mu) < 2 (1 + mu) is what is stable without any gradient.
TEST(Stability, agrees_with_the_input_check) {
  for (const int k : {1, 2, 3, 8, 32}) {
    for (const double mu : {0.0, 0.5, 0.9}) {
      for (const double eta : {0.0, 0.9}) {
        const double limit = 2 * (1 + mu) / (k + 1 + mu);
        const double below = 0.98 * limit, above = 1.02 * limit;
        EXPECT_TRUE(is_stable(below, mu, k));
        EXPECT_GT(stability_limit({eta, mu, below, k, 1}), 0.01) << k << " " << mu;
        EXPECT_FALSE(is_stable(above, mu, k));
        EXPECT_EQ(stability_limit({eta, mu, above, k, 1}), 0) << k << " " << mu;
      }
    }
  }
}

/// k learners that start apart, by DESIGN 2.1 itself.
class Simulation {
 public:
  Simulation(const StabilityOptions& options, double x) : o_(options), x_(x) {
    for (int j = 0; j < o_.k; ++j) {
      w_.push_back(1 + 0.5 * j * j);
      v_.push_back(0);
    }
  }

  /// The largest |z| or |w| of the next `rounds`.
  double largest_of_next(int rounds) {
    double largest = 0;
    for (int i = 0; i < rounds; ++i) {
      round();
      largest = std::fmax(largest, std::abs(z_));
      for (const double w : w_) {
        largest = std::fmax(largest, std::abs(w));
      }
    }
    return largest;
  }

 private:
  void round() {
    const bool averages = o_.period > 0 && ++t_ % o_.period == 0;
    double sum = 0;
    for (std::size_t j = 0; j < w_.size(); ++j) {
      const double s = w_[j], c = averages ? o_.alpha * (s - z_) : 0;
      v_[j] = o_.eta * v_[j] + x_ * s;
      w_[j] = s - (o_.nesterov ? x_ * s + o_.eta * v_[j] : v_[j]) - c;
      sum += c;
    }
    if (averages) {
      const double next = z_ + sum + o_.mu * (z_ - z_prev_);
      z_prev_ = z_;
      z_ = next;
    }
  }

  StabilityOptions o_;
  double x_;
  std::vector<double> w_, v_;
  double z_ = -1, z_prev_ = 0.5;
  std::int64_t t_ = 0;
};

/// By how much the largest number of 300 rounds grows in 2000, once what dies out has.
double growth(const StabilityOptions& options, double x) {
  Simulation simulation(options, x);
  simulation.largest_of_next(2000);
  const double before = simulation.largest_of_next(300);
  simulation.largest_of_next(1700);
  return simulation.largest_of_next(300) / before;
}

TEST(Stability, is_where_simulated_learners_begin_to_diverge) {
  for (const int k : {1, 2, 3}) {
    for (const std::int64_t period : {1, 2, 4}) {
      for (const double mu : {0.0, 0.5, 0.9}) {
        const StabilityOptions options = {0.9, mu, 1.0 / (k + 1), k, period};
        const double limit = stability_limit(options);
        EXPECT_LT(growth(options, 0.98 * limit), 0.9) << k << " " << period << " " << mu;
        EXPECT_GT(growth(options, 1.02 * limit), 1.1) << k << " " << period << " " << mu;
      }
    }
  }
}

TEST(Stability, with_nesterov_is_where_simulated_learners_begin_to_diverge) {
  for (const int k : {1, 2}) {
    for (const std::int64_t period : {0, 1, 4}) {
      const StabilityOptions options = {0.9, 0.5, 1.0 / (k + 1), k, period, true};
      const double limit = stability_limit(options);
      // Without averaging z stays where it is, and is the largest when all else dies out.
      EXPECT_LE(growth(options, 0.98 * limit), period == 0 ? 1 : 0.9)
          << k << " " << period;
      EXPECT_GT(growth(options, 1.02 * limit), 1.1) << k << " " << period;
    }
  }
}

TEST(AveragingOptions, alpha_follows_k_unless_it_is_a_number) {
  AveragingOptions options;
  EXPECT_DOUBLE_EQ(alpha_of(options, 1), 0.5);
  EXPECT_DOUBLE_EQ(alpha_of(options, 4), 0.2);
  options.alpha_rule = AlphaRule::one_over_k;
  EXPECT_DOUBLE_EQ(alpha_of(options, 4), 0.25);
  options.alpha_rule = AlphaRule::number;
  options.alpha = 0.125;
  EXPECT_DOUBLE_EQ(alpha_of(options, 4), 0.125);
}

TEST(AveragingOptions, momentum_of_z_follows_that_of_the_learners_unless_it_is_given) {
  AveragingOptions options;
  EXPECT_DOUBLE_EQ(averaging_momentum_of(options, 0), 0.9);
  EXPECT_DOUBLE_EQ(averaging_momentum_of(options, 0.9), 0.5);
  options.momentum = 0;
  EXPECT_DOUBLE_EQ(averaging_momentum_of(options, 0.9), 0);
  EXPECT_DOUBLE_EQ(averaging_momentum_of(options, 0), 0);
}

}  // namespace
}  // namespace crossbow
