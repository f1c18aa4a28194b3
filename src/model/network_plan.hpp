#pragma once
// A network as data: layers in order with names, inputs and shapes, checked against the
// images and classes of a data set. Pure: no memory, no device. Network
// (model/network.hpp) makes it run.

#include <cstdint>
#include <string>
#include <vector>

#include "model/model_options.hpp"

namespace crossbow {

/// Height, width and channels of one sample's activation.
struct ImageShape {
  std::int64_t h = 1, w = 1, c = 1;
  std::int64_t size() const { return h * w * c; }
  bool operator==(const ImageShape&) const = default;
};

inline constexpr int network_input = -1;  // index of the images among a layer's inputs

struct LayerPlan {
  LayerType type = LayerType::relu;
  std::string name;
  std::vector<int> inputs;  // indices into NetworkPlan::layers, or network_input
  ImageShape in, out;       // of the first input and of the output
  std::vector<std::int64_t> input_channels;  // concat: of each input
  LayerOptions options;
  bool relu = false;  // a ReLU that follows is computed inside this layer
};

struct NetworkPlan {
  std::string name;
  ImageShape input;
  std::int64_t classes = 1;
  std::vector<LayerPlan>
      layers;  // in an order that computes inputs first; the last gives logits
  BatchNormOptions batch_norm;
};

/// Resolve names, inputs and shapes and check them, throwing Error(usage) that names the
/// layer; then fuse ReLUs (model/layer_fusion.hpp).
NetworkPlan plan_network(const ModelOptions& options,
                         const ImageShape& input,
                         std::int64_t classes);

/// Floating-point operations of a layer's forward pass per image: two for each product
/// and sum of convolutions and linear layers; everything else is left out, as is usual.
double forward_flops(const LayerPlan& layer);

/// The same of forward and backward pass: backward once more for each gradient that is
/// computed (the first layer needs none of its input).
double training_flops(const LayerPlan& layer);

/// The sum of that over a network.
double training_flops(const NetworkPlan& plan);

/// Bytes of all layers' outputs per image; in double, since a deck may ask for any.
double activation_bytes(const NetworkPlan& plan);

/// A tensor's name and its shape in the exchange layout.
struct NamedShape {
  std::string name;
  std::vector<std::int64_t> shape;
};

/// The tensors of a network, in the order of its layers.
struct NetworkTensors {
  std::vector<NamedShape>
      parameters;  // weights and biases, scale and shift of batch norm
  std::vector<NamedShape> statistics;  // running ones of batch norm
};
NetworkTensors tensors_of(const NetworkPlan& plan);

/// How often each layer's output is an input.
std::vector<int> consumers(const NetworkPlan& plan);

/// Trainable numbers of a network.
std::int64_t parameter_count(const NetworkPlan& plan);

}  // namespace crossbow
