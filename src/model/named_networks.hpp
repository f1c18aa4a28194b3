#pragma once
// The networks that people train, by name, as the layers that a deck would spell out.

#include <cstdint>
#include <vector>

#include "model/network_plan.hpp"

namespace crossbow {

/// The layers of the network `options.name` (one of network_names) for images of shape
/// `input` in `classes` classes:
///
/// * lenet: of the CROSSBOW paper, 1,111,946 parameters on 28x28x1 in 10 classes.
/// * mlp, logistic: linear layers, with ReLU between them; one linear layer.
/// * resnet20, 32, 44, 56, 110: He et al. 2016, section 4.2 (CIFAR), 6n + 2 layers.
/// * resnet18, 34, 50, 101: He et al. 2016, table 1 (ImageNet); the stride of a
/// bottleneck
///   lies in its 3x3 convolution, and tensors are named, as in torchvision.
/// * vgg11, vgg16: Simonyan and Zisserman 2015, tables 1 A and D, as used on CIFAR
///   (Zagoruyko 2015): batch norm, dropout, one hidden linear layer of 512 units.
/// * allcnn: All-CNN-C of Springenberg et al. 2015.
///
/// Throws Error(usage) for another name and for images that are too small.
std::vector<LayerOptions> named_network(const ModelOptions& options,
                                        const ImageShape& input,
                                        std::int64_t classes);

}  // namespace crossbow
