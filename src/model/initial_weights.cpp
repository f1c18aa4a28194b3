#include "model/initial_weights.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "base/random.hpp"

namespace crossbow {
namespace {

std::string stem_of(const std::string& name) {
  return name.substr(0, name.rfind('.'));
}

/// Sizes that an initialiser scales by, as PyTorch counts them, from [out, in / groups,
/// height, width]: the window's pixels times in / groups, and times out.
struct Fans {
  double in = 1, out = 1;
};

Fans fans_of(const ParameterSlot& weight) {
  const std::vector<std::int64_t>& shape = weight.shape;
  double window = 1;
  for (std::size_t i = 2; i < shape.size(); ++i) {
    window *= static_cast<double>(shape[i]);
  }
  return {static_cast<double>(shape[1]) * window, static_cast<double>(shape[0]) * window};
}

/// One value from the counter-based numbers of its tensor.
class Generator {
 public:
  Generator(std::uint64_t seed, const std::string& name, const Initializer& initializer)
      : seed_(seed), tensor_(stable_hash(name)), initializer_(initializer) {}

  double value(const Fans& fans, std::uint64_t i) const {
    const Initializer& from = initializer_;
    switch (from.kind) {
      case InitializerKind::constant:
        return from.value;
      case InitializerKind::uniform:
        return from.low + (from.high - from.low) * unit(i);
      case InitializerKind::gaussian:
        return from.mean + from.std * normal(i);
      case InitializerKind::truncated_gaussian:
        return from.mean + from.std * random_truncated_normal(
                                          seed_, RandomPurpose::initialise, tensor_, i);
      case InitializerKind::xavier:
        return std::sqrt(6 / (fans.in + fans.out)) * (2 * unit(i) - 1);
      case InitializerKind::he:
        return std::sqrt(2 / fans.in) * normal(i);
      case InitializerKind::uniform_fan_in:
        break;
    }
    return 1 / std::sqrt(fans.in) * (2 * unit(i) - 1);
  }

 private:
  double unit(std::uint64_t i) const {
    return random_uniform(seed_, RandomPurpose::initialise, tensor_, i);
  }
  double normal(std::uint64_t i) const {
    return random_normal(seed_, RandomPurpose::initialise, tensor_, i);
  }

  std::uint64_t seed_, tensor_;
  Initializer initializer_;
};

void fill(const ParameterSlot& slot,
          const Fans& fans,
          std::uint64_t seed,
          NamedTensor& tensor) {
  const Generator generator(seed, slot.name, slot.initializer);
  for (std::size_t i = 0; i < tensor.values.size(); ++i) {
    tensor.values[i] = static_cast<float>(generator.value(fans, i));
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
  std::map<std::string, Fans> fans;  // by layer: a bias has those of its weight
  for (const ParameterSlot& slot : layout.slots()) {
    const std::string layer = stem_of(slot.name);
    const bool is_weight = slot.name.ends_with(".weight");
    if (is_weight) {
      fans[layer] = fans_of(slot);
    }
    const bool like_weight = slot.name.ends_with(".bias") &&
                             slot.initializer.kind == InitializerKind::uniform_fan_in;
    if (is_weight || like_weight || slot.name.ends_with(".scale")) {
      fill(slot, fans[layer], seed, tensors.at(slot.name));
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
