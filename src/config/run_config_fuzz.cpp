// Fuzz target of input decks: an effective deck must read back as the same configuration.
// First lines that begin with "#=" are overrides of the command line.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fuzzing.hpp"

#include "config/run_config.hpp"

namespace {

using namespace crossbow;

RunConfig without_places(RunConfig config) {
  for (LayerOptions& layer : config.model.layers) {
    layer.where.clear();
  }
  return config;
}

std::vector<std::string> overrides_of(const std::string& text) {
  std::vector<std::string> overrides;
  std::size_t begin = 0;
  while (text.compare(begin, 2, "#=") == 0) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    overrides.push_back(text.substr(begin + 2, end - begin - 2));
    begin = std::min(end + 1, text.size());
  }
  return overrides;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto config = fuzzing::accepted(
      [&] { return parse_run_config(text, "deck.toml", overrides_of(text)); });
  if (config) {
    const auto again = fuzzing::accepted(
        [&] { return parse_run_config(config->effective_deck, "deck.toml", {}); });
    fuzzing::require(again && without_places(*again) == without_places(*config),
                     "the effective deck reads back as the same configuration");
  }
  return 0;
}
