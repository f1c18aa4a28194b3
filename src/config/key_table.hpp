#pragma once
// The keys of all sections but [[model.layer]].

#include <vector>

#include "config/binding.hpp"
#include "config/run_config.hpp"

namespace crossbow {

/// Return every key, section by section in the order of the reference.
const std::vector<Binding<RunConfig>>& key_table();

}  // namespace crossbow
