#pragma once
// Which gradients of activations may lie in one buffer: that of a sum and those of what
// it adds are equal, so that backward need not copy them.

#include <cstddef>
#include <vector>

#include "model/network_plan.hpp"

namespace crossbow {

/// For each input of layer `index`, a sum, whether its gradient may be the sum's own
/// buffer. Right where backward goes from the last layer to the first, the last user of
/// an activation writes its gradient and earlier ones add to it. False for every input of
/// layers of other types.
std::vector<bool> shared_gradients(const NetworkPlan& plan, std::size_t index);

}  // namespace crossbow
