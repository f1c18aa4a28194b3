#include "kernels/conv2d.hpp"

#include <ostream>

#include "kernels/conv2d_device.hpp"
#include "kernels/element_loop.hpp"
#include "kernels/reference/conv2d.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

struct NamedShape {
  const char* name;
  Conv2dShape shape;
};

// n, h, w, c, filters, kernel, stride, pad_begin, pad_end, bias, relu, groups, dilation
const std::vector<NamedShape> shapes = {
    {"one value", {1, 1, 1, 1, 1, 1, 1, 0, 0, true, false}},
    {"one channel, padded", {1, 5, 5, 1, 1, 3, 1, 1, 1, true, false}},
    {"LeNet's first", {2, 28, 28, 1, 32, 5, 1, 0, 0, true, true}},
    {"LeNet's second", {1, 12, 12, 32, 64, 5, 1, 0, 0, true, false}},
    {"ResNet's block", {2, 8, 8, 16, 16, 3, 1, 1, 1, false, false}},
    {"ResNet's stride", {3, 8, 8, 16, 32, 3, 2, 1, 1, false, true}},
    {"odd and lopsided", {3, 9, 7, 5, 17, 3, 2, 0, 1, true, true}},
    {"even kernel", {1, 6, 11, 2, 19, 4, 2, 1, 2, true, false}},
    {"projection", {2, 7, 7, 12, 20, 1, 2, 0, 0, false, false}},
    {"window beyond the image", {1, 2, 2, 3, 5, 5, 1, 2, 2, true, false}},
    {"one output pixel", {5, 7, 7, 4, 20, 7, 1, 0, 0, true, false}},
    {"stride over the kernel", {2, 10, 10, 3, 16, 2, 3, 0, 0, true, false}},
    {"many channels", {1, 3, 4, 130, 33, 3, 1, 1, 1, true, false}},
    {"two groups", {2, 6, 7, 6, 10, 3, 1, 1, 1, true, true, 2}},
    {"groups of a vector", {1, 6, 6, 32, 64, 3, 2, 1, 1, false, false, 2}},
    {"1x1 groups", {2, 5, 4, 12, 9, 1, 2, 0, 0, true, false, 3}},
    {"depthwise", {2, 9, 8, 35, 35, 3, 1, 1, 1, true, true, 35}},
    {"depthwise, strided", {1, 8, 9, 16, 16, 5, 2, 2, 2, false, false, 16}},
    {"two filters a channel", {2, 5, 6, 4, 8, 3, 1, 1, 1, true, false, 4}},
    {"dilated", {2, 9, 8, 5, 18, 3, 1, 2, 2, true, true, 1, 2}},
    {"dilated, lopsided", {1, 11, 9, 3, 16, 2, 2, 1, 2, true, false, 1, 3}},
    {"dilated groups", {2, 10, 9, 6, 4, 3, 2, 2, 2, true, false, 2, 2}},
    {"dilated depthwise", {1, 9, 9, 17, 17, 3, 1, 3, 3, false, true, 17, 3}},
    {"dilated beyond the image", {1, 3, 4, 2, 3, 3, 1, 4, 4, true, false, 1, 4}},
};

/// Inputs of a convolution and what the reference makes of them in double.
struct Truth {
  explicit Truth(const Conv2dShape& s)
      : x(random_values(s.input_size(), 1)),
        weight(random_values(s.weight_size(), 2)),
        bias(random_values(s.bias ? s.filters : 0, 3)),
        y(static_cast<std::size_t>(s.output_size())),
        dx(x.size()),
        dweight(weight.size()),
        dbias(bias.size()) {
    reference::conv2d_forward(s,
                              to_double(x).data(),
                              to_double(weight).data(),
                              to_double(bias).data(),
                              y.data());
    dy = random_values(s.output_size(), 4);
    if (s.relu) {
      dy = masked(dy, std::vector<float>(y.begin(), y.end()));
    }
    reference::conv2d_backward_data(
        s, to_double(dy).data(), to_double(weight).data(), dx.data());
    reference::conv2d_backward_weight(
        s, to_double(x).data(), to_double(dy).data(), dweight.data(), dbias.data());
  }

  std::vector<float> x, weight, bias, dy;
  std::vector<double> y, dx, dweight, dbias;
};

/// Run all three operations and compare.
template <class Exec>
void expect_truth(const Exec& exec, Conv2d<Exec>& conv, const Conv2dShape& s) {
  const Truth truth(s);
  const auto layout = conv.weight_layout();
  const Array<Exec> x(exec, truth.x), weight(exec, packed(*layout, truth.weight)),
      bias(exec, truth.bias), dy(exec, truth.dy);
  const Array<Exec> y(exec, s.output_size()), dx(exec, s.input_size()),
      dweight(exec, layout->size()), dbias(exec, s.bias ? s.filters : 0);
  conv.forward(exec, x.view(), weight.view(), bias.view(), y.span());
  conv.backward_data(exec, dy.view(), weight.view(), dx.span());
  conv.backward_weight(exec, x.view(), dy.view(), dweight.span(), dbias.span());

  const std::int64_t window = s.kernel * s.kernel;
  const std::int64_t pixels = s.n * s.out_h() * s.out_w();
  expect_close(y.values(), truth.y, sum_tolerance(window * s.c), "y");
  expect_close(dx.values(), truth.dx, sum_tolerance(window * s.filters), "dx");
  expect_close(unpacked(*layout, dweight.values(), s.weight_size()),
               truth.dweight,
               sum_tolerance(pixels),
               "dweight");
  expect_close(dbias.values(), truth.dbias, sum_tolerance(pixels), "dbias");
}

template <class Target>
class Conv2dTest : public ::testing::Test {};
TYPED_TEST_SUITE(Conv2dTest, Targets, TargetName);

TYPED_TEST(Conv2dTest, agrees_with_reference) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const NamedShape& named : shapes) {
    SCOPED_TRACE(named.name);
    const auto conv =
        make_conv2d(exec, {named.shape, TypeParam::kernels, false, nullptr});
    expect_truth(exec, *conv, named.shape);
  }
}

TYPED_TEST(Conv2dTest, layout_is_lossless) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const NamedShape& named : shapes) {
    SCOPED_TRACE(named.name);
    const auto conv =
        make_conv2d(exec, {named.shape, TypeParam::kernels, false, nullptr});
    expect_lossless(*conv->weight_layout(), named.shape.weight_size());
  }
}

TYPED_TEST(Conv2dTest, inference_takes_the_layout_of_training) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const NamedShape& named : shapes) {
    SCOPED_TRACE(named.name);
    Conv2dShape s = named.shape;
    const auto layout =
        make_conv2d(exec, {s, TypeParam::kernels, false, nullptr})->weight_layout();
    s.n = 7;
    const Truth truth(s);
    const auto conv = make_conv2d(exec, {s, TypeParam::kernels, true, layout});
    EXPECT_EQ(conv->weight_layout(), layout);
    const Array<Exec> x(exec, truth.x), weight(exec, packed(*layout, truth.weight)),
        bias(exec, truth.bias), y(exec, s.output_size());
    conv->forward(exec, x.view(), weight.view(), bias.view(), y.span());
    expect_close(y.values(), truth.y, sum_tolerance(s.kernel * s.kernel * s.c), "y");
  }
}

TYPED_TEST(Conv2dTest, is_reproducible) {
  using Exec = typename TypeParam::Exec;
  const Conv2dShape s{6, 13, 13, 9, 35, 3, 1, 1, 1, true, true};
  const Truth truth(s);
  std::vector<float> first[3];
  for (int run = 0; run < 3; ++run) {
    const Exec exec = test_instance<Exec>();
    const auto conv = make_conv2d(exec, {s, TypeParam::kernels, false, nullptr});
    const auto layout = conv->weight_layout();
    const Array<Exec> x(exec, truth.x), weight(exec, packed(*layout, truth.weight)),
        bias(exec, truth.bias), dy(exec, truth.dy);
    const Array<Exec> y(exec, s.output_size()), dx(exec, s.input_size()),
        dweight(exec, layout->size()), dbias(exec, s.filters);
    conv->forward(exec, x.view(), weight.view(), bias.view(), y.span());
    conv->backward_data(exec, dy.view(), weight.view(), dx.span());
    conv->backward_weight(exec, x.view(), dy.view(), dweight.span(), dbias.span());
    std::vector<float> gradients = dweight.values();
    const std::vector<float> bias_gradient = dbias.values();
    gradients.insert(gradients.end(), bias_gradient.begin(), bias_gradient.end());
    const std::vector<float> now[3] = {y.values(), dx.values(), gradients};
    for (int i = 0; i < 3; ++i) {
      if (run == 0) {
        first[i] = now[i];
      }
      expect_same_bits(now[i], first[i], "result " + std::to_string(i));
    }
  }
}

TYPED_TEST(Conv2dTest, nan_reaches_exactly_the_outputs_that_see_it) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  const Conv2dShape s{1, 6, 6, 2, 3, 3, 1, 1, 1, true, true};
  Truth truth(s);
  truth.x[static_cast<std::size_t>(reference::input_index(s, 0, 0, 0, 1))] = NAN;
  const auto conv = make_conv2d(exec, {s, TypeParam::kernels, false, nullptr});
  const Array<Exec> x(exec, truth.x),
      weight(exec, packed(*conv->weight_layout(), truth.weight)), bias(exec, truth.bias),
      y(exec, s.output_size());
  conv->forward(exec, x.view(), weight.view(), bias.view(), y.span());
  const std::vector<float> values = y.values();
  for (std::int64_t i = 0; i < s.output_size(); ++i) {
    const std::int64_t w = i / s.filters % s.out_w(), h = i / s.filters / s.out_w();
    EXPECT_EQ(std::isnan(values[static_cast<std::size_t>(i)]), h <= 1 && w <= 1) << i;
  }
}

template <class Exec>
class Conv2dSpaceTest : public ::testing::Test {};
TYPED_TEST_SUITE(Conv2dSpaceTest, Spaces, TargetName);

TYPED_TEST(Conv2dSpaceTest, empty_batch_gives_zero_gradients) {
  const TypeParam exec = test_instance<TypeParam>();
  const Conv2dShape s{0, 5, 5, 3, 4, 3, 1, 1, 1, true, false};
  const auto conv = make_conv2d(exec, {s, KernelSet::kokkos, false, nullptr});
  expect_truth(exec, *conv, s);
}

/// The device's work items run on the host too: one result each.
TEST(Conv2dDevice, agrees_with_reference) {
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  for (const NamedShape& named : shapes) {
    SCOPED_TRACE(named.name);
    const Conv2dShape& s = named.shape;
    const Truth truth(s);
    const auto layout =
        make_conv2d(exec, {s, KernelSet::kokkos, true, nullptr})->weight_layout();
    const std::vector<float> weight = packed(*layout, truth.weight);
    std::vector<float> y(truth.y.size()), swapped(weight.size()), dx(truth.x.size()),
        dweight(weight.size());
    const float* const bias = s.bias ? truth.bias.data() : nullptr;
    const float* const x = truth.x.data();
    const float* const dy = truth.dy.data();
    launch(exec,
           "crossbow::test_forward",
           s.output_size(),
           conv_device::Forward{s, x, weight.data(), bias, y.data()});
    launch(exec,
           "crossbow::test_swap",
           s.weight_size(),
           conv_device::SwapChannels{s, weight.data(), swapped.data()});
    launch(exec,
           "crossbow::test_data",
           s.input_size(),
           conv_device::BackwardData{s, dy, swapped.data(), dx.data()});
    launch(exec,
           "crossbow::test_weight",
           s.weight_size(),
           conv_device::BackwardWeight{s, x, dy, dweight.data()});
    expect_close(y, truth.y, sum_tolerance(s.kernel * s.kernel * s.c), "y");
    expect_close(dx, truth.dx, sum_tolerance(s.kernel * s.kernel * s.filters), "dx");
    expect_close(unpacked(*layout, dweight, s.weight_size()),
                 truth.dweight,
                 sum_tolerance(s.n * s.out_h() * s.out_w()),
                 "dweight");
  }
}

TEST(Conv2dReference, worked_example) {
  // A 1 x 3 image row 1 2 3, a 1 x 1 kernel's neighbours: kernel 3 with centre row 1 10
  // 100.
  const Conv2dShape s{1, 3, 3, 1, 1, 3, 1, 1, 1, true, false};
  const double x[9] = {0, 0, 0, 1, 2, 3, 0, 0, 0};
  const double weight[9] = {0, 0, 0, 1, 10, 100, 0, 0, 0};
  const double bias[1] = {0.5};
  double y[9];
  reference::conv2d_forward(s, x, weight, bias, y);
  EXPECT_EQ(y[3], 0 * 1 + 1 * 10 + 2 * 100 + 0.5);
  EXPECT_EQ(y[4], 1 * 1 + 2 * 10 + 3 * 100 + 0.5);
  EXPECT_EQ(y[5], 2 * 1 + 3 * 10 + 0 * 100 + 0.5);
  EXPECT_EQ(y[0], 0.5);
}

/// Multiples of 1/8 and 1/4, so that sums are exact.
std::vector<double> eighths(std::int64_t n, int step, int modulus, double unit) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int level = static_cast<int>(i) * step % modulus - modulus / 2;
    values[i] = unit * level;
  }
  return values;
}

// torch.nn.functional.conv2d(x, w, None, stride=2, padding=2, dilation=2, groups=2) and
// (stride=2, padding=1, groups=4), PyTorch 2, brought to NHWC.
TEST(Conv2dReference, groups_and_dilation_are_pytorchs) {
  const Conv2dShape both{1, 5, 5, 4, 6, 3, 2, 2, 2, false, false, 2, 2};
  const Conv2dShape depthwise{1, 5, 5, 4, 4, 3, 2, 1, 1, false, false, 4};
  const std::vector<double> of_both = {
      -1.3125,  0.1875,   0.09375,  4.125,    -6.53125, -2.84375, 0.9375,   -0.34375,
      -5.34375, 2.1875,   1.875,    -5.34375, -0.78125, 4.5625,   -2.84375, 0.4375,
      0.53125,  0.09375,  1.40625,  0.625,    -1.21875, 3.21875,  -5.5,     2.78125,
      2.71875,  1.03125,  -1.71875, -0.96875, 3.84375,  -1.4375,  3.0,      2.46875,
      -1.25,    -0.59375, -4.8125,  2.65625,  2.5,      1.15625,  -3.375,   -7.125,
      0.625,    4.125,    0.21875,  -0.75,    3.59375,  4.75,     -5.34375, 2.625,
      2.75,     -1.0,     -2.625,   -3.0625,  1.625,    0.46875};
  const std::vector<double> of_depthwise = {
      3.9375,   -1.9375, 1.875,   1.6875,  -2.375,   2.5,      -4.0,   -1.875,   -2.0,
      -1.28125, 1.3125,  -2.6875, 2.78125, -3.3125,  -0.625,   4.9375, -1.34375, 6.96875,
      1.78125,  -4.125,  4.09375, -2.9375, -0.03125, 2.4375,   0.9375, -1.3125,  -2.5,
      1.75,     -0.5,    -2.0,    2.375,   -1.875,   -3.21875, -0.75,  -0.1875,  6.625};
  for (const auto& [s, expected] :
       {std::pair(both, of_both), std::pair(depthwise, of_depthwise)}) {
    const std::vector<double> x = eighths(s.input_size(), 7, 23, 1.0 / 8);
    const std::vector<double> weight = eighths(s.weight_size(), 5, 17, 1.0 / 4);
    ASSERT_EQ(static_cast<std::size_t>(s.output_size()), expected.size());
    std::vector<double> y(expected.size());
    reference::conv2d_forward<double>(s, x.data(), weight.data(), nullptr, y.data());
    EXPECT_EQ(y, expected);
  }
}

TEST(Conv2dReference, gradients_by_finite_differences) {
  const NamedShape cases[] = {
      {"padded, strided, ReLU", {2, 5, 4, 3, 4, 3, 2, 1, 1, true, true}},
      {"lopsided", {1, 4, 4, 2, 3, 2, 1, 0, 1, true, false}},
      {"without bias", {2, 3, 3, 2, 2, 3, 1, 1, 1, false, false}},
      {"groups, dilation", {1, 6, 5, 4, 6, 3, 2, 2, 2, true, true, 2, 2}},
      {"depthwise", {2, 4, 3, 3, 3, 3, 1, 1, 1, true, false, 3}}};
  for (const auto& [name, s] : cases) {
    SCOPED_TRACE(name);
    std::vector<double> x = to_double(random_values(s.input_size(), 5));
    std::vector<double> weight = to_double(random_values(s.weight_size(), 6));
    std::vector<double> bias = to_double(random_values(s.filters, 7));
    const std::vector<double> dy = to_double(random_values(s.output_size(), 8));
    std::vector<double> y(dy.size()), dx(x.size()), dweight(weight.size()),
        dbias(bias.size());
    const auto loss = [&, &s = s] {
      reference::conv2d_forward(s, x.data(), weight.data(), bias.data(), y.data());
      return weighted_sum(dy, y);
    };
    loss();
    const std::vector<double> own_dy = s.relu ? masked(dy, y) : dy;
    reference::conv2d_backward_data(s, own_dy.data(), weight.data(), dx.data());
    reference::conv2d_backward_weight(
        s, x.data(), own_dy.data(), dweight.data(), dbias.data());
    expect_gradient(x, dx, loss, "dx");
    expect_gradient(weight, dweight, loss, "dweight");
    expect_gradient(bias, dbias, loss, "dbias");  // zeros without bias
  }
}

}  // namespace
}  // namespace crossbow
