#include "averaging/stability.hpp"

#include <array>
#include <cmath>

namespace crossbow {
namespace {

/// The linear map of a round (or of several) on n numbers.
template <std::size_t n>
using Matrix = std::array<std::array<double, n>, n>;

template <std::size_t n>
Matrix<n> product(const Matrix<n>& a, const Matrix<n>& b) {
  Matrix<n> c{};
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (std::size_t l = 0; l < n; ++l) {
        c[i][j] += a[i][l] * b[l][j];
      }
    }
  }
  return c;
}

/// Divide `a` by its largest absolute row sum; give the logarithm of that.
template <std::size_t n>
double normalise(Matrix<n>& a) {
  double norm = 0;
  for (const auto& row : a) {
    double sum = 0;
    for (const double value : row) {
      sum += std::abs(value);
    }
    norm = sum <= norm ? norm : sum;  // a NaN stays
  }
  if (norm == 0) {
    return -HUGE_VAL;
  }
  for (auto& row : a) {
    for (double& value : row) {
      value /= norm;
    }
  }
  return std::log(norm);
}

/// log of the spectral radius, as lim |A^N|^(1/N) with N = 2^squarings, scaled so that
/// nothing overflows. A Jordan block makes it too large by log(N)/N.
template <std::size_t n>
double log_spectral_radius(Matrix<n> a) {
  constexpr int squarings = 40;
  double log_radius = normalise(a);
  double share = 1;  // of the next squaring's norm in that of A: 1/N
  for (int i = 0; i < squarings && std::isfinite(log_radius); ++i) {
    a = product(a, a);
    share /= 2;
    log_radius += share * normalise(a);
  }
  return log_radius;
}

/// tau rounds, of which the last averages. (What overflows here is not stable.)
template <std::size_t n>
Matrix<n> compose(Matrix<n> step, const Matrix<n>& averaging, std::int64_t tau) {
  Matrix<n> all = averaging;
  for (std::int64_t left = tau - 1; left > 0; left /= 2) {
    if (left % 2 == 1) {
      all = product(all, step);
    }
    step = product(step, step);
  }
  return all;
}

constexpr double tolerance = 1e-9;  // of log radius: rounding, and Jordan blocks

/// What a step takes from w: `of_w` times s and `of_v` times gamma v. With Nesterov's
/// momentum that is x s + eta (eta gamma v + x s).
struct StepShares {
  double of_w, of_v;
};

StepShares step_shares(const StabilityOptions& o, double x) {
  return o.nesterov ? StepShares{x * (1 + o.eta), o.eta * o.eta} : StepShares{x, o.eta};
}

/// Differences between replicas (w, gamma v): z has no part in them.
///   v = eta v + h s    w = s - gamma v - alpha s
bool differences_are_stable(const StabilityOptions& o, double x) {
  const auto [of_w, of_v] = step_shares(o, x);
  const Matrix<2> step = {{{1 - of_w, -of_v}, {x, o.eta}}};
  const Matrix<2> averaging = {{{1 - of_w - o.alpha, -of_v}, {x, o.eta}}};
  return log_spectral_radius(compose(step, averaging, o.period)) <= tolerance;
}

/// The mean of replicas with z (w, gamma v, z, z_prev).
///   w = s - gamma v - alpha (s - z)    z' = z + k alpha (s - z) + mu (z - z_prev)
bool mean_is_stable(const StabilityOptions& o, double x) {
  const double pull = o.k * o.alpha;
  const auto [of_w, of_v] = step_shares(o, x);
  const Matrix<4> step = {
      {{1 - of_w, -of_v, 0, 0}, {x, o.eta, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
  const Matrix<4> averaging = {{{1 - of_w - o.alpha, -of_v, o.alpha, 0},
                                {x, o.eta, 0, 0},
                                {pull, 0, 1 - pull + o.mu, -o.mu},
                                {0, 0, 1, 0}}};
  return log_spectral_radius(compose(step, averaging, o.period)) <= tolerance;
}

bool is_stable_at(const StabilityOptions& o, double x) {
  return mean_is_stable(o, x) && (o.k == 1 || differences_are_stable(o, x));
}

}  // namespace

double stability_limit(const StabilityOptions& options) {
  const double plain =
      2 * (1 + options.eta) / (options.nesterov ? 1 + 2 * options.eta : 1);
  if (options.period == 0) {
    return plain;
  }
  // Upwards to the first step that is too large, as stable ones may come again beyond it.
  // No pull makes plain SGD's limit more than twice as large.
  constexpr double first = 1e-6, factor = 1.01;
  double stable = 0, unstable = first;
  while (unstable < 4 * plain && is_stable_at(options, unstable)) {
    stable = unstable;
    unstable *= factor;
  }
  if (stable == 0) {
    return 0;
  }
  while (unstable - stable > 1e-6 * stable) {
    const double middle = (stable + unstable) / 2;
    (is_stable_at(options, middle) ? stable : unstable) = middle;
  }
  return stable;
}

}  // namespace crossbow
