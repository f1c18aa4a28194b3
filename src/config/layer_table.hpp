#pragma once
// The keys of [[model.layer]]: which there are depends on the layer's type.

#include <cstddef>
#include <string>
#include <vector>

#include "config/binding.hpp"
#include "model/model_options.hpp"

namespace crossbow {

/// Ten times the deepest network of the field; the work of planning grows with the
/// square.
inline constexpr std::size_t most_layers = 5000;

/// Return the keys of layers; a key's `spec.kinds` are the types that have it.
const std::vector<Binding<LayerOptions>>& layer_table();

/// Give keys that depend on others their values where the deck has none.
void settle_defaults(LayerOptions& layer, const BatchNormOptions& batch_norm);

/// Read the layers of a checked deck with settled defaults, and complain of names and
/// inputs that do not fit together.
std::vector<LayerOptions> read_layers(InputDeck& deck,
                                      const BatchNormOptions& batch_norm);

}  // namespace crossbow
