#include "model/gradient_sharing.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using Flags = std::vector<bool>;

/// The flags of the sum named "sum" among `layers` for 6x6x3 images.
Flags flags_of(std::vector<LayerOptions> layers) {
  layers.push_back(linear("fc", 3));
  const NetworkPlan plan = plan_network(model_of(layers), {6, 6, 3}, 3);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    if (plan.layers[i].name == "sum") {
      return shared_gradients(plan, i);
    }
  }
  return {};
}

// What ResNets have: nothing is copied.
TEST(GradientSharing, residual_blocks_copy_nothing) {
  const Flags both = {true, true};
  EXPECT_EQ(flags_of({convolution("conv", 3, 3),
                      layer(LayerType::tanh, "t"),
                      convolution("conv1", 3, 3),
                      layer(LayerType::batch_norm, "bn"),
                      layer(LayerType::add, "sum", {"bn", "t"}),
                      layer(LayerType::relu)}),
            both);
  EXPECT_EQ(flags_of({convolution("conv", 3, 3),
                      layer(LayerType::tanh, "t"),
                      convolution("conv1", 3, 3),
                      layer(LayerType::batch_norm, "bn1"),
                      convolution("conv2", 3, 1, {"t"}),
                      layer(LayerType::batch_norm, "bn2"),
                      layer(LayerType::add, "sum", {"bn1", "bn2"})}),
            both);
}

TEST(GradientSharing, only_one_where_the_later_input_changes_its_gradient) {
  const Flags first = {true, false};
  EXPECT_EQ(flags_of({convolution("a", 3, 3),
                      convolution("b", 3, 3, {"input"}),
                      layer(LayerType::relu, "r"),
                      layer(LayerType::add, "sum", {"a", "r"})}),
            first);
  EXPECT_EQ(flags_of({convolution("a", 3, 3),
                      layer(LayerType::batch_norm, "b", {"input"}),
                      layer(LayerType::add, "sum", {"a", "b"})}),
            first);
  EXPECT_EQ(flags_of({convolution("a", 3, 3),
                      convolution("b", 3, 3, {"input"}),
                      layer(LayerType::add, "inner", {"b", "input"}),
                      layer(LayerType::add, "sum", {"a", "inner"})}),
            first);
}

TEST(GradientSharing, only_one_where_more_is_added_to_a_gradient_meanwhile) {
  // "c" adds to the gradient of "a" before "b" has read its own.
  EXPECT_EQ(flags_of({convolution("a", 3, 3),
                      convolution("b", 3, 3, {"input"}),
                      convolution("c", 3, 3, {"a"}),
                      layer(LayerType::add, "sum", {"a", "b"}),
                      layer(LayerType::add, "end", {"sum", "c"})}),
            (Flags{true, false}));
  // "b" has another user.
  EXPECT_EQ(flags_of({convolution("a", 3, 3),
                      convolution("b", 3, 3, {"input"}),
                      convolution("c", 3, 3, {"b"}),
                      layer(LayerType::add, "sum", {"a", "b"}),
                      layer(LayerType::add, "end", {"sum", "c"})}),
            (Flags{true, false}));
}

TEST(GradientSharing, not_with_an_activation_whose_gradient_a_later_layer_has_begun) {
  EXPECT_EQ(flags_of({convolution("a", 3, 3),
                      convolution("b", 3, 3, {"input"}),
                      layer(LayerType::add, "sum", {"a", "b"}),
                      layer(LayerType::add, "end", {"sum", "a"})}),
            (Flags{false, true}));
  EXPECT_EQ(
      flags_of({convolution("a", 3, 3), layer(LayerType::add, "sum", {"a", "input"})}),
      (Flags{true, false}));
  EXPECT_EQ(flags_of({convolution("a", 3, 3), layer(LayerType::add, "sum", {"a", "a"})}),
            (Flags{true, false}));
}

}  // namespace
}  // namespace crossbow
