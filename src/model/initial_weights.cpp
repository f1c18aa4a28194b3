#include "model/initial_weights.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace crossbow {
namespace {

void fill_he(std::uint64_t seed, const std::string& name, NamedTensor& tensor) {
  double fan_in = 1;
  for (std::size_t i = 1; i < tensor.shape.size(); ++i) {
    fan_in *= static_cast<double>(tensor.shape[i]);
  }
  const double deviation = std::sqrt(2 / fan_in);
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = static_cast<float>(
        deviation * random_normal(seed, RandomPurpose::initialise, stable_hash(name), i));
  }
}

NamedTensors zeros(const ParameterLayout& layout) {
  NamedTensors tensors;
  for (const ParameterSlot& slot : layout.slots()) {
    const auto size = static_cast<std::size_t>(slot.elements());
    tensors[slot.name] = {slot.shape, std::vector<float>(size, 0.0F)};
  }
  return tensors;
}

}  // namespace

NamedTensors initial_weights(const ParameterLayout& layout, std::uint64_t seed) {
  NamedTensors tensors = zeros(layout);
  for (auto& [name, tensor] : tensors) {
    if (name.ends_with(".weight")) {
      fill_he(seed, name, tensor);
    } else if (name.ends_with(".scale")) {
      std::fill(tensor.values.begin(), tensor.values.end(), 1.0F);
    }
  }
  return tensors;
}

NamedTensors initial_statistics(const ParameterLayout& layout) {
  NamedTensors tensors = zeros(layout);
  for (auto& [name, tensor] : tensors) {
    if (name.ends_with(".running_variance")) {
      std::fill(tensor.values.begin(), tensor.values.end(), 1.0F);
    }
  }
  return tensors;
}

}  // namespace crossbow
