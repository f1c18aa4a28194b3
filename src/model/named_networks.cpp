#include "model/named_networks.hpp"

#include <map>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace crossbow {
namespace {

LayerOptions layer(LayerType type, std::string name = "") {
  LayerOptions options;
  options.type = type;
  options.name = std::move(name);
  return options;
}

LayerOptions convolution(std::string name, int filters, int kernel) {
  LayerOptions options = layer(LayerType::convolution, std::move(name));
  options.filters = filters;
  options.kernel = kernel;
  return options;
}

LayerOptions linear(std::string name, std::int64_t units) {
  LayerOptions options = layer(LayerType::linear, std::move(name));
  options.units = static_cast<int>(units);
  return options;
}

LayerOptions max_pool(int size) {
  LayerOptions options = layer(LayerType::max_pool);
  options.size = size;
  return options;
}

LayerOptions dropout(double probability, std::string name = "") {
  LayerOptions options = layer(LayerType::dropout, std::move(name));
  options.probability = probability;
  return options;
}

std::vector<LayerOptions> lenet(const ModelOptions& options, std::int64_t classes) {
  std::vector<LayerOptions> layers = {convolution("conv1", 32, 5),
                                      layer(LayerType::relu),
                                      max_pool(2),
                                      convolution("conv2", 64, 5),
                                      layer(LayerType::relu),
                                      max_pool(2),
                                      linear("fc1", 1024),
                                      layer(LayerType::relu)};
  if (options.dropout > 0) {
    layers.push_back(dropout(options.dropout, "dropout"));
  }
  layers.push_back(linear("fc2", classes));
  return layers;
}

std::vector<LayerOptions> mlp(const ModelOptions& options, std::int64_t classes) {
  std::vector<LayerOptions> layers;
  int index = 1;
  for (const int units : options.hidden) {
    layers.push_back(linear("fc" + std::to_string(index++), units));
    layers.push_back(layer(LayerType::relu));
  }
  if (options.dropout > 0) {
    layers.push_back(dropout(options.dropout, "dropout"));
  }
  layers.push_back(linear("fc" + std::to_string(index), classes));
  return layers;
}

/// A window of a convolution: kernel, stride and, on each side, padding [pixels].
struct Window {
  int kernel = 3, stride = 1, padding = 1;
};

/// Builds networks of blocks. Layers without a name of their own take the last one's
/// output; `last()` is the name to come back to.
class Builder {
 public:
  std::vector<LayerOptions> take() { return std::move(layers_); }
  const std::string& last() const { return layers_.back().name; }

  LayerOptions& append(LayerOptions options) {
    layers_.push_back(std::move(options));
    return layers_.back();
  }

  LayerOptions& convolve(const std::string& name, int filters, const Window& window) {
    LayerOptions& conv = append(convolution(name, filters, window.kernel));
    conv.stride = window.stride;
    conv.padding = window.padding;
    return conv;
  }

  /// A convolution without bias and its batch norm, of the layer `input` (empty: the one
  /// before).
  void convolution_and_norm(const std::string& name,
                            const std::string& norm,
                            int filters,
                            const Window& window,
                            const std::string& input = "") {
    LayerOptions& conv = convolve(name, filters, window);
    conv.bias = false;
    if (!input.empty()) {
      conv.inputs = {input};
    }
    append(layer(LayerType::batch_norm, norm));
  }

  void relu(const std::string& name) { append(layer(LayerType::relu, name)); }

  void sum(const std::string& name, const std::string& a, const std::string& b) {
    append(layer(LayerType::add, name)).inputs = {a, b};
  }

 private:
  std::vector<LayerOptions> layers_;
};

/// A block of a residual network; names of layers begin with `name`.
struct Block {
  std::string name;
  int width = 0;   // of its 3x3 convolutions
  int stride = 1;  // of the first of them
  bool changes_shape = false;
};

/// The shortcut by a 1x1 convolution (option B); returns the layer's name.
std::string project(const Block& block,
                    const std::string& input,
                    int filters,
                    Builder& net) {
  net.convolution_and_norm(block.name + ".downsample.0",
                           block.name + ".downsample.1",
                           filters,
                           {1, block.stride, 0},
                           input);
  return net.last();
}

/// The shortcut without parameters (option A); returns the layer's name.
std::string thin(const Block& block, const std::string& input, Builder& net) {
  LayerOptions& shortcut =
      net.append(layer(LayerType::shortcut, block.name + ".shortcut"));
  shortcut.inputs = {input};
  shortcut.filters = block.width;
  shortcut.stride = block.stride;
  return net.last();
}

/// Two 3x3 convolutions (He et al. 2016, figure 5, left).
void basic_block(const Block& block, ShortcutOption option, Builder& net) {
  const std::string input = net.last();
  const std::string& name = block.name;
  net.convolution_and_norm(
      name + ".conv1", name + ".bn1", block.width, {3, block.stride, 1});
  net.relu(name + ".relu1");
  net.convolution_and_norm(name + ".conv2", name + ".bn2", block.width, {3, 1, 1});
  const std::string sum = net.last();
  std::string shortcut = input;
  if (block.changes_shape) {
    shortcut = option == ShortcutOption::a ? thin(block, input, net)
                                           : project(block, input, block.width, net);
  }
  net.sum(name + ".add", sum, shortcut);
  net.relu(name + ".relu2");
}

constexpr int expansion = 4;  // of a bottleneck's output

/// 1x1, 3x3 and 1x1 (the same, right).
void bottleneck(const Block& block, Builder& net) {
  const std::string input = net.last();
  const std::string& name = block.name;
  const int filters = expansion * block.width;
  net.convolution_and_norm(name + ".conv1", name + ".bn1", block.width, {1, 1, 0});
  net.relu(name + ".relu1");
  net.convolution_and_norm(
      name + ".conv2", name + ".bn2", block.width, {3, block.stride, 1});
  net.relu(name + ".relu2");
  net.convolution_and_norm(name + ".conv3", name + ".bn3", filters, {1, 1, 0});
  const std::string sum = net.last();
  const std::string shortcut =
      block.changes_shape ? project(block, input, filters, net) : input;
  net.sum(name + ".add", sum, shortcut);
  net.relu(name + ".relu3");
}

/// Stages of blocks with halved resolution and doubled width from stage to stage; `add`
/// makes one block.
template <class AddBlock>
void stages(const std::vector<int>& blocks,
            int width,
            bool first_changes_shape,
            const AddBlock& add) {
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, width *= 2) {
    for (int block = 0; block < blocks[stage]; ++block) {
      const bool halves = stage > 0 && block == 0;
      add(Block{"layer" + std::to_string(stage + 1) + "." + std::to_string(block),
                width,
                halves ? 2 : 1,
                halves || (first_changes_shape && block == 0)});
    }
  }
}

std::vector<LayerOptions> finish(Builder& net, std::int64_t classes) {
  net.append(layer(LayerType::global_average_pool, "avgpool"));
  net.append(linear("fc", classes));
  return net.take();
}

std::vector<LayerOptions> small_resnet(const ModelOptions& options,
                                       std::int64_t classes) {
  const int depth = std::stoi(options.name.substr(std::string("resnet").size()));
  const int blocks = (depth - 2) / 6;
  Builder net;
  net.convolution_and_norm("conv1", "bn1", 16, {3, 1, 1});
  net.relu("relu");
  stages({blocks, blocks, blocks}, 16, false, [&](const Block& block) {
    basic_block(block, options.shortcut, net);
  });
  return finish(net, classes);
}

std::vector<LayerOptions> large_resnet(const std::string& name, std::int64_t classes) {
  const std::map<std::string, std::vector<int>> blocks = {{"resnet18", {2, 2, 2, 2}},
                                                          {"resnet34", {3, 4, 6, 3}},
                                                          {"resnet50", {3, 4, 6, 3}},
                                                          {"resnet101", {3, 4, 23, 3}}};
  const bool is_deep = name == "resnet50" || name == "resnet101";
  Builder net;
  net.convolution_and_norm("conv1", "bn1", 64, {7, 2, 3});
  net.relu("relu");
  LayerOptions& pool = net.append(layer(LayerType::max_pool, "maxpool"));
  pool.size = 3;
  pool.stride = 2;
  pool.padding = 1;
  stages(blocks.at(name), 64, is_deep, [&](const Block& block) {
    if (is_deep) {
      bottleneck(block, net);
    } else {
      basic_block(block, ShortcutOption::b, net);
    }
  });
  return finish(net, classes);
}

/// Filters of 3x3 convolutions; 0 is a max pooling that halves the resolution.
using VggTable = std::vector<int>;

std::vector<LayerOptions> vgg(const VggTable& table, std::int64_t classes) {
  constexpr double first_share = 0.3, share = 0.4, classifier_share = 0.5;
  Builder net;
  int index = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const std::string number = std::to_string(index + 1);
    if (table[i] == 0) {
      net.append(max_pool(2));
      continue;
    }
    net.convolve("conv" + number, table[i], {3, 1, 1});
    net.append(layer(LayerType::batch_norm, "bn" + number));
    net.relu("relu" + number);
    if (i + 1 < table.size() && table[i + 1] != 0) {
      net.append(dropout(index == 0 ? first_share : share, "dropout" + number));
    }
    ++index;
  }
  constexpr int hidden = 512;
  net.append(dropout(classifier_share, "dropout_fc1"));
  net.append(linear("fc1", hidden));
  net.append(layer(LayerType::batch_norm, "bn_fc1"));
  net.relu("relu_fc1");
  net.append(dropout(classifier_share, "dropout_fc2"));
  net.append(linear("fc2", classes));
  return net.take();
}

std::vector<LayerOptions> all_convolutional(std::int64_t classes) {
  Builder net;
  int index = 0;
  const auto conv = [&](int filters, const Window& window) {
    const std::string number = std::to_string(++index);
    net.convolve("conv" + number, filters, window);
    net.relu("relu" + number);
  };
  net.append(dropout(0.2, "dropout1"));
  for (const int filters : {96, 192}) {
    conv(filters, {3, 1, 1});
    conv(filters, {3, 1, 1});
    conv(filters, {3, 2, 1});
    net.append(dropout(0.5, filters == 96 ? "dropout2" : "dropout3"));
  }
  conv(192, {3, 1, 1});
  conv(192, {1, 1, 0});
  conv(static_cast<int>(classes), {1, 1, 0});
  net.append(layer(LayerType::global_average_pool, "avgpool"));
  return net.take();
}

/// Throw unless the images have at least `least` rows and columns.
void check_image(const std::string& name, const ImageShape& input, std::int64_t least) {
  const std::string size = std::to_string(least);
  CROSSBOW_VALIDATE(input.h >= least && input.w >= least,
                    ExitCode::usage,
                    {name + " takes images of at least " + size + "x" + size + " pixels",
                     "those of the data set are " + std::to_string(input.h) + "x" +
                         std::to_string(input.w),
                     "model.name",
                     "Use \"mlp\", \"logistic\" or layers of your own"});
}

// 5 - 1 pixels less, halved, 5 - 1 less and halved again must leave one.
constexpr std::int64_t least_lenet_image = 16;
// Five times halved.
constexpr std::int64_t least_vgg_image = 32;

}  // namespace

std::vector<LayerOptions> named_network(const ModelOptions& options,
                                        const ImageShape& input,
                                        std::int64_t classes) {
  const std::string& name = options.name;
  if (name == "lenet") {
    check_image(name, input, least_lenet_image);
    return lenet(options, classes);
  }
  if (name == "mlp") {
    return mlp(options, classes);
  }
  if (name == "logistic") {
    return {linear("fc", classes)};
  }
  if (is_small_resnet(name)) {
    return small_resnet(options, classes);
  }
  if (name == "vgg11" || name == "vgg16") {
    check_image(name, input, least_vgg_image);
    return vgg(name == "vgg11"
                   ? VggTable{64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0}
                   : VggTable{64,
                              64,
                              0,
                              128,
                              128,
                              0,
                              256,
                              256,
                              256,
                              0,
                              512,
                              512,
                              512,
                              0,
                              512,
                              512,
                              512,
                              0},
               classes);
  }
  if (name == "allcnn") {
    return all_convolutional(classes);
  }
  CROSSBOW_VALIDATE(
      name == "resnet18" || name == "resnet34" || name == "resnet50" ||
          name == "resnet101",
      ExitCode::usage,
      {"there is no network named " + name,
       "",
       "model.name",
       "Use \"lenet\", \"mlp\", \"logistic\", \"resnet20\" to \"resnet110\", "
       "\"vgg11\", \"vgg16\", \"allcnn\" or \"resnet18\" to \"resnet101\""});
  return large_resnet(name, classes);
}

}  // namespace crossbow
