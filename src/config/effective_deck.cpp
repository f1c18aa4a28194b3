#include "config/effective_deck.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "config/key_table.hpp"
#include "config/layer_table.hpp"

namespace crossbow {

namespace {

std::string line_of(const Binding<RunConfig>& binding, const RunConfig& config) {
  const std::string& key = binding.spec.key;
  if (binding.applies && !binding.applies(config)) {
    return "# " + key + ": only " + binding.condition + "\n";
  }
  const std::string value = binding.show(config);
  const std::string& fallback = binding.spec.default_text;
  const bool is_given =
      !value.empty() && (fallback.empty() || (value != "\"\"" && value != "[]"));
  return is_given ? key + " = " + value + "\n" : "# " + key + ": " + fallback + "\n";
}

std::string layer_text(const LayerOptions& layer) {
  const std::string_view type = layer_type_name(layer.type);
  std::string text = "\n[[model.layer]]\n";
  for (const Binding<LayerOptions>& binding : layer_table()) {
    const auto& kinds = binding.spec.kinds;
    const bool has_key =
        kinds.empty() || std::find(kinds.begin(), kinds.end(), type) != kinds.end();
    const std::string value = binding.show(layer);
    const bool is_given = value != "\"\"" && value != "[]";
    const bool applies = !binding.applies || binding.applies(layer);
    if (has_key && is_given && applies) {
      text += binding.spec.key + " = " + value + "\n";
    }
  }
  return text;
}

/// Whether the key decides what a training computes, and so must not change on the way.
bool shapes_training(const KeySpec& spec, const RunConfig& config) {
  const SchedulePolicy policy = config.optimizer.schedule.policy;
  if (spec.section == "training" && spec.key == "epochs") {
    return policy == SchedulePolicy::cosine || policy == SchedulePolicy::polynomial;
  }
  constexpr std::array<std::string_view, 6> sections = {"data.augment",
                                                        "model",
                                                        "batch_norm",
                                                        "optimizer",
                                                        "optimizer.schedule",
                                                        "averaging"};
  constexpr std::array<std::string_view, 4> keys = {
      "run.seed", "data.shuffle", "training.batch", "training.label_smoothing"};
  return std::find(sections.begin(), sections.end(), spec.section) != sections.end() ||
         std::find(keys.begin(), keys.end(), spec.section + "." + spec.key) != keys.end();
}

std::string value_in_force(const Binding<RunConfig>& binding, const RunConfig& config) {
  const bool applies = !binding.applies || binding.applies(config);
  const std::string value = applies ? binding.show(config) : "";
  return value.empty() ? "-" : value;
}

/// Layer i as a message can show it; "-" where there are fewer.
std::string layer_in_a_line(const RunConfig& config, std::size_t i) {
  if (i >= config.model.layers.size()) {
    return "-";
  }
  std::string text = layer_text(config.model.layers[i]);
  text.erase(0, text.find("]]\n") + 3);
  text.pop_back();
  for (std::size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n')) {
    text.replace(end, 1, ", ");
  }
  return "{" + text + "}";
}

}  // namespace

std::string effective_deck_text(const RunConfig& config) {
  std::string text = "# Every key with the value in force\n";
  std::string section;
  for (const Binding<RunConfig>& binding : key_table()) {
    if (binding.spec.section != section) {
      section = binding.spec.section;
      text += "\n[" + section + "]\n";
    }
    text += line_of(binding, config);
  }
  for (const LayerOptions& layer : config.model.layers) {
    text += layer_text(layer);
  }
  return text;
}

std::string layers_text(std::vector<LayerOptions> layers,
                        const BatchNormOptions& batch_norm) {
  std::string text;
  for (LayerOptions& layer : layers) {
    settle_defaults(layer, batch_norm);
    text += layer_text(layer);
  }
  return text;
}

std::vector<DeckDifference> training_differences(const RunConfig& first,
                                                 const RunConfig& second) {
  std::vector<DeckDifference> differences;
  const auto compare = [&](const std::string& key, std::string a, std::string b) {
    if (a != b) {
      differences.push_back({key, std::move(a), std::move(b)});
    }
  };
  for (const Binding<RunConfig>& binding : key_table()) {
    if (shapes_training(binding.spec, first)) {
      compare(binding.spec.section + "." + binding.spec.key,
              value_in_force(binding, first),
              value_in_force(binding, second));
    }
  }
  const std::size_t layers =
      std::max(first.model.layers.size(), second.model.layers.size());
  for (std::size_t i = 0; i < layers; ++i) {
    compare("model.layer " + std::to_string(i + 1),
            layer_in_a_line(first, i),
            layer_in_a_line(second, i));
  }
  return differences;
}

}  // namespace crossbow
