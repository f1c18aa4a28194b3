#include "kernels/activation.hpp"

#include "kernels/augment.hpp"
#include "kernels/elementwise.hpp"
#include "kernels/reference/activation.hpp"
#include "kernels/reference/elementwise.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// Empty, tiny, around vector lengths and around the block of a host work item.
const std::int64_t sizes[] = {0, 1, 3, 15, 16, 17, 1000, 4096, 4097, 12345};

/// Random values with zeros of both signs, infinities and NaN among them.
std::vector<float> special_values(std::int64_t size, std::uint64_t seed) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float specials[] = {0.0F, -0.0F, infinity, -infinity, NAN};
  std::vector<float> values = random_values(size, seed);
  for (std::size_t i = 0; i < values.size(); i += 11) {
    values[i] = specials[i / 11 % 5];
  }
  return values;
}

/// Expect equal values; NaN where NaN.
void expect_equal(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(expected[i])) {
      ASSERT_TRUE(std::isnan(actual[i])) << i;
    } else {
      ASSERT_EQ(actual[i], expected[i]) << i;
    }
  }
}

template <class Exec>
class ElementTest : public ::testing::Test {};
TYPED_TEST_SUITE(ElementTest, Spaces, TargetName);

TYPED_TEST(ElementTest, relu_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::int64_t n : sizes) {
    const std::vector<float> x = special_values(n, 1), dy = random_values(n, 2);
    std::vector<float> expected(x.size()), expected_dx(x.size());
    reference::relu_forward(n, x.data(), expected.data());
    reference::relu_backward(n, expected.data(), dy.data(), expected_dx.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy), y(exec, n), dx(exec, n);
    relu_forward(exec, x_there.view(), y.span());
    relu_backward(exec, y.view(), dy_there.view(), dx.span());
    expect_equal(y.values(), expected);
    expect_equal(dx.values(), expected_dx);
    relu_forward(exec, x_there.view(), x_there.span());  // in place
    relu_backward(exec, y.view(), dy_there.view(), dy_there.span());
    expect_equal(x_there.values(), expected);
    expect_equal(dy_there.values(), expected_dx);
  }
}

TYPED_TEST(ElementTest, tanh_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::int64_t n : sizes) {
    std::vector<float> x = random_values(n, 1);
    const std::vector<float> dy = random_values(n, 2);
    for (float& value : x) {
      value *= 8;  // to where tanh is 1
    }
    std::vector<double> expected(x.size()), expected_dx(x.size());
    reference::tanh_forward(n, to_double(x).data(), expected.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy), y(exec, n), dx(exec, n);
    tanh_forward(exec, x_there.view(), y.span());
    const std::vector<float> y_values = y.values();
    expect_close(y_values, expected, 4 * 0x1p-24, "y");  // a few units in the last place
    tanh_backward(exec, y.view(), dy_there.view(), dx.span());
    reference::tanh_backward(
        n, to_double(y_values).data(), to_double(dy).data(), expected_dx.data());
    expect_close(dx.values(), expected_dx, 4 * 0x1p-24, "dx");
  }
}

TYPED_TEST(ElementTest, leaky_relu_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  const float slope = 0.2F;
  for (const std::int64_t n : sizes) {
    const std::vector<float> x = special_values(n, 1), dy = random_values(n, 2);
    std::vector<float> expected(x.size()), expected_dx(x.size());
    reference::leaky_relu_forward(n, slope, x.data(), expected.data());
    reference::leaky_relu_backward(
        n, slope, expected.data(), dy.data(), expected_dx.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy), y(exec, n), dx(exec, n);
    leaky_relu_forward(exec, slope, x_there.view(), y.span());
    leaky_relu_backward(exec, slope, y.view(), dy_there.view(), dx.span());
    expect_equal(y.values(), expected);
    expect_equal(dx.values(), expected_dx);
    leaky_relu_backward(exec, slope, y.view(), dy_there.view(), dy_there.span());
    expect_equal(dy_there.values(), expected_dx);  // in place
  }
}

TYPED_TEST(ElementTest, sigmoid_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::int64_t n : sizes) {
    std::vector<float> x = random_values(n, 1);
    const std::vector<float> dy = random_values(n, 2);
    for (float& value : x) {
      value *= 120;  // to where exp overflows, and y is 0 or 1
    }
    std::vector<double> expected(x.size()), expected_dx(x.size());
    reference::sigmoid_forward(n, to_double(x).data(), expected.data());
    const Array<TypeParam> x_there(exec, x), dy_there(exec, dy), y(exec, n), dx(exec, n);
    sigmoid_forward(exec, x_there.view(), y.span());
    const std::vector<float> y_values = y.values();
    expect_close(y_values, expected, 4 * 0x1p-24, "y");
    sigmoid_backward(exec, y.view(), dy_there.view(), dx.span());
    reference::sigmoid_backward(
        n, to_double(y_values).data(), to_double(dy).data(), expected_dx.data());
    expect_close(dx.values(), expected_dx, 4 * 0x1p-24, "dx");
  }
  const Array<TypeParam> nan(exec, std::vector<float>{NAN});
  sigmoid_forward(exec, nan.view(), nan.span());
  EXPECT_TRUE(std::isnan(nan.values()[0]));
}

TYPED_TEST(ElementTest, nan_and_infinity_go_through_tanh) {
  const TypeParam exec = test_instance<TypeParam>();
  const float infinity = std::numeric_limits<float>::infinity();
  const Array<TypeParam> x(exec, std::vector<float>{NAN, infinity, -infinity});
  tanh_forward(exec, x.view(), x.span());
  const std::vector<float> y = x.values();
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], -1);
}

TYPED_TEST(ElementTest, add_and_copy_agree_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::int64_t n : sizes) {
    const std::vector<float> a = special_values(n, 1), b = random_values(n, 2);
    std::vector<float> sum(a.size());
    reference::add(n, a.data(), b.data(), sum.data());
    const Array<TypeParam> a_there(exec, a), b_there(exec, b), y(exec, n), z(exec, n);
    add(exec, a_there.view(), b_there.view(), y.span());
    expect_equal(y.values(), sum);
    copy(exec, a_there.view(), z.span());
    expect_same_bits(z.values(), a, "copy");
    reference::add_relu(n, a.data(), b.data(), sum.data());
    add_relu(exec, a_there.view(), b_there.view(), y.span());
    expect_equal(y.values(), sum);
    reference::add(n, a.data(), b.data(), sum.data());
    add(exec, a_there.view(), b_there.view(), b_there.span());  // into b
    expect_equal(b_there.values(), sum);
  }
}

TYPED_TEST(ElementTest, normalise_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const std::int64_t n : sizes) {
    std::vector<std::uint8_t> x(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<std::uint8_t>(i * 37);  // all bytes
    }
    std::vector<double> expected(x.size());
    const float scale = 1 / (255 * 0.3081F), shift = -0.1307F / 0.3081F;
    reference::normalise<double>(n, x.data(), scale, shift, expected.data());
    const Array<TypeParam, std::uint8_t> x_there(exec, x);
    const Array<TypeParam> y(exec, n);
    normalise(exec, x_there.view(), scale, shift, y.span());
    expect_close(y.values(), expected, 2 * 0x1p-24, "y");  // two roundings
  }
}

TEST(ActivationReference, gradients_by_finite_differences) {
  const std::int64_t n = 50;
  std::vector<double> x = to_double(random_values(n, 1));
  const std::vector<double> dy = to_double(random_values(n, 2));
  std::vector<double> y(x.size()), dx(x.size());
  const auto relu_loss = [&] {
    reference::relu_forward(n, x.data(), y.data());
    return weighted_sum(dy, y);
  };
  relu_loss();
  reference::relu_backward(n, y.data(), dy.data(), dx.data());
  expect_gradient(x, dx, relu_loss, "relu");
  const auto tanh_loss = [&] {
    reference::tanh_forward(n, x.data(), y.data());
    return weighted_sum(dy, y);
  };
  tanh_loss();
  reference::tanh_backward(n, y.data(), dy.data(), dx.data());
  expect_gradient(x, dx, tanh_loss, "tanh");
  const auto leaky_loss = [&] {
    reference::leaky_relu_forward(n, 0.2, x.data(), y.data());
    return weighted_sum(dy, y);
  };
  leaky_loss();
  reference::leaky_relu_backward(n, 0.2, y.data(), dy.data(), dx.data());
  expect_gradient(x, dx, leaky_loss, "leaky_relu");
  const auto sigmoid_loss = [&] {
    reference::sigmoid_forward(n, x.data(), y.data());
    return weighted_sum(dy, y);
  };
  sigmoid_loss();
  reference::sigmoid_backward(n, y.data(), dy.data(), dx.data());
  expect_gradient(x, dx, sigmoid_loss, "sigmoid");
}

// torch.nn.functional.leaky_relu(x, 0.2) and torch.sigmoid(x), PyTorch 2, with their
// derivatives.
TEST(ActivationReference, leaky_relu_and_sigmoid_are_pytorchs) {
  const std::vector<double> x = {-2, -0.5, 0, 0.5, 2}, ones(5, 1);
  const std::vector<double> leaky = {-0.4, -0.1, 0, 0.5, 2},
                            leaky_d = {0.2, 0.2, 0.2, 1, 1};
  const std::vector<double>
      sigmoid = {0.119202922022, 0.377540668798, 0.5, 0.622459331202, 0.880797077978},
      sigmoid_d = {0.104993585404, 0.235003712202, 0.25, 0.235003712202, 0.104993585404};
  std::vector<double> y(5), dx(5);
  reference::leaky_relu_forward(5, 0.2, x.data(), y.data());
  reference::leaky_relu_backward(5, 0.2, y.data(), ones.data(), dx.data());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(y[i], leaky[i], 1e-12);
    EXPECT_NEAR(dx[i], leaky_d[i], 1e-12);
  }
  reference::sigmoid_forward(5, x.data(), y.data());
  reference::sigmoid_backward(5, y.data(), ones.data(), dx.data());
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(y[i], sigmoid[i], 1e-12);
    EXPECT_NEAR(dx[i], sigmoid_d[i], 1e-12);
  }
}

}  // namespace
}  // namespace crossbow
