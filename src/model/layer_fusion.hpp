#pragma once
// Layers that become part of another one.

#include "model/network_plan.hpp"

namespace crossbow {

/// Fuse each ReLU into the layer that it alone follows, where that is a convolution,
/// linear layer, batch norm, sum or max pooling, or into the max pooling that alone
/// follows it (they commute, and there are fewer values behind). Changes no value.
void fuse_relus(NetworkPlan& plan);

}  // namespace crossbow
