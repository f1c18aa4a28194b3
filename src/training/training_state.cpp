#include "training/training_state.hpp"

#include <string_view>
#include <utility>

#include "model/initial_weights.hpp"

namespace crossbow {

TrainingState initial_state(const ParameterLayout& parameters,
                            const ParameterLayout& statistics,
                            std::uint64_t seed) {
  TrainingState state;
  for (auto& [name, tensor] : initial_weights(parameters, seed)) {
    state.tensors["previous/" + name] = tensor;
    state.tensors["average/" + name] = tensor;
  }
  for (auto& [name, tensor] : initial_statistics(statistics)) {
    state.tensors["average_statistics/" + name] = tensor;
  }
  return state;
}

void keep_average_only(TrainingState& state) {
  NamedTensors kept;
  for (auto& [name, tensor] : state.tensors) {
    if (name.starts_with("average/")) {
      kept["previous/" + name.substr(std::string_view("average/").size())] = tensor;
    }
    if (name.starts_with("average/") || name.starts_with("average_statistics/")) {
      kept[name] = std::move(tensor);
    }
  }
  state.tensors = std::move(kept);
  state.restart_pending = false;
}

}  // namespace crossbow
