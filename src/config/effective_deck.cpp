#include "config/effective_deck.hpp"

#include <algorithm>

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
  return value.empty() ? "# " + key + ": " + binding.spec.default_text + "\n"
                       : key + " = " + value + "\n";
}

std::string layer_text(const LayerOptions& layer) {
  const std::string type = layer_type_name(layer.type);
  std::string text = "\n[[model.layer]]\n";
  for (const Binding<LayerOptions>& binding : layer_table()) {
    const auto& kinds = binding.spec.kinds;
    const bool has_key =
        kinds.empty() || std::find(kinds.begin(), kinds.end(), type) != kinds.end();
    const std::string value = binding.show(layer);
    const bool is_given = value != "\"\"" && value != "[]";
    if (has_key && is_given) {
      text += binding.spec.key + " = " + value + "\n";
    }
  }
  return text;
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

}  // namespace crossbow
