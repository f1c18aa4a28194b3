#include "model/gradient_sharing.hpp"

#include <algorithm>

namespace crossbow {
namespace {

/// Users of layer `index`, in order.
std::vector<std::size_t> users_of(const NetworkPlan& plan, int index) {
  std::vector<std::size_t> users;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const std::vector<int>& inputs = plan.layers[i].inputs;
    if (std::find(inputs.begin(), inputs.end(), index) != inputs.end()) {
      users.push_back(i);
    }
  }
  return users;
}

/// Whether a layer's backward only reads the gradient of its output. A fused ReLU masks
/// it in place, batch norm of the images has no other place for its result, and a sum
/// hands it on.
bool only_reads_gradient(const LayerPlan& layer) {
  switch (layer.type) {
    case LayerType::add:
      return false;
    case LayerType::convolution:
    case LayerType::linear:
      return !layer.relu;
    case LayerType::batch_norm:
      return layer.inputs[0] != network_input;
    default:
      return true;
  }
}

/// Whether both inputs of sum `index` may share. The later one has its backward first: it
/// must leave the buffer as it is, and until then nothing may be added for the other.
bool both_may_share(const NetworkPlan& plan, std::size_t index) {
  const auto [earlier, later] =
      std::minmax(plan.layers[index].inputs[0], plan.layers[index].inputs[1]);
  if (earlier == network_input || earlier == later) {
    return false;
  }
  const std::vector<std::size_t> of_earlier = users_of(plan, earlier);
  const auto between = std::count_if(
      of_earlier.begin(), of_earlier.end(), [&, last = later](std::size_t user) {
        return user > static_cast<std::size_t>(last);
      });
  return users_of(plan, later).size() == 1 && between == 1 &&
         only_reads_gradient(plan.layers[static_cast<std::size_t>(later)]);
}

}  // namespace

std::vector<bool> shared_gradients(const NetworkPlan& plan, std::size_t index) {
  const LayerPlan& layer = plan.layers[index];
  std::vector<bool> shared(layer.inputs.size(), false);
  if (layer.type != LayerType::add) {
    return shared;
  }
  if (both_may_share(plan, index)) {
    return {true, true};
  }
  // One may: the sum is done with the buffer, and it is the last user.
  for (std::size_t i = 0; i < shared.size(); ++i) {
    if (layer.inputs[i] != network_input &&
        users_of(plan, layer.inputs[i]).back() == index) {
      shared[i] = true;
      break;
    }
  }
  return shared;
}

}  // namespace crossbow
