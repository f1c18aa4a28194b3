#pragma once
// The deck in force, as text: what the run record keeps, so that a run can be repeated.

#include <string>

#include "config/run_config.hpp"

namespace crossbow {

/// Write every key with its value as TOML; reading it back gives the same RunConfig. A
/// key without a value, or without effect, is a comment that says so.
std::string effective_deck_text(const RunConfig& config);

}  // namespace crossbow
