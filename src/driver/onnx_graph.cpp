#include "driver/onnx_graph.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

#include "model/convolution_window.hpp"

namespace crossbow {
namespace {

/// A value of the graph: (N, C, H, W), or flat: (N, C H W).
struct Value {
  std::string name;
  bool flat = false;
};

using Attributes = std::map<std::string, OnnxAttribute>;
using Integers = std::vector<std::int64_t>;

class GraphBuilder {
 public:
  GraphBuilder(const NetworkPlan& plan, OnnxModel& model) : plan_(plan), model_(model) {}

  void build() {
    std::vector<Value> values;
    for (const LayerPlan& layer : plan_.layers) {
      std::vector<Value> inputs;
      for (const int input : layer.inputs) {
        inputs.push_back(input == network_input
                             ? Value{"input", false}
                             : values[static_cast<std::size_t>(input)]);
      }
      const Value output = emit(layer, inputs);
      values.push_back(layer.relu ? add("Relu", layer.name + ".relu", {output}) : output);
    }
    const Value& last = values.back();
    if (last.flat && nodes().back().output == last.name) {
      nodes().back().output = "logits";
    } else {
      nodes().push_back({"Flatten", last.name + ".logits", {last.name}, "logits", {}});
    }
  }

 private:
  static void refuse(const LayerPlan& layer, bool is_impossible, const std::string& why) {
    CROSSBOW_VALIDATE(!is_impossible,
                      ExitCode::usage,
                      {"layer " + layer.name + " has no equal in ONNX",
                       why,
                       "",
                       "Export to .npz, or change the layer"});
  }

  /// The operators of each type of layer.
  Value emit(const LayerPlan& layer, const std::vector<Value>& x) {
    switch (layer.type) {
      case LayerType::convolution:
        return convolution(layer, x[0]);
      case LayerType::linear:
        return linear(layer, x[0]);
      case LayerType::max_pool:
        return add("MaxPool", layer.name, {square(x[0])}, window(layer));
      case LayerType::average_pool:
        return average_pool(layer, x[0]);
      case LayerType::global_average_pool:
        return add("GlobalAveragePool", layer.name, {square(x[0])});
      case LayerType::batch_norm:
        return batch_norm(layer, x[0]);
      case LayerType::lrn:
        return lrn(layer, x[0]);
      case LayerType::relu:
        return add("Relu", layer.name, x);
      case LayerType::leaky_relu:
        return add("LeakyRelu",
                   layer.name,
                   x,
                   {{"alpha", static_cast<float>(layer.options.slope)}});
      case LayerType::tanh:
        return add("Tanh", layer.name, x);
      case LayerType::sigmoid:
        return add("Sigmoid", layer.name, x);
      case LayerType::dropout:
        return x[0];
      case LayerType::add:
        return add("Add", layer.name, alike(x));
      case LayerType::concat:
        return concat(layer, x);
      case LayerType::shortcut:
        return shortcut(layer, x[0]);
    }
    return {};
  }

  Value convolution(const LayerPlan& layer, const Value& x) {
    const LayerOptions& o = layer.options;
    const ConvolutionWindow pads = convolution_window(o);
    return add_weighted(
        "Conv",
        layer,
        square(x),
        {{"kernel_shape", Integers{o.kernel, o.kernel}},
         {"strides", Integers{o.stride, o.stride}},
         {"dilations", Integers{o.dilation, o.dilation}},
         {"group", std::int64_t{o.groups}},
         {"pads", Integers{pads.pad_begin, pads.pad_begin, pads.pad_end, pads.pad_end}}});
  }

  Value linear(const LayerPlan& layer, const Value& x) {
    Value y = add_weighted("Gemm", layer, flat(x), {{"transB", std::int64_t{1}}});
    y.flat = true;
    return y;
  }

  /// A 1x1 convolution whose filters pass one channel on, or nothing.
  Value shortcut(const LayerPlan& layer, const Value& x) {
    const std::int64_t channels = layer.in.c, filters = layer.out.c;
    std::vector<float> weight(static_cast<std::size_t>(filters * channels), 0.0F);
    const std::int64_t begin = (filters - channels) / 2;
    for (std::int64_t c = 0; c < channels; ++c) {
      weight[static_cast<std::size_t>((begin + c) * channels + c)] = 1;
    }
    const std::int64_t stride = layer.options.stride;
    Value y =
        add("Conv", layer.name, {square(x)}, {{"strides", Integers{stride, stride}}});
    nodes().back().inputs.push_back(layer.name + ".weight");
    model_.constants.push_back(std::move(weight));
    model_.weights.push_back(
        {layer.name + ".weight", {filters, channels, 1, 1}, model_.constants.back()});
    return y;
  }

  Value batch_norm(const LayerPlan& layer, const Value& x) {
    const double epsilon =
        layer.options.epsilon > 0 ? layer.options.epsilon : plan_.batch_norm.epsilon;
    Value y = add("BatchNormalization",
                  layer.name,
                  {x},
                  {{"epsilon", static_cast<float>(epsilon)}});
    for (const char* tensor :
         {".scale", ".shift", ".running_mean", ".running_variance"}) {
      nodes().back().inputs.push_back(layer.name + tensor);
    }
    return y;
  }

  /// ONNX has no rule against windows that begin beyond the image, and runtimes differ in
  /// what they divide by where rounding up and padding meet.
  static Attributes window(const LayerPlan& layer) {
    const LayerOptions& o = layer.options;
    const auto rounded_up = [&](std::int64_t pixels) {
      return (pixels + std::int64_t{2} * o.padding - o.size + o.stride - 1) / o.stride +
             1;
    };
    const bool is_cut = o.ceil && (rounded_up(layer.in.h) != layer.out.h ||
                                   rounded_up(layer.in.w) != layer.out.w);
    const bool is_vague =
        o.ceil && o.padding > 0 && layer.type == LayerType::average_pool;
    refuse(layer, is_cut || is_vague, "its windows are rounded up");
    return {{"kernel_shape", Integers{o.size, o.size}},
            {"strides", Integers{o.stride, o.stride}},
            {"pads", Integers{o.padding, o.padding, o.padding, o.padding}},
            {"ceil_mode", std::int64_t{o.ceil}}};
  }

  /// Padding counts, as in PyTorch.
  Value average_pool(const LayerPlan& layer, const Value& x) {
    Attributes attributes = window(layer);
    attributes["count_include_pad"] = std::int64_t{layer.options.padding > 0};
    return add("AveragePool", layer.name, {square(x)}, std::move(attributes));
  }

  Value lrn(const LayerPlan& layer, const Value& x) {
    const LayerOptions& o = layer.options;
    refuse(layer, o.size % 2 == 0, "its size is even");
    return add("LRN",
               layer.name,
               {square(x)},
               {{"size", std::int64_t{o.size}},
                {"alpha", static_cast<float>(o.alpha)},
                {"beta", static_cast<float>(o.beta)},
                {"bias", static_cast<float>(o.k)}});
  }

  Value concat(const LayerPlan& layer, const std::vector<Value>& x) {
    std::vector<Value> parts(x.size());
    std::transform(x.begin(), x.end(), parts.begin(), [&](const Value& each) {
      return square(each);
    });
    return add("Concat", layer.name, parts, {{"axis", std::int64_t{1}}});
  }

  Value flat(const Value& x) { return x.flat ? x : reshaped(x, "Flatten", {}); }

  /// With a height and a width, both 1 if it was flat.
  Value square(const Value& x) {
    return x.flat ? reshaped(x, "Unsqueeze", {{"axes", Integers{2, 3}}}) : x;
  }

  /// The other form of x, made once however many layers take it.
  Value reshaped(const Value& x, const std::string& op, Attributes attributes) {
    const auto found = reshaped_.find(x.name);
    if (found != reshaped_.end()) {
      return found->second;
    }
    Value y = add(op, x.name + "." + op, {x}, std::move(attributes));
    y.flat = !x.flat;
    reshaped_[x.name] = y;
    return y;
  }

  /// All flat, or none.
  std::vector<Value> alike(std::vector<Value> x) {
    if (std::any_of(x.begin(), x.end(), [](const Value& each) { return each.flat; })) {
      std::transform(
          x.begin(), x.end(), x.begin(), [&](const Value& each) { return flat(each); });
    }
    return x;
  }

  Value add(const std::string& op,
            const std::string& name,
            const std::vector<Value>& inputs,
            Attributes attributes = {}) {
    OnnxNode node{op, name, {}, name + ".out", std::move(attributes)};
    for (const Value& input : inputs) {
      node.inputs.push_back(input.name);
    }
    nodes().push_back(node);
    return {node.output, inputs[0].flat};
  }

  Value add_weighted(const std::string& op,
                     const LayerPlan& layer,
                     const Value& x,
                     Attributes attributes) {
    Value y = add(op, layer.name, {x}, std::move(attributes));
    nodes().back().inputs.push_back(layer.name + ".weight");
    if (layer.options.bias) {
      nodes().back().inputs.push_back(layer.name + ".bias");
    }
    return y;
  }

  std::vector<OnnxNode>& nodes() { return model_.nodes; }

  const NetworkPlan& plan_;
  OnnxModel& model_;
  std::map<std::string, Value> reshaped_;
};

}  // namespace

OnnxModel onnx_graph(const NetworkPlan& network, const NamedTensors& weights) {
  OnnxModel model;
  model.name = network.name;
  model.input = {network.input.c, network.input.h, network.input.w};
  model.classes = network.classes;
  GraphBuilder(network, model).build();
  for (const auto& [name, tensor] : weights) {
    model.weights.push_back({name, tensor.shape, tensor.values});
  }
  return model;
}

}  // namespace crossbow
