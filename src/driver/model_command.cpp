#include <algorithm>
#include <filesystem>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

#include "config/effective_deck.hpp"
#include "driver/commands.hpp"
#include "driver/memory_need.hpp"
#include "driver/topology_drawing.hpp"
#include "model/named_networks.hpp"
#include "training/trainer.hpp"

namespace crossbow {
namespace {

/// What a network is made for.
struct ModelInput {
  ImageShape image;
  std::int64_t classes = 10;
};

/// The images that a network by name is known for.
ModelInput usual_input(const std::string& name) {
  if (name == "lenet" || name == "mlp" || name == "logistic") {
    return {{28, 28, 1}, 10};
  }
  const bool is_large = name.starts_with("resnet") && !is_small_resnet(name);
  return is_large ? ModelInput{{224, 224, 3}, 1000} : ModelInput{{32, 32, 3}, 10};
}

ImageShape parse_image(const std::string& text) {
  std::smatch extents;
  const std::regex pattern("([1-9][0-9]{0,5})x([1-9][0-9]{0,5})x([1-9][0-9]{0,5})");
  CROSSBOW_VALIDATE(std::regex_match(text, extents, pattern),
                    ExitCode::usage,
                    {fmt::format("\"{}\" is no size of images", text),
                     "",
                     "--image",
                     "Give height, width and channels, as in 32x32x3"});
  return {std::stoll(extents[1]), std::stoll(extents[2]), std::stoll(extents[3])};
}

bool is_network_name(const std::string& text) {
  return std::find(network_names.begin(), network_names.end(), text) !=
         network_names.end();
}

/// The deck that was named, or one that has the named network and nothing else.
RunConfig config_of(const ModelRequest& request) {
  if (is_network_name(request.model)) {
    return parse_run_config("[model]\nname = \"" + request.model + "\"\n",
                            "the network's name",
                            request.overrides);
  }
  std::error_code none;
  CROSSBOW_VALIDATE(
      std::filesystem::exists(request.model, none),
      ExitCode::usage,
      {fmt::format("\"{}\" is neither a network nor a deck", request.model),
       "",
       "",
       fmt::format("Name a deck or one of {}", fmt::join(network_names, ", "))});
  return read_run_config(request.model, request.overrides);
}

ModelInput input_of(const ModelRequest& request, const RunConfig& config) {
  ModelInput input = usual_input(request.model);
  if (!is_network_name(request.model) && (request.image.empty() || !request.classes)) {
    const Dataset data = load_data(config.data.train, Split::train, request.search, {});
    const ImageSize size = SampleSet{data, {}, {config.data.augment}}.image();
    input = {{size.h, size.w, size.c}, data.classes};
  }
  if (!request.image.empty()) {
    input.image = parse_image(request.image);
  }
  input.classes = request.classes.value_or(input.classes);
  return input;
}

std::string shape_text(const ImageShape& shape) {
  return fmt::format("{}x{}x{}", shape.h, shape.w, shape.c);
}

/// "1.2 M": a number with three digits and its power of a thousand.
std::string count_text(double value) {
  constexpr std::array<const char*, 5> units = {"", " k", " M", " G", " T"};
  std::size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < units.size(); ++unit) {
    value /= 1000;
  }
  return fmt::format(
      "{:.{}f}{}", value, unit == 0 || value >= 99.95 ? 0 : 2, units[unit]);
}

std::string inputs_text(const NetworkPlan& plan, const LayerPlan& layer) {
  std::vector<std::string> names;
  for (const int input : layer.inputs) {
    names.push_back(input == network_input
                        ? "input"
                        : plan.layers[static_cast<std::size_t>(input)].name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The trained numbers of one layer.
std::int64_t parameters_of(const NetworkPlan& plan, const LayerPlan& layer) {
  NetworkPlan alone = plan;
  alone.layers = {layer};
  return parameter_count(alone);
}

void print_layers(const NetworkPlan& plan) {
  fmt::print("{:<24} {:<24} {:>14} {:>12} {:>10}  {}\n",
             "layer",
             "type",
             "output",
             "parameters",
             "FLOP",
             "inputs");
  for (const LayerPlan& layer : plan.layers) {
    const std::int64_t parameters = parameters_of(plan, layer);
    const double flops = forward_flops(layer);
    fmt::print(
        "{:<24} {:<24} {:>14} {:>12} {:>10}  {}\n",
        layer.name,
        fmt::format("{}{}", layer_type_name(layer.type), layer.relu ? " + relu" : ""),
        shape_text(layer.out),
        parameters > 0 ? std::to_string(parameters) : "",
        flops > 0 ? count_text(flops) : "",
        inputs_text(plan, layer));
  }
}

void print_sums(const NetworkPlan& plan, const RunConfig& config) {
  double forward = 0;
  for (const LayerPlan& layer : plan.layers) {
    forward += forward_flops(layer);
  }
  const MemoryNeed need = memory_need(
      plan, {config.averaging.method, config.training.batch, 1, config.training.batch});
  fmt::print(
      "{}: {} parameters ({}); images of {} in {} classes\n"
      "{} FLOP forward, {} forward and backward per image (a product and a sum are two)\n"
      "a learner with batch {}: {} for weights, gradients and velocities, {} for "
      "activations\n",
      plan.name,
      parameter_count(plan),
      bytes_text(static_cast<double>(parameter_count(plan)) * sizeof(float)),
      shape_text(plan.input),
      plan.classes,
      count_text(forward),
      count_text(training_flops(plan)),
      config.training.batch,
      bytes_text(need.replicas),
      bytes_text(need.activations));
}

/// The network as [[model.layer]] tables, for a deck of one's own.
void print_deck(const RunConfig& config, const ModelInput& input) {
  std::vector<LayerOptions> layers = config.model.layers;
  if (layers.empty()) {
    layers = named_network(config.model, input.image, input.classes);
    for (LayerOptions& layer : layers) {
      layer.initializer.kind = config.model.initializer;
    }
  }
  fmt::print("# {} for images of {} in {} classes\n{}",
             config.model.layers.empty() ? config.model.name : "the network of the deck",
             shape_text(input.image),
             input.classes,
             layers_text(layers, config.model.batch_norm));
}

}  // namespace

int model_command(const ModelRequest& request) {
  const RunConfig config = config_of(request);
  const ModelInput input = input_of(request, config);
  const NetworkPlan plan = plan_network(config.model, input.image, input.classes);
  if (request.toml) {
    print_deck(config, input);
    return 0;
  }
  print_layers(plan);
  print_sums(plan, config);
  return 0;
}

}  // namespace crossbow
