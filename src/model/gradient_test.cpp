// Gradients of whole networks against finite differences of their own loss.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

constexpr std::int64_t batch = 4;

// The loss of a batch is a mean of floats near 1, each rounded to about 1e-7, as are the
// logits, so that a difference over 2 * step = 8e-3 is uncertain by some 5e-5, a
// one-sided one of second order by some 3e-4; the third derivative adds step² / 6 = 3e-6
// of itself. A wrong factor or a missing path shows in the first digits of gradients of
// 0.05 to 1.
constexpr float step = 4e-3F;
constexpr double tolerance = 1e-3;

/// The loss with one weight moved by `by`.
double loss_at(NetworkAtWork<>& work, float& weight, float by) {
  const float value = weight;
  weight = value + by;
  work.load();
  const double loss = work.mean_loss();
  weight = value;
  return loss;
}

double central_difference(NetworkAtWork<>& work, float& weight) {
  const float above = weight + step, below = weight - step;  // as rounded
  return (loss_at(work, weight, step) - loss_at(work, weight, -step)) /
         (double{above} - below);
}

/// Of second order, from one side: right where a ReLU or a maximum changes its mind on
/// the other.
double one_sided_difference(NetworkAtWork<>& work, float& weight, float h) {
  return (4 * loss_at(work, weight, h / 2) - 3 * loss_at(work, weight, 0) -
          loss_at(work, weight, h)) /
         h;
}

bool is_near(double a, double b) {
  return std::abs(a - b) <= tolerance;
}

/// How many weights were tested, and how.
struct Coverage {
  int tested = 0, one_sided = 0, wrong = 0;
  double largest = 0;

  void expect_good() const {
    EXPECT_EQ(wrong, 0);
    EXPECT_LE(one_sided, tested / 5) << "too many kinks: the test says too little";
    EXPECT_GT(largest, 50 * tolerance) << "gradients too small to be tested";
  }
};

void expect_gradients(const std::vector<LayerOptions>& layers,
                      double label_smoothing = 0) {
  for (const auto& [kernels, name] : kernel_sets) {
    SCOPED_TRACE(name);
    NetworkOptions options = options_of(batch, kernels);
    options.label_smoothing = label_smoothing;
    NetworkAtWork<> work(plan_network(model_of(layers), {6, 6, 2}, 3), options);
    const NamedTensors gradients = work.gradients();
    Coverage coverage;
    for (auto& [tensor_name, tensor] : work.weights) {
      for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        float& weight = tensor.values[i];
        const double actual = gradients.at(tensor_name).values[i];
        const double central = central_difference(work, weight);
        const bool smooth = is_near(actual, central);
        const bool good = smooth ||
                          is_near(actual, one_sided_difference(work, weight, step)) ||
                          is_near(actual, one_sided_difference(work, weight, -step));
        EXPECT_TRUE(good) << tensor_name << "[" << i << "] is " << actual
                          << ", by differences " << central;
        ++coverage.tested;
        coverage.one_sided += smooth ? 0 : 1;
        coverage.wrong += good ? 0 : 1;
        coverage.largest = std::fmax(coverage.largest, std::abs(actual));
      }
    }
    coverage.expect_good();
  }
}

TEST(Gradient, linear_alone) {
  expect_gradients({linear("fc", 3)});
}

TEST(Gradient, linear_relu_linear) {
  expect_gradients({linear("fc1", 5), layer(LayerType::relu), linear("fc2", 3)});
}

TEST(Gradient, linear_tanh_linear_without_bias) {
  LayerOptions first = linear("fc1", 5);
  first.bias = false;
  expect_gradients({first, layer(LayerType::tanh), linear("fc2", 3)});
}

TEST(Gradient, convolution_relu_max_pool) {
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::relu),
                    pool(LayerType::max_pool, 2),
                    linear("fc", 3)});
}

TEST(Gradient, max_pool_relu) {
  expect_gradients({convolution("conv", 3, 3),
                    pool(LayerType::max_pool, 2),
                    layer(LayerType::relu),
                    linear("fc", 3)});
}

TEST(Gradient, strided_convolution_tanh_average_pool) {
  LayerOptions strided = convolution("conv", 4, 3);
  strided.padding_same = false;
  strided.padding = 1;
  strided.stride = 2;
  LayerOptions overlapping = pool(LayerType::average_pool, 2);
  overlapping.stride = 1;
  expect_gradients({strided, layer(LayerType::tanh), overlapping, linear("fc", 3)});
}

TEST(Gradient, two_convolutions_and_overlapping_max_pool) {
  LayerOptions valid = convolution("conv2", 3, 3);
  valid.padding_same = false;
  LayerOptions overlapping = pool(LayerType::max_pool, 3);
  overlapping.stride = 1;
  expect_gradients({convolution("conv1", 3, 3),
                    layer(LayerType::tanh),
                    valid,
                    overlapping,
                    linear("fc", 3)});
}

TEST(Gradient, batch_norm_and_global_average) {
  LayerOptions without_bias = convolution("conv", 4, 3);
  without_bias.bias = false;
  expect_gradients({without_bias,
                    layer(LayerType::batch_norm, "bn"),
                    layer(LayerType::tanh),
                    layer(LayerType::global_average_pool),
                    linear("fc", 3)});
}

TEST(Gradient, batch_norm_of_the_images) {
  expect_gradients({layer(LayerType::batch_norm, "bn"),
                    convolution("conv", 2, 3),
                    layer(LayerType::tanh),
                    linear("fc", 3)});
}

// Few pixels, as each weight moves all of them through zero.
TEST(Gradient, batch_norm_relu) {
  LayerOptions strided = convolution("conv", 3, 3);
  strided.padding_same = false;
  strided.stride = 3;
  expect_gradients({strided,
                    layer(LayerType::batch_norm, "bn"),
                    layer(LayerType::relu),
                    linear("fc", 3)});
}

TEST(Gradient, dropout_uses_one_mask_forward_and_backward) {
  expect_gradients(
      {linear("fc1", 8), layer(LayerType::tanh), dropout("drop", 0.5), linear("fc2", 3)});
}

TEST(Gradient, residual_block) {
  expect_gradients({convolution("conv1", 3, 3),
                    layer(LayerType::tanh, "t"),
                    convolution("conv2", 3, 3),
                    layer(LayerType::batch_norm, "bn"),
                    layer(LayerType::add, "sum", {"bn", "t"}),
                    layer(LayerType::relu),
                    layer(LayerType::global_average_pool),
                    linear("fc", 3)});
}

TEST(Gradient, residual_block_with_projection_of_the_images) {
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::tanh, "t"),
                    convolution("projection", 3, 1, {"input"}),
                    layer(LayerType::add, "sum", {"projection", "t"}),
                    linear("fc", 3)});
}

TEST(Gradient, residual_block_with_thinned_shortcut) {
  LayerOptions strided = convolution("conv2", 5, 3);
  strided.stride = 2;
  LayerOptions shortcut = layer(LayerType::shortcut, "s", {"t"});
  shortcut.filters = 5;
  shortcut.stride = 2;
  expect_gradients({convolution("conv1", 2, 3),
                    layer(LayerType::tanh, "t"),
                    strided,
                    shortcut,
                    layer(LayerType::add, "sum", {"conv2", "s"}),
                    linear("fc", 3)});
}

TEST(Gradient, three_users_of_one_layer) {
  expect_gradients({convolution("a", 3, 3),
                    layer(LayerType::tanh, "t"),
                    convolution("b", 3, 1),
                    convolution("c", 3, 3, {"t"}),
                    layer(LayerType::add, "sum1", {"b", "t"}),
                    layer(LayerType::add, "sum2", {"c", "sum1"}),
                    layer(LayerType::tanh),
                    linear("fc", 3)});
}

TEST(Gradient, a_layer_added_to_itself) {
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::tanh, "t"),
                    layer(LayerType::add, "twice", {"t", "t"}),
                    linear("fc", 3)});
}

TEST(Gradient, a_relu_beside_the_value_before_it) {
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::relu, "r"),
                    layer(LayerType::add, "sum", {"conv", "r"}),
                    linear("fc", 3)});
}

// The ReLU has two users of which one is a pooling that could take it.
TEST(Gradient, a_relu_with_two_users) {
  LayerOptions strided = convolution("conv", 3, 3);
  strided.padding_same = false;
  strided.stride = 2;
  expect_gradients({strided,
                    layer(LayerType::relu, "r"),
                    pool(LayerType::max_pool, 2, "p"),
                    linear("fc1", 3),
                    layer(LayerType::tanh, "t"),
                    linear("fc2", 3, {"r"}),
                    layer(LayerType::add, "sum", {"t", "fc2"})});
}

// Its ReLU is inside the pooling; the convolution's other user wants it without.
TEST(Gradient, a_relu_that_goes_into_the_pooling_alone) {
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::relu, "r"),
                    pool(LayerType::max_pool, 2, "p"),
                    linear("fc1", 3),
                    linear("fc2", 3, {"conv"}),
                    layer(LayerType::add, "sum", {"fc1", "fc2"})});
}

// ---- Sums whose gradients share a buffer, see gradient_sharing.hpp

TEST(Gradient, residual_blocks_in_a_chain) {
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::tanh, "t"),
                    convolution("conv1", 3, 3),
                    layer(LayerType::batch_norm, "bn1"),
                    layer(LayerType::add, "sum1", {"bn1", "t"}),
                    convolution("conv2", 3, 3),
                    layer(LayerType::batch_norm, "bn2"),
                    layer(LayerType::add, "sum2", {"sum1", "bn2"}),
                    layer(LayerType::tanh),
                    layer(LayerType::global_average_pool),
                    linear("fc", 3)});
}

// The sums' ReLU masks the gradient in place, as does that of a convolution.
TEST(Gradient, residual_blocks_with_relus) {
  LayerOptions strided = convolution("conv", 3, 3);
  strided.padding_same = false;
  strided.stride = 3;
  expect_gradients({strided,
                    layer(LayerType::batch_norm, "bn"),
                    layer(LayerType::relu, "r"),
                    convolution("conv1", 3, 1),
                    layer(LayerType::relu, "r1"),
                    layer(LayerType::add, "sum1", {"r1", "r"}),
                    layer(LayerType::relu, "r2"),
                    convolution("conv2", 3, 1),
                    layer(LayerType::add, "sum2", {"r2", "conv2"}),
                    layer(LayerType::relu, "r3"),
                    linear("fc", 3)});
}

TEST(Gradient, a_sum_of_sums) {
  expect_gradients({convolution("a", 3, 3),
                    layer(LayerType::tanh, "t"),
                    convolution("b", 3, 1, {"input"}),
                    layer(LayerType::add, "sum1", {"b", "t"}),
                    layer(LayerType::add, "sum2", {"sum1", "t"}),
                    layer(LayerType::add, "sum3", {"b", "sum2"}),
                    layer(LayerType::add, "sum4", {"sum3", "sum3"}),
                    layer(LayerType::tanh),
                    linear("fc", 3)});
}

TEST(Gradient, batch_norm_of_the_images_in_a_sum) {
  expect_gradients({layer(LayerType::batch_norm, "bn"),
                    convolution("conv", 2, 3, {"input"}),
                    layer(LayerType::add, "sum1", {"bn", "conv"}),
                    layer(LayerType::batch_norm, "late", {"input"}),
                    layer(LayerType::add, "sum2", {"sum1", "late"}),
                    layer(LayerType::tanh),
                    linear("fc", 3)});
}

// ---- Groups, dilation, padded pools and the other layers

TEST(Gradient, grouped_and_depthwise_convolutions) {
  LayerOptions grouped = convolution("grouped", 4, 3);
  grouped.groups = 2;
  LayerOptions depthwise = convolution("depthwise", 4, 3);
  depthwise.groups = 4;
  depthwise.padding_same = false;
  depthwise.padding = 1;
  depthwise.stride = 2;
  expect_gradients({grouped,
                    layer(LayerType::tanh),
                    depthwise,
                    layer(LayerType::tanh),
                    linear("fc", 3)});
}

TEST(Gradient, dilated_convolutions) {
  LayerOptions dilated = convolution("conv1", 4, 3);
  dilated.dilation = 2;
  LayerOptions both = convolution("conv2", 4, 3);
  both.dilation = 2;
  both.groups = 2;
  expect_gradients(
      {dilated, layer(LayerType::tanh), both, layer(LayerType::tanh), linear("fc", 3)});
}

TEST(Gradient, padded_pools) {
  LayerOptions largest = pool(LayerType::max_pool, 3);
  largest.stride = 2;
  largest.padding = 1;
  LayerOptions mean = pool(LayerType::average_pool, 2);
  mean.padding = 1;
  mean.ceil = true;
  expect_gradients({convolution("conv", 3, 3),
                    layer(LayerType::tanh),
                    largest,
                    layer(LayerType::relu),
                    mean,
                    linear("fc", 3)});
}

TEST(Gradient, lrn_and_leaky_relu_and_sigmoid) {
  LayerOptions lrn = pool(LayerType::lrn, 3, "lrn");
  lrn.alpha = 2;
  LayerOptions leaky = layer(LayerType::leaky_relu);
  leaky.slope = 0.3;
  expect_gradients({convolution("conv", 5, 1),
                    layer(LayerType::sigmoid),
                    convolution("conv2", 5, 1),
                    lrn,
                    layer(LayerType::global_average_pool),
                    leaky,
                    linear("fc", 3)});
}

TEST(Gradient, concatenation) {
  expect_gradients({convolution("a", 3, 3),
                    layer(LayerType::tanh, "t"),
                    convolution("b", 2, 1, {"t"}),
                    layer(LayerType::concat, "joined", {"t", "b", "input", "t"}),
                    layer(LayerType::tanh),
                    linear("fc", 3)});
}

TEST(Gradient, smoothed_labels) {
  expect_gradients({linear("fc1", 5), layer(LayerType::tanh), linear("fc2", 3)}, 0.2);
}

TEST(Gradient, a_relu_at_the_end) {
  expect_gradients({linear("fc", 3), layer(LayerType::relu)});
}

}  // namespace
}  // namespace crossbow
