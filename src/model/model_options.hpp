#pragma once
// What a deck says about the network: [model], [[model.layer]] and [batch_norm].

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace crossbow {

enum class LayerType {
  convolution,
  linear,
  max_pool,
  average_pool,
  global_average_pool,
  batch_norm,
  lrn,
  relu,
  leaky_relu,
  tanh,
  sigmoid,
  dropout,
  add,
  concat,
  shortcut,
};

/// Every type with its name in decks; unnamed layers are called after it.
inline constexpr std::array<std::pair<std::string_view, LayerType>, 15> layer_type_names{
    {{"convolution", LayerType::convolution},
     {"linear", LayerType::linear},
     {"max_pool", LayerType::max_pool},
     {"average_pool", LayerType::average_pool},
     {"global_average_pool", LayerType::global_average_pool},
     {"batch_norm", LayerType::batch_norm},
     {"lrn", LayerType::lrn},
     {"relu", LayerType::relu},
     {"leaky_relu", LayerType::leaky_relu},
     {"tanh", LayerType::tanh},
     {"sigmoid", LayerType::sigmoid},
     {"dropout", LayerType::dropout},
     {"add", LayerType::add},
     {"concat", LayerType::concat},
     {"shortcut", LayerType::shortcut}}};

/// Networks by name, see model/named_networks.hpp.
inline constexpr std::array<std::string_view, 15> network_names{"lenet",
                                                                "mlp",
                                                                "logistic",
                                                                "resnet20",
                                                                "resnet32",
                                                                "resnet44",
                                                                "resnet56",
                                                                "resnet110",
                                                                "resnet18",
                                                                "resnet34",
                                                                "resnet50",
                                                                "resnet101",
                                                                "vgg11",
                                                                "vgg16",
                                                                "allcnn"};

/// Return a type's name in decks.
constexpr std::string_view layer_type_name(LayerType type) {
  for (const auto& [name, value] : layer_type_names) {
    if (value == type) {
      return name;
    }
  }
  return {};
}

/// How many inputs layers of a type take.
struct InputCount {
  std::size_t least = 1, most = 1;

  std::string text() const {
    return (most > least ? "at least " : "") + std::to_string(least);
  }
};

constexpr InputCount input_count(LayerType type) {
  if (type == LayerType::concat) {
    return {2, std::numeric_limits<std::size_t>::max()};
  }
  return type == LayerType::add ? InputCount{2, 2} : InputCount{1, 1};
}

enum class InitializerKind {
  uniform_fan_in,  // +-1 / sqrt(fan_in), biases too: what PyTorch's layers have
  constant,
  uniform,
  gaussian,
  truncated_gaussian,  // drawn again beyond two standard deviations
  xavier,              // uniform, +-sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)
  he                   // gaussian, variance 2 / fan_in (He et al. 2015)
};

/// What the weights of a layer start from. Biases start from 0, but for uniform_fan_in.
struct Initializer {
  InitializerKind kind = InitializerKind::uniform_fan_in;
  double value = 0;             // constant
  double low = -0.05;           // uniform: from here
  double high = 0.05;           // to below here
  double mean = 0, std = 0.01;  // gaussian ones

  bool operator==(const Initializer&) const = default;
};

/// One [[model.layer]] of a deck. Keys that a type does not have stay at their defaults.
struct LayerOptions {
  LayerType type = LayerType::relu;
  std::string name;  // unique; empty: the builder makes one of type and index
  std::vector<std::string> inputs;  // empty: the layer before
  int filters = 0;                  // convolution, shortcut
  int kernel = 0;                   // convolution: square kernel [pixels]
  int stride = 0;  // convolution, shortcut (0: 1) and pooling (0: size) [pixels]
  bool padding_same = false;  // convolution: output as large as the input at stride 1
  int padding = 0;            // convolution, pooling: rows and columns on each side
  int groups = 1;             // convolution: of channels that see only each other
  int dilation = 1;           // convolution: distance of a window's pixels
  bool bias = true;           // convolution, linear
  int size = 0;               // pooling: square window [pixels]; lrn: channels
  bool ceil = false;          // pooling: round the number of windows up
  int units = 0;              // linear
  double epsilon = 0;         // batch_norm (0: [batch_norm] epsilon)
  double initial_scale = 1;   // batch_norm
  Initializer initializer;    // convolution, linear: of the weights
  double slope = 0.01;        // leaky_relu: of negative values
  double alpha = 1e-4;        // lrn, as are beta and k
  double beta = 0.75;
  double k = 1;
  double probability = 0;  // dropout: share of values set to zero
  std::string where;       // file:line:column of the layer, for messages

  bool operator==(const LayerOptions&) const = default;
};

/// How z gets its running batch-norm statistics (DESIGN 2, "Batch normalisation of z").
enum class BatchNormStatistics { average, recompute };

struct BatchNormOptions {
  BatchNormStatistics statistics = BatchNormStatistics::average;
  std::int64_t samples = 2048;  // recompute: training samples that z is run on
  double momentum = 0.1;        // weight of the newest batch in running statistics
  double epsilon = 1e-5;

  bool operator==(const BatchNormOptions&) const = default;
};

/// Whether a named network is a residual one for small images (resnet20 to resnet110).
constexpr bool is_small_resnet(std::string_view name) {
  return name == "resnet20" || name == "resnet32" || name == "resnet44" ||
         name == "resnet56" || name == "resnet110";
}

/// How a CIFAR ResNet's shortcuts change shape (He et al. 2016, 3.3): A thins and adds
/// channels of zeros, B projects by a 1x1 convolution with batch norm.
enum class ShortcutOption { a, b };

struct ModelOptions {
  std::string name = "lenet";       // of network_names; unused where layers is not empty
  std::vector<int> hidden = {128};  // mlp: units of the hidden layers
  double dropout = 0;               // lenet, mlp: dropout before the last layer
  ShortcutOption shortcut = ShortcutOption::a;  // resnet20 to resnet110
  std::string weights;  // file that a training starts from; empty: random
  InitializerKind initializer = InitializerKind::uniform_fan_in;  // of a named network
  std::vector<LayerOptions> layers;
  BatchNormOptions batch_norm;

  bool operator==(const ModelOptions&) const = default;
};

}  // namespace crossbow
