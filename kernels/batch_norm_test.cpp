#include "kernels/batch_norm.hpp"

#include "kernels/activation.hpp"
#include "kernels/channel_reduction.hpp"
#include "kernels/reference/batch_norm.hpp"
#include "kernels/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

// rows, c: one row, around the piece of 64 rows, odd channels, ResNet's
const BatchNormShape shapes[] = {{1, 1},
                                 {1, 20},
                                 {2, 3},
                                 {63, 16},
                                 {64, 17},
                                 {65, 64},
                                 {200, 23},
                                 {2048, 16},
                                 {511, 130},
                                 {4096, 1}};

/// Values with a mean and deviation that differ from channel to channel, some with a mean
/// of hundreds of deviations, which a sum of squares alone would lose.
std::vector<float> channel_values(const BatchNormShape& s) {
  std::vector<float> x = random_values(s.rows * s.c, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto c = static_cast<float>(i % static_cast<std::size_t>(s.c));
    x[i] = x[i] * (1 + c) + 100 * (c - 3);
  }
  return x;
}

/// The layer in double by the reference.
struct Truth {
  explicit Truth(const BatchNormShape& s)
      : x(channel_values(s)),
        dy(random_values(s.rows * s.c, 2)),
        scale(random_values(s.c, 3)),
        shift(random_values(s.c, 4)),
        running_mean(random_values(s.c, 5)),
        running_variance(random_values(s.c, 6)) {
    for (float& variance : running_variance) {
      variance = variance * variance + 0.1F;
    }
    for (std::vector<double>* vector :
         {&new_mean, &new_variance, &mean, &inverse_std, &dscale, &dshift}) {
      vector->resize(scale.size());
    }
    for (std::vector<double>* matrix : {&y, &y_inference, &dx}) {
      matrix->resize(x.size());
    }
    run(s);
  }

  void run(const BatchNormShape& s) {
    const std::vector<double> wide_scale = to_double(scale),
                              wide_shift = to_double(shift), wide_x = to_double(x);
    new_mean = to_double(running_mean);
    new_variance = to_double(running_variance);
    const reference::BatchNormState<double> state{wide_scale.data(),
                                                  wide_shift.data(),
                                                  new_mean.data(),
                                                  new_variance.data(),
                                                  mean.data(),
                                                  inverse_std.data()};
    reference::batch_norm_inference(s, wide_x.data(), state, y_inference.data());
    reference::batch_norm_forward(s, wide_x.data(), state, y.data());
    reference::batch_norm_backward<double>(s,
                                           wide_x.data(),
                                           to_double(dy).data(),
                                           state,
                                           {dx.data(), dscale.data(), dshift.data()});
  }

  std::vector<float> x, dy, scale, shift, running_mean, running_variance;
  std::vector<double> new_mean, new_variance, mean, inverse_std, y, y_inference, dx,
      dscale, dshift;
};

/// Error of values in units of a channel's deviation. The saved mean is a float: it is
/// rounded by up to 2^-24 |mean|, and so is what is subtracted from it. Sums of squares
/// add a few roundings.
double deviation_error(const BatchNormShape& s, const Truth& truth) {
  double condition = 8;
  for (std::size_t i = 0; i < truth.x.size(); ++i) {
    const std::size_t c = i % static_cast<std::size_t>(s.c);
    condition = std::fmax(condition, std::abs(truth.x[i]) * truth.inverse_std[c]);
  }
  return 2 * 0x1p-24 * condition;
}

/// The layer's arrays where the kernels run.
template <class Exec>
struct Layer {
  Layer(const Exec& exec, const BatchNormShape& s, const Truth& truth)
      : x(exec, truth.x),
        dy(exec, truth.dy),
        scale(exec, truth.scale),
        shift(exec, truth.shift),
        running_mean(exec, truth.running_mean),
        running_variance(exec, truth.running_variance),
        mean(exec, s.c),
        inverse_std(exec, s.c),
        y(exec, s.rows * s.c),
        dx(exec, s.rows * s.c),
        dscale(exec, s.c),
        dshift(exec, s.c) {}

  BatchNormState<Exec> state() const {
    return {scale.view(),
            shift.view(),
            running_mean.span(),
            running_variance.span(),
            mean.span(),
            inverse_std.span()};
  }

  Array<Exec> x, dy, scale, shift, running_mean, running_variance, mean, inverse_std, y,
      dx, dscale, dshift;
};

template <class Exec>
class BatchNormTest : public ::testing::Test {};
TYPED_TEST_SUITE(BatchNormTest, Spaces, TargetName);

TYPED_TEST(BatchNormTest, forward_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const BatchNormShape& s : shapes) {
    SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.c));
    const Truth truth(s);
    const Layer<TypeParam> layer(exec, s, truth);
    batch_norm_forward(exec, s, layer.x.view(), layer.state(), layer.y.span());
    const double tolerance = deviation_error(s, truth);
    expect_close(layer.y.values(), truth.y, tolerance, "y");
    expect_close(layer.mean.values(), truth.mean, 0x1p-23, "mean");
    expect_close(layer.running_mean.values(), truth.new_mean, 0x1p-23, "running mean");
    const double piece = sum_tolerance(reduction_rows);  // pieces are merged in double
    expect_close(layer.inverse_std.values(), truth.inverse_std, piece, "inverse std");
    expect_close(
        layer.running_variance.values(), truth.new_variance, piece, "running variance");
  }
}

TYPED_TEST(BatchNormTest, inference_agrees_with_reference_and_changes_nothing) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const BatchNormShape& s : shapes) {
    SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.c));
    const Truth truth(s);
    const Layer<TypeParam> layer(exec, s, truth);
    batch_norm_inference(exec, s, layer.x.view(), layer.state(), layer.y.span());
    expect_close(layer.y.values(), truth.y_inference, 8 * 0x1p-24, "y");
    expect_same_bits(layer.running_mean.values(), truth.running_mean, "running mean");
    expect_same_bits(
        layer.running_variance.values(), truth.running_variance, "running variance");
  }
}

TYPED_TEST(BatchNormTest, backward_agrees_with_reference) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const BatchNormShape& s : shapes) {
    SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.c));
    const Truth truth(s);
    const Layer<TypeParam> layer(exec, s, truth);
    batch_norm_forward(exec, s, layer.x.view(), layer.state(), layer.y.span());
    batch_norm_backward(exec,
                        s,
                        layer.x.view(),
                        layer.dy.view(),
                        layer.state(),
                        {layer.dx.span(), layer.dscale.span(), layer.dshift.span()});
    // dx is largest where the deviation is least, dscale is a sum over rows: all are
    // compared relative to the largest result, which has the error of xhat.
    const double tolerance = deviation_error(s, truth) + sum_tolerance(s.rows);
    expect_close(layer.dshift.values(), truth.dshift, sum_tolerance(s.rows), "dshift");
    expect_close(layer.dscale.values(), truth.dscale, tolerance, "dscale");
    if (s.rows > 1) {  // of one row, dx is 0 times 1 / sqrt(epsilon)
      expect_close(layer.dx.values(), truth.dx, tolerance, "dx");
    }
    batch_norm_backward(exec,
                        s,
                        layer.x.view(),
                        layer.dy.view(),
                        layer.state(),
                        {layer.dy.span(), layer.dscale.span(), layer.dshift.span()});
    expect_same_bits(layer.dy.values(), layer.dx.values(), "dx in the place of dy");
  }
}

BatchNormShape with_relu(BatchNormShape s) {
  s.relu = true;
  return s;
}

// Fused and not: the same arithmetic on the same values, so the same bits.
TYPED_TEST(BatchNormTest, relu_inside_changes_no_value) {
  const TypeParam exec = test_instance<TypeParam>();
  for (const BatchNormShape& s : shapes) {
    SCOPED_TRACE(std::to_string(s.rows) + " x " + std::to_string(s.c));
    const BatchNormShape fused = with_relu(s);
    const Truth truth(s);
    const Layer<TypeParam> a(exec, s, truth), b(exec, s, truth);
    batch_norm_inference(exec, fused, a.x.view(), a.state(), a.y.span());
    batch_norm_inference(exec, s, b.x.view(), b.state(), b.y.span());
    relu_forward(exec, b.y.view(), b.y.span());
    expect_same_bits(a.y.values(), b.y.values(), "y of inference");
    batch_norm_forward(exec, fused, a.x.view(), a.state(), a.y.span());
    batch_norm_forward(exec, s, b.x.view(), b.state(), b.y.span());
    relu_forward(exec, b.y.view(), b.y.span());
    expect_same_bits(a.y.values(), b.y.values(), "y");
    relu_backward(exec, b.y.view(), b.dy.view(), b.dy.span());
    for (const auto& [layer, shape] : {std::pair(&a, fused), std::pair(&b, s)}) {
      batch_norm_backward(exec,
                          shape,
                          layer->x.view(),
                          layer->dy.view(),
                          layer->state(),
                          {layer->dx.span(), layer->dscale.span(), layer->dshift.span()});
    }
    expect_same_bits(a.dx.values(), b.dx.values(), "dx");
    expect_same_bits(a.dscale.values(), b.dscale.values(), "dscale");
    expect_same_bits(a.dshift.values(), b.dshift.values(), "dshift");
  }
}

TYPED_TEST(BatchNormTest, nan_goes_through_relu) {
  const TypeParam exec = test_instance<TypeParam>();
  const BatchNormShape s = with_relu({100, 18});
  Truth truth(s);
  truth.x[70 * 18 + 5] = NAN;
  const Layer<TypeParam> layer(exec, s, truth);
  batch_norm_forward(exec, s, layer.x.view(), layer.state(), layer.y.span());
  const std::vector<float> y = layer.y.values();
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(std::isnan(y[i]), i % 18 == 5) << i;
    ASSERT_FALSE(y[i] < 0) << i;
  }
}

TYPED_TEST(BatchNormTest, nan_stays_in_its_channel) {
  const TypeParam exec = test_instance<TypeParam>();
  const BatchNormShape s{100, 18};
  Truth truth(s);
  truth.x[70 * 18 + 5] = NAN;
  const Layer<TypeParam> layer(exec, s, truth);
  batch_norm_forward(exec, s, layer.x.view(), layer.state(), layer.y.span());
  const std::vector<float> y = layer.y.values();
  for (std::size_t i = 0; i < y.size(); ++i) {
    ASSERT_EQ(std::isnan(y[i]), i % 18 == 5) << i;
  }
}

TYPED_TEST(BatchNormTest, is_reproducible) {
  for (const BatchNormShape& s : shapes) {
    const Truth truth(s);
    const TypeParam exec = test_instance<TypeParam>(), other = test_instance<TypeParam>();
    const Layer<TypeParam> a(exec, s, truth), b(other, s, truth);
    for (const auto* layer : {&a, &b}) {
      const TypeParam& own = layer == &a ? exec : other;
      batch_norm_forward(own, s, layer->x.view(), layer->state(), layer->y.span());
      batch_norm_backward(own,
                          s,
                          layer->x.view(),
                          layer->dy.view(),
                          layer->state(),
                          {layer->dx.span(), layer->dscale.span(), layer->dshift.span()});
    }
    expect_same_bits(a.y.values(), b.y.values(), "y");
    expect_same_bits(
        a.running_variance.values(), b.running_variance.values(), "variance");
    expect_same_bits(a.dx.values(), b.dx.values(), "dx");
    expect_same_bits(a.dscale.values(), b.dscale.values(), "dscale");
  }
}

TEST(BatchNormReference, worked_example) {
  // Rows 1 and 3: mean 2, variance 1, unbiased variance 2.
  const BatchNormShape s{2, 1, 0.0F, 0.5F};
  const double x[2] = {1, 3}, scale = 10, shift = 0.25;
  double running_mean = 4, running_variance = 6, mean = 0, inverse_std = 0, y[2];
  const reference::BatchNormState<double> state{
      &scale, &shift, &running_mean, &running_variance, &mean, &inverse_std};
  reference::batch_norm_forward(s, x, state, y);
  EXPECT_EQ(y[0], -9.75);
  EXPECT_EQ(y[1], 10.25);
  EXPECT_EQ(mean, 2);
  EXPECT_EQ(inverse_std, 1);
  EXPECT_EQ(running_mean, 3);
  EXPECT_EQ(running_variance, 4);
}

class BatchNormGradient : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Relu, BatchNormGradient, ::testing::Bool());

TEST_P(BatchNormGradient, of_the_reference_by_finite_differences) {
  BatchNormShape s{7, 3};
  s.relu = GetParam();
  std::vector<double> x = to_double(random_values(s.rows * s.c, 1));
  std::vector<double> scale = to_double(random_values(s.c, 2));
  std::vector<double> shift = to_double(random_values(s.c, 3));
  const std::vector<double> dy = to_double(random_values(s.rows * s.c, 4));
  std::vector<double> running(3), variance(3), mean(3), inverse_std(3), y(x.size());
  std::vector<double> dx(x.size()), dscale(3), dshift(3);
  const reference::BatchNormState<double> state{scale.data(),
                                                shift.data(),
                                                running.data(),
                                                variance.data(),
                                                mean.data(),
                                                inverse_std.data()};
  const auto loss = [&] {
    reference::batch_norm_forward(s, x.data(), state, y.data());
    return weighted_sum(dy, y);
  };
  loss();
  reference::batch_norm_backward<double>(
      s, x.data(), dy.data(), state, {dx.data(), dscale.data(), dshift.data()});
  expect_gradient(x, dx, loss, "dx");
  expect_gradient(scale, dscale, loss, "dscale");
  expect_gradient(shift, dshift, loss, "dshift");
}

}  // namespace
}  // namespace crossbow
