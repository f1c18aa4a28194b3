#include "model/network_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "base/error.hpp"

#include "kernels/pool2d.hpp"

#include "model/convolution_window.hpp"
#include "model/layer_fusion.hpp"
#include "model/named_networks.hpp"

namespace crossbow {
namespace {

std::string describe(const ImageShape& shape) {
  return std::to_string(shape.h) + "x" + std::to_string(shape.w) + "x" +
         std::to_string(shape.c);
}

/// "layer conv1" and, where the deck has the layer, its place.
std::string place(const LayerPlan& plan) {
  const std::string layer = "layer " + plan.name;
  return plan.options.where.empty() ? layer : layer + ", " + plan.options.where;
}

class Planner {
 public:
  Planner(const ModelOptions& options, const ImageShape& input, std::int64_t classes)
      : classes_(classes) {
    plan_.name = options.layers.empty() ? options.name : "layers of the deck";
    plan_.input = input;
    plan_.classes = classes;
    plan_.batch_norm = options.batch_norm;
    if (options.layers.empty()) {
      initializer_ = options.initializer;
    }
  }

  NetworkPlan plan(const std::vector<LayerOptions>& layers) {
    CROSSBOW_VALIDATE(
        !layers.empty(), ExitCode::usage, {"the network has no layers", "", "", ""});
    for (const LayerOptions& options : layers) {
      append(options);
    }
    check_use();
    check_logits();
    fuse_relus(plan_);
    return std::move(plan_);
  }

 private:
  void append(const LayerOptions& options) {
    LayerPlan next;
    next.type = options.type;
    next.options = options;
    if (options.initializer.kind == InitializerKind::uniform_fan_in) {
      next.options.initializer.kind = initializer_;
    }
    const std::size_t index = plan_.layers.size();
    next.name = options.name.empty() ? std::string(layer_type_name(options.type)) +
                                           std::to_string(index + 1)
                                     : options.name;
    CROSSBOW_VALIDATE(
        indices_.emplace(next.name, static_cast<int>(index)).second,
        ExitCode::usage,
        {"two layers are named " + next.name, "", place(next), "Rename one of them"});
    next.inputs = resolve_inputs(next);
    next.in = shape_of(next.inputs.front());
    next.out = output_shape(next);
    plan_.layers.push_back(std::move(next));
  }

  std::vector<int> resolve_inputs(const LayerPlan& layer) const {
    const int before = static_cast<int>(plan_.layers.size()) - 1;
    const std::vector<std::string>& names = layer.options.inputs;
    std::vector<int> inputs;
    for (const std::string& name : names) {
      const auto found = indices_.find(name);
      const bool known = found != indices_.end() && found->second <= before;
      CROSSBOW_VALIDATE(known || name == "input",
                        ExitCode::usage,
                        {"input " + name + " is not a layer before this one",
                         "",
                         place(layer),
                         "Name an earlier layer, or \"input\" for the images"});
      inputs.push_back(known ? found->second : network_input);
    }
    if (inputs.empty()) {
      inputs.push_back(before);
    }
    const InputCount wanted = input_count(layer.type);
    CROSSBOW_VALIDATE(
        inputs.size() >= wanted.least && inputs.size() <= wanted.most,
        ExitCode::usage,
        {"a layer of type " + std::string(layer_type_name(layer.type)) + " takes " +
             wanted.text() + " input" + (wanted.most > 1 ? "s" : "") + " but has " +
             std::to_string(inputs.size()),
         "",
         place(layer),
         "Set the key inputs"});
    return inputs;
  }

  ImageShape shape_of(int index) const {
    return index == network_input ? plan_.input
                                  : plan_.layers[static_cast<std::size_t>(index)].out;
  }

  ImageShape output_shape(LayerPlan& layer) const {
    switch (layer.type) {
      case LayerType::convolution:
        return convolution_shape(layer);
      case LayerType::max_pool:
      case LayerType::average_pool:
        return pool_shape(layer);
      case LayerType::shortcut:
        return shortcut_shape(layer);
      case LayerType::global_average_pool:
        return {1, 1, layer.in.c};
      case LayerType::linear:
        return {1, 1, layer.options.units};
      case LayerType::add: {
        const ImageShape other = shape_of(layer.inputs[1]);
        CROSSBOW_VALIDATE(other == layer.in,
                          ExitCode::usage,
                          {"the inputs of a sum differ in shape",
                           describe(layer.in) + " and " + describe(other),
                           place(layer),
                           "Give both the same height, width and channels"});
        return layer.in;
      }
      case LayerType::concat:
        return concat_shape(layer);
      default:
        return layer.in;
    }
  }

  ImageShape concat_shape(LayerPlan& layer) const {
    ImageShape out{layer.in.h, layer.in.w, 0};
    for (const int input : layer.inputs) {
      const ImageShape part = shape_of(input);
      CROSSBOW_VALIDATE(part.h == out.h && part.w == out.w,
                        ExitCode::usage,
                        {"the inputs of a concatenation differ in height or width",
                         describe(layer.in) + " and " + describe(part),
                         place(layer),
                         "Give all the same height and width"});
      layer.input_channels.push_back(part.c);
      out.c += part.c;
    }
    return out;
  }

  static void check_window(const LayerPlan& layer,
                           std::int64_t window,
                           std::int64_t padding) {
    const bool fits = layer.in.h + padding >= window && layer.in.w + padding >= window;
    CROSSBOW_VALIDATE(
        fits,
        ExitCode::usage,
        {"a window of " + std::to_string(window) + " pixels does not fit its input",
         "which is " + describe(layer.in),
         place(layer),
         "Use a smaller window or padding"});
  }

  static ImageShape convolution_shape(LayerPlan& layer) {
    LayerOptions& o = layer.options;
    o.stride = std::max(o.stride, 1);
    CROSSBOW_VALIDATE(layer.in.c % o.groups == 0 && o.filters % o.groups == 0,
                      ExitCode::usage,
                      {std::to_string(o.groups) + " groups do not divide the channels",
                       std::to_string(layer.in.c) + " come in, " +
                           std::to_string(o.filters) + " filters go out",
                       place(layer),
                       "Use groups that divide both"});
    const ConvolutionWindow window = convolution_window(o);
    check_window(layer, window.size, window.padding());
    return {(layer.in.h + window.padding() - window.size) / o.stride + 1,
            (layer.in.w + window.padding() - window.size) / o.stride + 1,
            o.filters};
  }

  static ImageShape shortcut_shape(LayerPlan& layer) {
    LayerOptions& o = layer.options;
    o.stride = std::max(o.stride, 1);
    CROSSBOW_VALIDATE(
        o.filters >= layer.in.c,
        ExitCode::usage,
        {"a shortcut to " + std::to_string(o.filters) + " channels is not possible",
         "its input is " + describe(layer.in),
         place(layer),
         "Set filters to at least " + std::to_string(layer.in.c)});
    return {(layer.in.h + o.stride - 1) / o.stride,
            (layer.in.w + o.stride - 1) / o.stride,
            o.filters};
  }

  static ImageShape pool_shape(LayerPlan& layer) {
    LayerOptions& o = layer.options;
    o.stride = o.stride == 0 ? o.size : o.stride;
    check_window(layer, o.size, 2 * std::int64_t{o.padding});
    CROSSBOW_VALIDATE(o.type != LayerType::max_pool || o.size <= largest_max_pool,
                      ExitCode::usage,
                      {"a max_pool of size " + std::to_string(o.size) + " is too large",
                       "the largest has size " + std::to_string(largest_max_pool),
                       place(layer),
                       "Use a smaller size with a stride, two layers, or average_pool"});
    CROSSBOW_VALIDATE(o.padding <= o.size / 2,
                      ExitCode::usage,
                      {"a padding of " + std::to_string(o.padding) +
                           " pixels is more than half of the window",
                       "which has size " + std::to_string(o.size),
                       place(layer),
                       "Use at most half of the size"});
    Pool2dShape pool{1, layer.in.h, layer.in.w, layer.in.c, o.size, o.stride};
    pool.padding = o.padding;
    pool.ceil = o.ceil;
    return {pool.out_h(), pool.out_w(), layer.in.c};
  }

  void check_use() const {
    const std::vector<int> count = consumers(plan_);
    for (std::size_t i = 0; i + 1 < plan_.layers.size(); ++i) {
      CROSSBOW_VALIDATE(count[i] > 0,
                        ExitCode::usage,
                        {"nothing uses the output of a layer",
                         "",
                         place(plan_.layers[i]),
                         "Name it among the inputs of a later layer, or remove it"});
    }
  }

  void check_logits() const {
    const LayerPlan& last = plan_.layers.back();
    CROSSBOW_VALIDATE(last.out == (ImageShape{1, 1, classes_}),
                      ExitCode::usage,
                      {"the last layer gives " + describe(last.out) + " values per image",
                       "the data set has " + std::to_string(classes_) + " classes",
                       place(last),
                       "End the network with a linear layer of " +
                           std::to_string(classes_) + " units"});
  }

  NetworkPlan plan_;
  std::map<std::string, int> indices_;
  std::int64_t classes_;
  InitializerKind initializer_ = InitializerKind::uniform_fan_in;  // where not given
};

}  // namespace

double forward_flops(const LayerPlan& layer) {
  if (layer.type == LayerType::convolution) {
    const double window =
        static_cast<double>(layer.options.kernel) * layer.options.kernel;
    const std::int64_t channels = layer.in.c / layer.options.groups;
    return 2.0 * static_cast<double>(layer.out.size() * channels) * window;
  }
  if (layer.type == LayerType::linear) {
    return 2.0 * static_cast<double>(layer.out.c * layer.in.size());
  }
  return 0;
}

double training_flops(const LayerPlan& layer) {
  return forward_flops(layer) * (layer.inputs[0] == network_input ? 2 : 3);
}

double training_flops(const NetworkPlan& plan) {
  double flops = 0;
  for (const LayerPlan& layer : plan.layers) {
    flops += training_flops(layer);
  }
  return flops;
}

double activation_bytes(const NetworkPlan& plan) {
  double bytes = 0;
  for (const LayerPlan& layer : plan.layers) {
    bytes += sizeof(float) * static_cast<double>(layer.out.h) *
             static_cast<double>(layer.out.w) * static_cast<double>(layer.out.c);
  }
  return bytes;
}

NetworkTensors tensors_of(const NetworkPlan& plan) {
  NetworkTensors tensors;
  const auto add = [&](const LayerPlan& layer, std::vector<std::int64_t> weight) {
    tensors.parameters.push_back({layer.name + ".weight", std::move(weight)});
    if (layer.options.bias) {
      tensors.parameters.push_back({layer.name + ".bias", {layer.out.c}});
    }
  };
  for (const LayerPlan& layer : plan.layers) {
    const std::int64_t kernel = layer.options.kernel;
    if (layer.type == LayerType::convolution) {
      add(layer, {layer.out.c, layer.in.c / layer.options.groups, kernel, kernel});
    } else if (layer.type == LayerType::linear) {
      add(layer, {layer.out.c, layer.in.size()});
    } else if (layer.type == LayerType::batch_norm) {
      tensors.parameters.push_back({layer.name + ".scale", {layer.out.c}});
      tensors.parameters.push_back({layer.name + ".shift", {layer.out.c}});
      tensors.statistics.push_back({layer.name + ".running_mean", {layer.out.c}});
      tensors.statistics.push_back({layer.name + ".running_variance", {layer.out.c}});
    }
  }
  return tensors;
}

std::vector<int> consumers(const NetworkPlan& plan) {
  std::vector<int> count(plan.layers.size(), 0);
  for (const LayerPlan& layer : plan.layers) {
    for (const int input : layer.inputs) {
      if (input != network_input) {
        ++count[static_cast<std::size_t>(input)];
      }
    }
  }
  return count;
}

std::int64_t parameter_count(const NetworkPlan& plan) {
  std::int64_t count = 0;
  for (const NamedShape& tensor : tensors_of(plan).parameters) {
    count += std::accumulate(
        tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies<>());
  }
  return count;
}

NetworkPlan plan_network(const ModelOptions& options,
                         const ImageShape& input,
                         std::int64_t classes) {
  const std::vector<LayerOptions> layers =
      options.layers.empty() ? named_network(options, input, classes) : options.layers;
  return Planner(options, input, classes).plan(layers);
}

}  // namespace crossbow
