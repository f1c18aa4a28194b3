#include "kernels/linear.hpp"

#include "kernels/element_loop.hpp"
#include "kernels/linear_kernels.hpp"
#include "kernels/reference/linear.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

struct NamedShape {
  const char* name;
  LinearShape shape;
};

// n, h, w, c, units, bias, relu
const std::vector<NamedShape> shapes = {
    {"one value", {1, 1, 1, 1, 1, true, false}},
    {"LeNet's first", {4, 4, 4, 64, 1024, true, true}},
    {"LeNet's last", {5, 1, 1, 1024, 10, true, false}},
    {"without bias", {3, 1, 1, 7, 5, false, true}},
    {"odd image", {7, 3, 5, 6, 131, true, false}},
    {"one channel", {2, 5, 3, 1, 17, true, true}},
    {"one unit", {9, 2, 2, 33, 1, true, false}},
    {"one sample", {1, 1, 1, 100, 100, true, false}},
};

/// Inputs of a linear layer and what the reference makes of them in double.
struct Truth {
  explicit Truth(const LinearShape& s)
      : x(random_values(s.input_size(), 1)),
        weight(random_values(s.weight_size(), 2)),
        bias(random_values(s.bias ? s.units : 0, 3)),
        y(static_cast<std::size_t>(s.output_size())),
        dx(x.size()),
        dweight(weight.size()),
        dbias(bias.size()) {
    reference::linear_forward(s,
                              to_double(x).data(),
                              to_double(weight).data(),
                              to_double(bias).data(),
                              y.data());
    dy = random_values(s.output_size(), 4);
    if (s.relu) {
      dy = masked(dy, std::vector<float>(y.begin(), y.end()));
    }
    reference::linear_backward_data(
        s, to_double(dy).data(), to_double(weight).data(), dx.data());
    reference::linear_backward_weight(
        s, to_double(x).data(), to_double(dy).data(), dweight.data(), dbias.data());
  }

  std::vector<float> x, weight, bias, dy;
  std::vector<double> y, dx, dweight, dbias;
};

/// Results of all three operations, dweight in the exchange layout.
struct Results {
  std::vector<float> y, dx, dweight, dbias;
};

template <class Exec>
Results run_all(const Exec& exec,
                Linear<Exec>& linear,
                const LinearShape& s,
                const Truth& truth) {
  const auto layout = linear.weight_layout();
  const Array<Exec> x(exec, truth.x), weight(exec, packed(*layout, truth.weight)),
      bias(exec, truth.bias), dy(exec, truth.dy);
  const Array<Exec> y(exec, s.output_size()), dx(exec, s.input_size()),
      dweight(exec, layout->size()), dbias(exec, s.bias ? s.units : 0);
  linear.forward(exec, x.view(), weight.view(), bias.view(), y.span());
  linear.backward_data(exec, dy.view(), weight.view(), dx.span());
  linear.backward_weight(exec, x.view(), dy.view(), dweight.span(), dbias.span());
  return {y.values(),
          dx.values(),
          unpacked(*layout, dweight.values(), s.weight_size()),
          dbias.values()};
}

void expect_truth(const Results& results, const LinearShape& s, const Truth& truth) {
  expect_close(results.y, truth.y, sum_tolerance(s.in()), "y");
  expect_close(results.dx, truth.dx, sum_tolerance(s.units), "dx");
  expect_close(results.dweight, truth.dweight, sum_tolerance(s.n), "dweight");
  expect_close(results.dbias, truth.dbias, sum_tolerance(s.n), "dbias");
}

template <class Target>
class LinearTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinearTest, Targets, TargetName);

TYPED_TEST(LinearTest, agrees_with_reference) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const auto& [name, s] : shapes) {
    SCOPED_TRACE(name);
    const auto linear = make_linear(exec, {s, TypeParam::kernels, false, nullptr});
    const Truth truth(s);
    expect_truth(run_all(exec, *linear, s, truth), s, truth);
  }
}

TYPED_TEST(LinearTest, layout_is_lossless) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const auto& [name, s] : shapes) {
    SCOPED_TRACE(name);
    const auto linear = make_linear(exec, {s, TypeParam::kernels, false, nullptr});
    expect_lossless(*linear->weight_layout(), s.weight_size());
  }
}

TYPED_TEST(LinearTest, inference_takes_the_layout_of_training) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  for (const auto& [name, shape] : shapes) {
    SCOPED_TRACE(name);
    LinearShape s = shape;
    const auto layout =
        make_linear(exec, {s, TypeParam::kernels, false, nullptr})->weight_layout();
    s.n = 11;
    const Truth truth(s);
    const auto linear = make_linear(exec, {s, TypeParam::kernels, true, layout});
    EXPECT_EQ(linear->weight_layout(), layout);
    const Array<Exec> x(exec, truth.x), weight(exec, packed(*layout, truth.weight)),
        bias(exec, truth.bias), y(exec, s.output_size());
    linear->forward(exec, x.view(), weight.view(), bias.view(), y.span());
    expect_close(y.values(), truth.y, sum_tolerance(s.in()), "y");
  }
}

TYPED_TEST(LinearTest, is_reproducible) {
  using Exec = typename TypeParam::Exec;
  const LinearShape s{6, 3, 3, 50, 300, true, true};
  const Truth truth(s);
  Results first;
  for (int run = 0; run < 3; ++run) {
    const Exec exec = test_instance<Exec>();
    const auto linear = make_linear(exec, {s, TypeParam::kernels, false, nullptr});
    const Results now = run_all(exec, *linear, s, truth);
    if (run == 0) {
      first = now;
    }
    expect_same_bits(now.y, first.y, "y");
    expect_same_bits(now.dx, first.dx, "dx");
    expect_same_bits(now.dweight, first.dweight, "dweight");
    expect_same_bits(now.dbias, first.dbias, "dbias");
  }
}

TYPED_TEST(LinearTest, nan_goes_through_relu) {
  using Exec = typename TypeParam::Exec;
  const Exec exec = test_instance<Exec>();
  const LinearShape s{3, 1, 1, 20, 37, true, true};
  Truth truth(s);
  truth.x[25] = NAN;  // of sample 1
  const auto linear = make_linear(exec, {s, TypeParam::kernels, false, nullptr});
  const std::vector<float> y = run_all(exec, *linear, s, truth).y;
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(std::isnan(y[i]), i / 37 == 1) << i;
  }
}

template <class Exec>
class LinearSpaceTest : public ::testing::Test {};
TYPED_TEST_SUITE(LinearSpaceTest, Spaces, TargetName);

TYPED_TEST(LinearSpaceTest, empty_batch_gives_zero_gradients) {
  const TypeParam exec = test_instance<TypeParam>();
  const LinearShape s{0, 1, 1, 5, 6, true, false};
  const auto linear = make_linear(exec, {s, KernelSet::kokkos, false, nullptr});
  const Truth truth(s);
  expect_truth(run_all(exec, *linear, s, truth), s, truth);
}

/// The device's work items run on the host too: one result each.
TEST(LinearDevice, agrees_with_reference) {
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  for (const auto& [name, s] : shapes) {
    SCOPED_TRACE(name);
    const Truth truth(s);
    const auto layout =
        make_linear(exec, {s, KernelSet::kokkos, true, nullptr})->weight_layout();
    const std::vector<float> weight = packed(*layout, truth.weight);
    std::vector<float> y(truth.y.size()), dx(truth.x.size()), dweight(weight.size());
    const float* const bias = s.bias ? truth.bias.data() : nullptr;
    const float* const dy = truth.dy.data();
    launch(exec,
           "crossbow::test_forward",
           s.output_size(),
           linear_device::Forward{s, truth.x.data(), weight.data(), bias, y.data()});
    launch(exec,
           "crossbow::test_data",
           s.input_size(),
           linear_device::BackwardData{s, dy, weight.data(), dx.data()});
    launch(exec,
           "crossbow::test_weight",
           s.weight_size(),
           linear_device::BackwardWeight{s, truth.x.data(), dy, dweight.data()});
    expect_close(y, truth.y, sum_tolerance(s.in()), "y");
    expect_close(dx, truth.dx, sum_tolerance(s.units), "dx");
    expect_close(unpacked(*layout, dweight, s.weight_size()),
                 truth.dweight,
                 sum_tolerance(s.n),
                 "dweight");
  }
}

TEST(LinearReference, worked_example) {
  // Image of one row with two pixels and two channels: x(w, c). Weights (unit, c, w).
  const LinearShape s{1, 1, 2, 2, 1, true, false};
  const double x[4] = {1, 2, 3, 4};             // pixel 0: 1 2, pixel 1: 3 4
  const double weight[4] = {1, 10, 100, 1000};  // channel 0: 1 10, channel 1: 100 1000
  const double bias[1] = {0.5};
  double y = 0;
  reference::linear_forward(s, x, weight, bias, &y);
  EXPECT_EQ(y, 1 * 1 + 3 * 10 + 2 * 100 + 4 * 1000 + 0.5);
}

TEST(LinearReference, gradients_by_finite_differences) {
  for (const bool relu : {false, true}) {
    const LinearShape s{3, 2, 2, 3, 4, true, relu};
    std::vector<double> x = to_double(random_values(s.input_size(), 5));
    std::vector<double> weight = to_double(random_values(s.weight_size(), 6));
    std::vector<double> bias = to_double(random_values(s.units, 7));
    const std::vector<double> dy = to_double(random_values(s.output_size(), 8));
    std::vector<double> y(dy.size()), dx(x.size()), dweight(weight.size()),
        dbias(bias.size());
    const auto loss = [&] {
      reference::linear_forward(s, x.data(), weight.data(), bias.data(), y.data());
      return weighted_sum(dy, y);
    };
    loss();
    const std::vector<double> own_dy = relu ? masked(dy, y) : dy;
    reference::linear_backward_data(s, own_dy.data(), weight.data(), dx.data());
    reference::linear_backward_weight(
        s, x.data(), own_dy.data(), dweight.data(), dbias.data());
    expect_gradient(x, dx, loss, "dx");
    expect_gradient(weight, dweight, loss, "dweight");
    expect_gradient(bias, dbias, loss, "dbias");
  }
}

}  // namespace
}  // namespace crossbow
