#pragma once
// What the files of keys share: short ways to make a binding, and the groups that do not
// fit into key_table.cpp.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "config/binding.hpp"
#include "config/run_config.hpp"

namespace crossbow {

using KeyBinding = Binding<RunConfig>;
using KeyBindings = std::vector<KeyBinding>;

inline constexpr double longest = 1e6;  // [epochs]

/// A key that sets the member which `access` returns a reference to.
template <class Access>
KeyBinding key(KeySpec spec, Access access) {
  return bind_key<RunConfig>(std::move(spec), access);
}

/// A key that has an effect only where `applies`: `condition` says when, in words, and
/// `decided_by` names the key that it depends on.
inline KeyBinding only_if(KeyBinding binding,
                          std::function<bool(const RunConfig&)> applies,
                          std::string condition,
                          std::string decided_by) {
  binding.applies = std::move(applies);
  binding.condition = std::move(condition);
  binding.decided_by = std::move(decided_by);
  return binding;
}

/// [optimizer] and [optimizer.schedule].
KeyBindings optimizer_keys();
/// [averaging].
KeyBindings averaging_keys();
/// [learners], [autotune] and [devices].
KeyBindings machine_keys();

}  // namespace crossbow
