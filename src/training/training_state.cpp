#include "training/training_state.hpp"

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

}  // namespace crossbow
