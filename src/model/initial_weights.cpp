#include "model/initial_weights.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace crossbow {
namespace {

std::string stem_of(const std::string& name) {
  return name.substr(0, name.rfind('.'));
}

/// Inputs that each output of layer `stem` sums over.
double fan_in_of(const std::string& stem, const NamedTensors& tensors) {
  const auto weight = tensors.find(stem + ".weight");
  double fan_in = 1;
  if (weight != tensors.end()) {
    for (std::size_t i = 1; i < weight->second.shape.size(); ++i) {
      fan_in *= static_cast<double>(weight->second.shape[i]);
    }
  }
  return fan_in;
}

void fill_uniform(std::uint64_t seed,
                  const std::string& name,
                  double bound,
                  NamedTensor& tensor) {
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    const double unit =
        random_uniform(seed, RandomPurpose::initialise, stable_hash(name), i);
    tensor.values[i] = static_cast<float>(bound * (2 * unit - 1));
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
    if (name.ends_with(".weight") || name.ends_with(".bias")) {
      fill_uniform(seed, name, 1 / std::sqrt(fan_in_of(stem_of(name), tensors)), tensor);
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
