#pragma once
// The deck in force, as text: what the run record keeps, so that a run can be repeated.

#include <string>
#include <vector>

#include "config/run_config.hpp"

namespace crossbow {

/// Write every key with its value as TOML; reading it back gives the same RunConfig. A
/// key without a value, or without effect, is a comment that says so.
std::string effective_deck_text(const RunConfig& config);

/// Write layers as [[model.layer]] tables, which a deck can have as they are.
std::string layers_text(std::vector<LayerOptions> layers,
                        const BatchNormOptions& batch_norm);

/// A key with its value in two decks, as TOML; "-" where it has no effect.
struct DeckDifference {
  std::string key, first, second;
};

/// Return the keys in which two decks describe different trainings: network, seed, batch,
/// order of samples, optimizer, averaging. How many learners there are, how long to train
/// (unless the rate depends on it), what to test, where to write and the paths of the
/// data do not count.
std::vector<DeckDifference> training_differences(const RunConfig& first,
                                                 const RunConfig& second);

}  // namespace crossbow
