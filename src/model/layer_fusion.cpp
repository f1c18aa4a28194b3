#include "model/layer_fusion.hpp"

#include <cstddef>
#include <vector>

namespace crossbow {
namespace {

LayerPlan* only_consumer(NetworkPlan& plan,
                         std::size_t index,
                         LayerType type,
                         const std::vector<int>& count) {
  if (count[index] != 1) {
    return nullptr;
  }
  for (LayerPlan& layer : plan.layers) {
    if (layer.type == type && layer.inputs[0] == static_cast<int>(index)) {
      return &layer;
    }
  }
  return nullptr;
}

/// Whether layers of a type can end with a ReLU.
bool can_end_with_relu(LayerType type) {
  return type == LayerType::convolution || type == LayerType::linear ||
         type == LayerType::batch_norm || type == LayerType::add ||
         type == LayerType::max_pool;
}

/// Take a one-input layer out; what used it uses its input.
void remove(NetworkPlan& plan, std::size_t index) {
  const int removed = static_cast<int>(index);
  const int replacement = plan.layers[index].inputs[0];
  for (LayerPlan& layer : plan.layers) {
    for (int& input : layer.inputs) {
      input = input == removed ? replacement : input - (input > removed ? 1 : 0);
    }
  }
  plan.layers.erase(plan.layers.begin() + removed);
}

}  // namespace

void fuse_relus(NetworkPlan& plan) {
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    if (plan.layers[i].type != LayerType::relu ||
        plan.layers[i].inputs[0] == network_input) {
      continue;
    }
    const std::vector<int> count = consumers(plan);
    const auto before = static_cast<std::size_t>(plan.layers[i].inputs[0]);
    LayerPlan* pool = only_consumer(plan, i, LayerType::max_pool, count);
    LayerPlan& producer = plan.layers[before];
    if (pool != nullptr && !pool->relu) {
      pool->relu = true;
    } else if (count[before] == 1 && !producer.relu && can_end_with_relu(producer.type)) {
      producer.relu = true;
    } else {
      continue;
    }
    remove(plan, i);
    --i;
  }
}

}  // namespace crossbow
