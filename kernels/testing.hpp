#pragma once
// Helpers of the kernel tests: spaces to run on, arrays there, values, comparisons with
// the reference twins and gradients by finite differences.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

#include "kernels/instance.hpp"
#include "kernels/spaces.hpp"
#include "kernels/weight_layout.hpp"

namespace crossbow::testing {

/// What a typed test runs on.
template <class Space, KernelSet set>
struct Target {
  using Exec = Space;
  static constexpr KernelSet kernels = set;
};

// clang-format off
using Targets = ::testing::Types<
    Target<Kokkos::Serial, KernelSet::kokkos>,
    Target<Kokkos::Serial, KernelSet::vendor>
#ifdef KOKKOS_ENABLE_OPENMP
    , Target<Kokkos::OpenMP, KernelSet::kokkos>,
    Target<Kokkos::OpenMP, KernelSet::vendor>
#endif
#ifdef KOKKOS_ENABLE_CUDA
    , Target<Kokkos::Cuda, KernelSet::kokkos>,
    Target<Kokkos::Cuda, KernelSet::vendor>
#endif
    >;
using Spaces = ::testing::Types<
    Kokkos::Serial
#ifdef KOKKOS_ENABLE_OPENMP
    , Kokkos::OpenMP
#endif
#ifdef KOKKOS_ENABLE_CUDA
    , Kokkos::Cuda
#endif
    >;
// clang-format on

/// Names of typed tests: Serial, OpenMP_vendor.
struct TargetName {
  template <class T>
  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest's
  static std::string GetName(int) {
    if constexpr (requires { T::kernels; }) {
      const bool vendor = T::kernels == KernelSet::vendor;
      return std::string(T::Exec::name()) + (vendor ? "_vendor" : "_kokkos");
    } else {
      return T::name();
    }
  }
};

/// Threads of host instances: two, so that results must not depend on who does what.
inline constexpr int test_threads = 2;

/// An instance of its own for a test; vendor libraries get as many threads.
template <class Exec>
Exec test_instance() {
  const bool several = !std::is_same_v<Exec, Kokkos::Serial>;
  set_thread_count(several ? test_threads : 1);
  return make_instance<Exec>(several ? test_threads : 1);
}

/// An array in the memory of Exec.
template <class Exec, class T = float>
class Array {
 public:
  /// `size` NaNs (or largest integers): a kernel that leaves something out is found.
  Array(const Exec& exec, std::int64_t size) : Array(exec, unwritten(size)) {}

  Array(const Exec& exec, const std::vector<T>& values)
      : exec_(exec), data_(make_buffer<T>(exec, "crossbow::test_array", values.size())) {
    const Kokkos::View<const T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> source(
        values.data(), values.size());
    Kokkos::deep_copy(exec_, data_, source);
    exec_.fence("crossbow::testing::Array");  // `values` may go away
  }

  Span<Exec, T> span() const { return data_; }
  ConstSpan<Exec, T> view() const { return data_; }

  /// A copy on the host; waits for the instance.
  std::vector<T> values() const {
    std::vector<T> values(data_.size());
    const Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> target(
        values.data(), values.size());
    Kokkos::deep_copy(exec_, target, data_);
    exec_.fence("crossbow::testing::Array::values");
    return values;
  }

 private:
  static std::vector<T> unwritten(std::int64_t size) {
    using Limits = std::numeric_limits<T>;
    return std::vector<T>(static_cast<std::size_t>(size),
                          Limits::has_quiet_NaN ? Limits::quiet_NaN() : Limits::max());
  }

  Exec exec_;
  Buffer<Exec, T> data_;
};

/// `size` numbers in [-1, 1), the same for the same seed; every one a float.
inline std::vector<float> random_values(std::int64_t size, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 2 * random_uniform(seed, RandomPurpose::initialise, 0, i) - 1;
  }
  return values;
}

inline std::vector<double> to_double(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

/// dy set to 0 where y <= 0: what a layer with a fused ReLU expects in backward.
template <class Real>
std::vector<Real> masked(std::vector<Real> dy, const std::vector<Real>& y) {
  for (std::size_t i = 0; i < dy.size(); ++i) {
    dy[i] = y[i] <= 0 ? 0 : dy[i];
  }
  return dy;
}

/// Tolerance of a float sum of `terms` products against the sum in double, relative to
/// the largest result. Each addition rounds a partial sum not much larger than that by at
/// most u = 2^-24, in unrelated directions, so the errors grow as sqrt(terms); 16 of
/// these standard deviations are never met by chance, and a wrong or missing term is far
/// larger.
inline double sum_tolerance(std::int64_t terms) {
  return 16 * 0x1p-24 * std::sqrt(static_cast<double>(terms) + 1);
}

/// Expect |actual - expected| <= tolerance max(1, largest |expected|) everywhere; prints
/// the first violation only.
inline void expect_close(const std::vector<float>& actual,
                         const std::vector<double>& expected,
                         double tolerance,
                         const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double scale = 1;
  for (const double value : expected) {
    scale = std::fmax(scale, std::abs(value));
  }
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const double error = std::abs(static_cast<double>(actual[i]) - expected[i]);
    if (!(error <= tolerance * scale)) {  // also where NaN
      ADD_FAILURE() << what << " [" << i << "] of " << actual.size() << " is "
                    << actual[i] << ", not " << expected[i] << " (tolerance "
                    << tolerance * scale << ")";
      return;
    }
  }
}

/// Expect equal bits, so that NaN equals itself and 0 differs from -0.
template <class T>
void expect_same_bits(const std::vector<T>& a,
                      const std::vector<T>& b,
                      const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0)
      << what << " differs";
}

/// Expect that `gradient` is d loss / d values by central differences, to 1e-6 of
/// max(1, |gradient|). With a step of 1e-4 the differences have an error of step² / 6
/// times the third derivative, 2e-9, and rounding of 1e-16 / step = 1e-12.
inline void expect_gradient(std::vector<double>& values,
                            const std::vector<double>& gradient,
                            const std::function<double()>& loss,
                            const std::string& what) {
  ASSERT_EQ(values.size(), gradient.size()) << what;
  constexpr double step = 1e-4;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    values[i] = value + step;
    const double above = loss();
    values[i] = value - step;
    const double below = loss();
    values[i] = value;
    const double difference = (above - below) / (2 * step);
    EXPECT_NEAR(gradient[i], difference, 1e-6 * std::fmax(1, std::abs(difference)))
        << what << " [" << i << "]";
  }
}

/// The loss of gradient tests: sum of weights times results.
inline double weighted_sum(const std::vector<double>& weights,
                           const std::vector<double>& results) {
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i] * results[i];
  }
  return sum;
}

/// Weights from the exchange layout to `layout`, and back.
inline std::vector<float> packed(const WeightLayout& layout,
                                 const std::vector<float>& exchange) {
  const float unwritten = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> own(static_cast<std::size_t>(layout.size()), unwritten);
  layout.pack(exchange, own);
  return own;
}

inline std::vector<float> unpacked(const WeightLayout& layout,
                                   const std::vector<float>& own,
                                   std::int64_t size) {
  std::vector<float> exchange(static_cast<std::size_t>(size));
  layout.unpack(own, exchange);
  return exchange;
}

/// Expect that pack and unpack lose nothing and that padding is zero.
inline void expect_lossless(const WeightLayout& layout, std::int64_t size) {
  std::vector<float> exchange(static_cast<std::size_t>(size));
  double sum = 0;
  for (std::size_t i = 0; i < exchange.size(); ++i) {
    exchange[i] = static_cast<float>(i + 1);  // all different, none zero
    sum += exchange[i];
  }
  const std::vector<float> own = packed(layout, exchange);
  expect_same_bits(unpacked(layout, own, size), exchange, "unpack(pack(weight))");
  double own_sum = 0;  // exact: integers below 2^53; NaN if an element was left out
  for (const float value : own) {
    own_sum += value;
  }
  EXPECT_EQ(own_sum, sum) << "padding is not zero";
}

}  // namespace crossbow::testing
