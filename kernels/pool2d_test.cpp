#include "kernels/pool2d.hpp"

#include <numeric>

#include "kernels/reference/pool2d.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

struct NamedShape {
  const char* name;
  Pool2dShape shape;
};

// n, h, w, c, size, stride, kind, relu, padding, ceil
const std::vector<NamedShape> shapes = {
    {"one value", {1, 1, 1, 1, 1, 1, PoolKind::max, false}},
    {"LeNet's first", {2, 24, 24, 32, 2, 2, PoolKind::max, true}},
    {"LeNet's second", {3, 8, 8, 64, 2, 2, PoolKind::max, false}},
    {"2x2, odd image", {2, 7, 9, 19, 2, 2, PoolKind::max, true}},
    {"2x2, one channel", {3, 6, 4, 1, 2, 2, PoolKind::max, true}},
    {"2x2 overlapping", {2, 5, 6, 17, 2, 1, PoolKind::max, false}},
    {"ResNet's stem", {1, 11, 12, 33, 3, 2, PoolKind::max, true}},
    {"3x3 side by side", {2, 10, 9, 5, 3, 3, PoolKind::max, false}},
    {"stride over the window", {1, 9, 10, 16, 2, 3, PoolKind::max, true}},
    {"largest window", {1, 16, 15, 3, 15, 1, PoolKind::max, false}},
    {"average 2x2", {2, 8, 6, 16, 2, 2, PoolKind::average, false}},
    {"average, odd image", {1, 7, 5, 3, 2, 2, PoolKind::average, false}},
    {"average overlapping", {2, 9, 9, 20, 3, 2, PoolKind::average, false}},
    {"average of all", {3, 8, 8, 64, 8, 8, PoolKind::average, false}},
    {"ResNet's stem, padded", {2, 12, 11, 20, 3, 2, PoolKind::max, true, 1}},
    {"padded 2x2", {1, 6, 8, 17, 2, 2, PoolKind::max, false, 1}},
    {"GoogLeNet's", {1, 8, 7, 5, 3, 2, PoolKind::max, false, 0, true}},
    {"2x2, rounded up", {2, 7, 6, 16, 2, 2, PoolKind::max, true, 0, true}},
    {"padded, rounded up", {1, 5, 6, 3, 2, 3, PoolKind::max, false, 1, true}},
    {"inception's", {1, 7, 7, 18, 3, 1, PoolKind::average, false, 1}},
    {"average, rounded up", {2, 6, 5, 3, 3, 2, PoolKind::average, false, 0, true}},
    {"average, padded, rounded up",
     {1, 5, 6, 2, 4, 3, PoolKind::average, false, 1, true}},
};

/// Inputs of a pooling layer and what the reference makes of them in double.
struct Truth {
  explicit Truth(const Pool2dShape& s)
      : Truth(s, random_values(s.input_size(), 1), random_values(s.output_size(), 2)) {}

  Truth(const Pool2dShape& s, std::vector<float> input, std::vector<float> gradient)
      : x(std::move(input)), dy(std::move(gradient)), y(dy.size()), dx(x.size()) {
    std::vector<std::int64_t> at(y.size());
    reference::pool2d_forward(s, to_double(x).data(), y.data(), at.data());
    reference::pool2d_backward(s, to_double(dy).data(), at.data(), dx.data());
  }

  std::vector<float> x, dy;
  std::vector<double> y, dx;
};

struct Results {
  std::vector<float> y, dx;
};

template <class Exec>
Results run_both(const Exec& exec, Pool2d<Exec>& pool, const Truth& truth) {
  const Array<Exec> x(exec, truth.x), dy(exec, truth.dy);
  const Array<Exec> y(exec, static_cast<std::int64_t>(truth.y.size())),
      dx(exec, static_cast<std::int64_t>(truth.x.size()));
  pool.forward(exec, x.view(), y.span());
  pool.backward(exec, dy.view(), dx.span());
  return {y.values(), dx.values()};
}

template <class Target>
class Pool2dTest : public ::testing::Test {};
TYPED_TEST_SUITE(Pool2dTest, Targets, TargetName);

TYPED_TEST(Pool2dTest, agrees_with_reference) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const auto& [name, s] : shapes) {
    SCOPED_TRACE(name);
    const auto pool = make_pool2d(exec, {s, TypeParam::kernels});
    const Truth truth(s);
    const Results results = run_both(exec, *pool, truth);
    // Maxima are exact; sums have size² terms, and as many windows as hold a pixel.
    const bool average = s.kind == PoolKind::average;
    expect_close(results.y, truth.y, average ? sum_tolerance(s.size * s.size) : 0, "y");
    expect_close(results.dx, truth.dx, sum_tolerance(s.size * s.size), "dx");
  }
}

TYPED_TEST(Pool2dTest, first_of_equal_maxima_gets_the_gradient) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (auto [name, s] : shapes) {
    SCOPED_TRACE(name);
    if (s.kind == PoolKind::average) {
      continue;
    }
    // Values -1, 0, 1: every window has equal maxima, some with ReLU at zero.
    std::vector<float> x = random_values(s.input_size(), 3);
    for (float& value : x) {
      value = std::round(value);
    }
    const auto pool = make_pool2d(exec, {s, TypeParam::kernels});
    const Truth truth(s, x, random_values(s.output_size(), 4));
    const Results results = run_both(exec, *pool, truth);
    expect_close(results.y, truth.y, 0, "y");
    expect_close(results.dx, truth.dx, sum_tolerance(s.size * s.size), "dx");
  }
}

TYPED_TEST(Pool2dTest, nan_is_the_largest) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const std::int64_t size : {2, 3}) {
    for (const std::int64_t place : {0, 1, 2, 3}) {
      const Pool2dShape s{1, size, size, 2, size, size, PoolKind::max, false};
      std::vector<float> x(static_cast<std::size_t>(s.input_size()), 5);
      x[static_cast<std::size_t>(2 * place + 1)] = NAN;  // of channel 1
      const auto pool = make_pool2d(exec, {s, TypeParam::kernels});
      const Truth truth(s, x, {1, 1});
      const Results results = run_both(exec, *pool, truth);
      EXPECT_EQ(results.y[0], 5);
      EXPECT_TRUE(std::isnan(results.y[1])) << "place " << place;
      EXPECT_EQ(results.dx[0], 1);
      EXPECT_EQ(results.dx[static_cast<std::size_t>(2 * place + 1)], 1);
    }
  }
}

TYPED_TEST(Pool2dTest, is_reproducible) {
  using Exec = typename TypeParam::Exec;
  for (const auto& [name, s] : shapes) {
    SCOPED_TRACE(name);
    const Truth truth(s);
    const Exec exec = test_instance<Exec>(), other = test_instance<Exec>();
    const auto pool = make_pool2d(exec, {s, TypeParam::kernels});
    const auto again = make_pool2d(other, {s, TypeParam::kernels});
    const Results first = run_both(exec, *pool, truth);
    const Results second = run_both(other, *again, truth);
    expect_same_bits(first.y, second.y, "y");
    expect_same_bits(first.dx, second.dx, "dx");
  }
}

template <class Exec>
class Pool2dSpaceTest : public ::testing::Test {};
TYPED_TEST_SUITE(Pool2dSpaceTest, Spaces, TargetName);

TYPED_TEST(Pool2dSpaceTest, nan_goes_through_relu) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::int64_t size : {2, 3}) {
    const Pool2dShape s{1, size, size, 1, size, size, PoolKind::max, true};
    std::vector<float> x(static_cast<std::size_t>(s.input_size()), -1);
    x[2] = NAN;
    const auto pool = make_pool2d(exec, {s, KernelSet::kokkos});
    const Results results = run_both(exec, *pool, Truth(s, x, {1}));
    EXPECT_TRUE(std::isnan(results.y[0]));
    EXPECT_EQ(results.dx[2], 1);
  }
}

TYPED_TEST(Pool2dSpaceTest, minus_infinity_is_a_maximum_too) {
  const TypeParam exec = test_instance<TypeParam>();
  const float low = -std::numeric_limits<float>::infinity();
  const Pool2dShape s{1, 2, 2, 1, 2, 2, PoolKind::max, false};
  const auto pool = make_pool2d(exec, {s, KernelSet::kokkos});
  const Results results = run_both(exec, *pool, Truth(s, {low, low, low, low}, {1}));
  EXPECT_EQ(results.y[0], low);
  EXPECT_EQ(results.dx, (std::vector<float>{1, 0, 0, 0}));
}

TYPED_TEST(Pool2dSpaceTest, empty_batch) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const PoolKind kind : {PoolKind::max, PoolKind::average}) {
    const Pool2dShape s{0, 4, 4, 3, 2, 2, kind, false};
    const auto pool = make_pool2d(exec, {s, KernelSet::kokkos});
    EXPECT_TRUE(run_both(exec, *pool, Truth(s)).y.empty());
  }
}

TYPED_TEST(Pool2dSpaceTest, global_average_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  // n, h, w, c
  const Pool2dShape cases[] = {
      {1, 1, 1, 1}, {3, 8, 8, 64}, {2, 7, 5, 23}, {1, 4, 4, 10}, {0, 3, 3, 3}};
  for (const Pool2dShape& s : cases) {
    SCOPED_TRACE(s.c);
    const std::vector<float> x = random_values(s.input_size(), 1);
    const std::vector<float> dy = random_values(s.n * s.c, 2);
    std::vector<double> y(dy.size()), dx(x.size());
    reference::global_average_forward(s, to_double(x).data(), y.data());
    reference::global_average_backward(s, to_double(dy).data(), dx.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy), y_there(exec, s.n * s.c),
        dx_there(exec, s.input_size());
    global_average_forward(exec, s, x_there.view(), y_there.span());
    global_average_backward(exec, s, dy_there.view(), dx_there.span());
    expect_close(y_there.values(), y, sum_tolerance(s.h * s.w), "y");
    expect_close(dx_there.values(), dx, sum_tolerance(1), "dx");
  }
}

TEST(Pool2dReference, worked_example) {
  const Pool2dShape s{1, 2, 3, 1, 2, 1, PoolKind::max, true};
  const double x[6] = {1,
                       3,
                       -1,  //
                       3,
                       2,
                       -1};
  double y[2];
  std::int64_t at[2];
  reference::pool2d_forward(s, x, y, at);
  EXPECT_EQ(y[0], 3);
  EXPECT_EQ(at[0], 1);  // the first 3
  EXPECT_EQ(y[1], 3);
  EXPECT_EQ(at[1], 1);
  const double dy[2] = {10, 100};
  double dx[6];
  reference::pool2d_backward(s, dy, at, dx);
  EXPECT_EQ(dx[1], 110);
  EXPECT_EQ(dx[3], 0);
}

/// y and dx of x_i = i * 7 mod 30 - 11.5 (1, 5, 6, 1) and dy = 1, 2, 3, ...
struct PyTorchCase {
  const char* call;
  Pool2dShape shape;
  std::vector<double> y, dx;
};

Pool2dShape five_by_six(PoolKind kind,
                        std::int64_t size,
                        std::int64_t stride,
                        std::int64_t padding,
                        bool ceil) {
  return {1, 5, 6, 1, size, stride, kind, false, ceil, padding};
}

// torch.nn.functional, PyTorch 2; averages in ninths of a value, so that they are exact.
const std::vector<PyTorchCase> pytorch_cases = {
    {"max_pool2d(x, 3, 2, 1)",
     five_by_six(PoolKind::max, 3, 2, 1, false),
     {7.5, 14.5, 16.5, 12.5, 15.5, 17.5, 13.5, 15.5, 15.5},
     {0, 0, 0, 0, 3, 0, 0,  1, 2, 0, 0, 0, 4, 0, 0,
      0, 0, 6, 0, 0, 0, 22, 0, 0, 0, 7, 0, 0, 0, 0}},
    {"max_pool2d(x, 3, 2, ceil_mode=True)",
     five_by_six(PoolKind::max, 3, 2, 0, true),
     {14.5, 16.5, 17.5, 13.5, 15.5, 17.5},
     {0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0,
      0, 0, 9, 0, 0, 0, 5, 0, 0, 0, 4, 0, 0, 0, 0}},
    {"max_pool2d(x, 2, 3, 1, ceil_mode=True)",
     five_by_six(PoolKind::max, 2, 3, 1, true),
     {-11.5, 9.5, -6.5, 12.5, 15.5, 17.5},
     {1, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0,
      0, 0, 6, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0}},
    {"avg_pool2d(x, 3, 2, 1)",
     five_by_six(PoolKind::average, 3, 2, 1, false),
     {-8.0 / 9, 21.0 / 9, 15.0 / 9, 6.0 / 9, 28.5 / 9, 34.5 / 9, 16.0 / 9, 3, 21.0 / 9},
     {1.0 / 9, 3.0 / 9,  2.0 / 9,  5.0 / 9,  3.0 / 9,  3.0 / 9,  5.0 / 9,  12.0 / 9,
      7.0 / 9, 16.0 / 9, 1,        1,        4.0 / 9,  1,        5.0 / 9,  11.0 / 9,
      6.0 / 9, 6.0 / 9,  11.0 / 9, 24.0 / 9, 13.0 / 9, 28.0 / 9, 15.0 / 9, 15.0 / 9,
      7.0 / 9, 15.0 / 9, 8.0 / 9,  17.0 / 9, 1,        1}},
    {"avg_pool2d(x, 2, 3, 1, ceil_mode=True)",
     five_by_six(PoolKind::average, 2, 3, 1, true),
     {-2.875, 3, -1.625, 1.75, 6, 4.25},
     {0.25, 0, 0.5, 0.5, 0, 0.75, 0,    0, 0,   0, 0, 0, 1, 0, 1.25,
      1.25, 0, 1.5, 1,   0, 1.25, 1.25, 0, 1.5, 0, 0, 0, 0, 0, 0}},
    {"avg_pool2d(x, 4, 3, 1, ceil_mode=True)",
     five_by_six(PoolKind::average, 4, 3, 1, true),
     {0.46875, 3.75, 2.0625, 0.84375, 3, 3.5625},
     {0.0625, 0.0625, 0.1875, 0.125,  0.125, 0.5,    0.0625, 0.0625, 0.1875, 0.125,
      0.125,  0.5,    0.3125, 0.3125, 0.75,  0.4375, 0.4375, 1.5625, 0.25,   0.25,
      0.5625, 0.3125, 0.3125, 1.0625, 0.25,  0.25,   0.5625, 0.3125, 0.3125, 1.0625}},
};

TEST(Pool2dReference, padding_and_ceil_are_pytorchs) {
  std::vector<double> x(30);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<double>(i * 7 % 30) - 11.5;
  }
  for (const PyTorchCase& c : pytorch_cases) {
    SCOPED_TRACE(c.call);
    ASSERT_EQ(static_cast<std::size_t>(c.shape.output_size()), c.y.size());
    std::vector<double> y(c.y.size()), dy(c.y.size()), dx(x.size());
    std::vector<std::int64_t> at(y.size());
    std::iota(dy.begin(), dy.end(), 1.0);
    reference::pool2d_forward(c.shape, x.data(), y.data(), at.data());
    reference::pool2d_backward(c.shape, dy.data(), at.data(), dx.data());
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(y[i], c.y[i], 1e-12) << "y " << i;
    }
    for (std::size_t i = 0; i < dx.size(); ++i) {
      EXPECT_NEAR(dx[i], c.dx[i], 1e-12) << "dx " << i;
    }
  }
}

TEST(Pool2dReference, gradients_by_finite_differences) {
  for (const auto& [name, s] : shapes) {
    SCOPED_TRACE(name);
    if (s.input_size() > 4000) {
      continue;
    }
    // Values at least 2e-3 from each other and from zero, so that no step of the
    // differences changes a maximum: a permutation of a grid.
    std::vector<double> x(static_cast<std::size_t>(s.input_size()));
    const auto count = static_cast<std::int64_t>(x.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t place = i * 7919 % count - count / 2;  // a prime over any count
      x[static_cast<std::size_t>(i)] = 2e-3 * (static_cast<double>(place) + 0.5);
    }
    const std::vector<double> dy = to_double(random_values(s.output_size(), 2));
    std::vector<double> y(dy.size()), dx(x.size());
    std::vector<std::int64_t> at(y.size());
    const auto loss = [&, &s = s] {
      reference::pool2d_forward(s, x.data(), y.data(), at.data());
      return weighted_sum(dy, y);
    };
    loss();
    reference::pool2d_backward(s, dy.data(), at.data(), dx.data());
    expect_gradient(x, dx, loss, "dx");
  }
}

TEST(Pool2dReference, global_average_gradient_by_finite_differences) {
  const Pool2dShape s{2, 3, 2, 3};
  std::vector<double> x = to_double(random_values(s.input_size(), 1));
  const std::vector<double> dy = to_double(random_values(s.n * s.c, 2));
  std::vector<double> y(dy.size()), dx(x.size());
  reference::global_average_backward(s, dy.data(), dx.data());
  const auto loss = [&] {
    reference::global_average_forward(s, x.data(), y.data());
    return weighted_sum(dy, y);
  };
  expect_gradient(x, dx, loss, "dx");
}

}  // namespace
}  // namespace crossbow
