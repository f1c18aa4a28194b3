#include "driver/onnx_graph.hpp"

#include <gtest/gtest.h>

namespace crossbow {
namespace {

using Strings = std::vector<std::string>;
using Integers = std::vector<std::int64_t>;

LayerOptions layer(LayerType type, const std::string& name, const Strings& inputs = {}) {
  LayerOptions options;
  options.type = type;
  options.name = name;
  options.inputs = inputs;
  return options;
}

LayerOptions linear(const std::string& name, int units, const Strings& inputs = {}) {
  LayerOptions options = layer(LayerType::linear, name, inputs);
  options.units = units;
  return options;
}

LayerOptions convolution(const std::string& name, int kernel, bool same) {
  LayerOptions options = layer(LayerType::convolution, name);
  options.filters = 2;
  options.kernel = kernel;
  options.padding_same = same;
  return options;
}

OnnxModel graph_of(const std::vector<LayerOptions>& layers) {
  ModelOptions options;
  options.layers = layers;
  return onnx_graph(plan_network(options, {4, 4, 1}, 3), {});
}

Strings operators(const OnnxModel& model) {
  Strings ops;
  for (const OnnxNode& node : model.nodes) {
    ops.push_back(node.op);
  }
  return ops;
}

LayerOptions pool(LayerType type, int size, int stride, int padding, bool ceil) {
  LayerOptions options = layer(type, "p");
  options.size = size;
  options.stride = stride;
  options.padding = padding;
  options.ceil = ceil;
  return options;
}

// 4x4 pixels with "same" at dilation 2: a window of 5, two pixels on each side.
TEST(OnnxGraph, a_dilated_and_grouped_convolution) {
  LayerOptions wide = convolution("c", 3, true);
  LayerOptions grouped = convolution("g", 3, true);
  grouped.dilation = grouped.groups = 2;
  const OnnxModel model = graph_of({wide, grouped, linear("f", 3)});
  const auto& attributes = model.nodes[1].attributes;
  EXPECT_EQ(std::get<Integers>(attributes.at("pads")), (Integers{2, 2, 2, 2}));
  EXPECT_EQ(std::get<Integers>(attributes.at("dilations")), (Integers{2, 2}));
  EXPECT_EQ(std::get<std::int64_t>(attributes.at("group")), 2);
}

// PyTorch counts padding, and what is beyond the image for rounding up it does not.
TEST(OnnxGraph, pools_with_padding_or_rounded_up) {
  const auto attributes = [](const LayerOptions& options) {
    return graph_of({options, linear("f", 3)}).nodes[0].attributes;
  };
  const auto padded = attributes(pool(LayerType::average_pool, 3, 2, 1, false));
  EXPECT_EQ(std::get<Integers>(padded.at("pads")), (Integers{1, 1, 1, 1}));
  EXPECT_EQ(std::get<std::int64_t>(padded.at("count_include_pad")), 1);
  const auto rounded = attributes(pool(LayerType::average_pool, 3, 2, 0, true));
  EXPECT_EQ(std::get<std::int64_t>(rounded.at("ceil_mode")), 1);
  EXPECT_EQ(std::get<std::int64_t>(rounded.at("count_include_pad")), 0);
  EXPECT_ANY_THROW(attributes(pool(LayerType::average_pool, 3, 2, 1, true)));
  // PyTorch has one window, ONNX a second one that begins beyond image and padding.
  EXPECT_ANY_THROW(attributes(pool(LayerType::max_pool, 2, 5, 1, true)));
}

TEST(OnnxGraph, what_onnx_counts_otherwise_is_refused) {
  LayerOptions lrn = layer(LayerType::lrn, "n");
  lrn.size = 4;
  EXPECT_ANY_THROW(graph_of({lrn, linear("f", 3)}));
  lrn.size = 5;
  EXPECT_EQ(operators(graph_of({lrn, linear("f", 3)})),
            (Strings{"LRN", "Flatten", "Gemm"}));
}

// One channel to three: the second filter passes it on (option A of He et al. 2016).
TEST(OnnxGraph, a_shortcut_is_a_convolution_of_zeros_and_ones) {
  LayerOptions shortcut = layer(LayerType::shortcut, "s");
  shortcut.filters = 3;
  shortcut.stride = 2;
  const OnnxModel model =
      graph_of({shortcut, layer(LayerType::global_average_pool, "p")});
  ASSERT_EQ(operators(model), (Strings{"Conv", "GlobalAveragePool", "Flatten"}));
  EXPECT_EQ(std::get<Integers>(model.nodes[0].attributes.at("strides")),
            (Integers{2, 2}));
  ASSERT_EQ(model.weights.size(), 1U);
  EXPECT_EQ(model.weights[0].name, model.nodes[0].inputs[1]);
  EXPECT_EQ(model.weights[0].shape, (Integers{3, 1, 1, 1}));
  EXPECT_EQ(
      std::vector<float>(model.weights[0].values.begin(), model.weights[0].values.end()),
      (std::vector<float>{0, 1, 0}));
}

TEST(OnnxGraph, fused_relus_dropout_and_the_end) {
  const OnnxModel model = graph_of({convolution("c", 4, true),
                                    layer(LayerType::relu, "r"),
                                    layer(LayerType::dropout, "d"),
                                    linear("f", 3)});
  EXPECT_EQ(operators(model), (Strings{"Conv", "Relu", "Flatten", "Gemm"}));
  const OnnxNode& conv = model.nodes[0];
  EXPECT_EQ(conv.inputs, (Strings{"input", "c.weight", "c.bias"}));
  EXPECT_EQ(std::get<Integers>(conv.attributes.at("pads")), (Integers{1, 1, 2, 2}));
  EXPECT_EQ(model.nodes[3].inputs[0], model.nodes[2].output);
  EXPECT_EQ(model.nodes[3].output, "logits");
  EXPECT_EQ(model.input, (Integers{1, 4, 4}));
  EXPECT_EQ(model.classes, 3);
}

TEST(OnnxGraph, values_are_flattened_once_and_get_height_and_width_back) {
  const OnnxModel model = graph_of({layer(LayerType::tanh, "t"),
                                    linear("a", 2, {"t"}),
                                    linear("b", 2, {"t"}),
                                    layer(LayerType::add, "sum", {"a", "b"}),
                                    convolution("c", 1, false),
                                    linear("f", 3)});
  EXPECT_EQ(operators(model),
            (Strings{"Tanh",
                     "Flatten",
                     "Gemm",
                     "Gemm",
                     "Add",
                     "Unsqueeze",
                     "Conv",
                     "Flatten",
                     "Gemm"}));
  EXPECT_EQ(model.nodes[2].inputs[0], model.nodes[3].inputs[0]);
}

// (N, 3, 1, 1) + (N, 3) would be added as (N, N, 3, 3) or so.
TEST(OnnxGraph, a_sum_has_inputs_of_one_form_and_logits_are_flat) {
  LayerOptions wide = convolution("c", 1, false);
  wide.filters = 3;
  const OnnxModel model = graph_of({wide,
                                    layer(LayerType::global_average_pool, "g"),
                                    linear("f", 3, {"g"}),
                                    layer(LayerType::add, "sum", {"g", "f"})});
  EXPECT_EQ(operators(model),
            (Strings{"Conv", "GlobalAveragePool", "Flatten", "Gemm", "Add"}));
  EXPECT_EQ(model.nodes[4].inputs,
            (Strings{model.nodes[2].output, model.nodes[3].output}));
  EXPECT_EQ(model.nodes[4].output, "logits");
  const OnnxModel open = graph_of({wide, layer(LayerType::global_average_pool, "g")});
  EXPECT_EQ(operators(open), (Strings{"Conv", "GlobalAveragePool", "Flatten"}));
  EXPECT_EQ(open.nodes[2].output, "logits");
}

}  // namespace
}  // namespace crossbow
