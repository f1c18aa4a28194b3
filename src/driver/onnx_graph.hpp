#pragma once
// A network as a graph of ONNX operators.

#include "io/onnx_file.hpp"

#include "model/network_plan.hpp"
#include "model/parameter_layout.hpp"

namespace crossbow {

/// The graph of `network` for inference (no dropout, running statistics) with these
/// weights, which must outlive it, named as in the network. Its input are normalised
/// pixels.
OnnxModel onnx_graph(const NetworkPlan& network, const NamedTensors& weights);

}  // namespace crossbow
