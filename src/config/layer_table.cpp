#include "config/layer_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace crossbow {

namespace {

using LayerBinding = Binding<LayerOptions>;
using LayerBindings = std::vector<LayerBinding>;

constexpr const char* section = "model.layer";
constexpr double widest = 1 << 24;  // units or filters; their products still fit 64 bits
constexpr double largest_window = 4096;

const EnumNames<LayerType>& layer_types() {
  static const EnumNames<LayerType> types(layer_type_names.begin(),
                                          layer_type_names.end());
  return types;
}

template <class Access>
LayerBinding key(KeySpec spec, Access access) {
  spec.section = section;
  return bind_key<LayerOptions>(std::move(spec), access);
}

LayerBinding size_key(const std::string& name,
                      std::vector<std::string> kinds,
                      double most,
                      const std::string& help,
                      int LayerOptions::*member) {
  return key(
      {.key = name,
       .type = KeyType::integer,
       .range = from_to(1, most),
       .required = true,
       .kinds = std::move(kinds),
       .unit = most == largest_window ? "pixels" : "",
       .help = help},
      [member](auto& layer) -> auto& { return layer.*member; });
}

LayerBinding padding_key() {
  const auto read = [](const DeckValue& value, LayerOptions& layer) {
    layer.padding_same = std::holds_alternative<std::string>(value);
    layer.padding =
        layer.padding_same ? 0 : static_cast<int>(std::get<std::int64_t>(value));
  };
  const auto show = [](const LayerOptions& layer) {
    return layer.padding_same ? toml_text("same") : toml_text(layer.padding);
  };
  return {{.section = section,
           .key = "padding",
           .type = KeyType::integer,
           .range = from_to(0, largest_window),
           .words = {"same"},
           .kinds = {"convolution"},
           .unit = "pixels",
           .help = "Rows and columns of zeros on each side; `\"same\"`: the output is as "
                   "large as "
                   "the input at stride 1."},
          read,
          show};
}

LayerBindings common_keys() {
  return {
      bind_names<LayerOptions>(
          {.section = section,
           .key = "type",
           .required = true,
           .help = "What the layer does."},
          layer_types(),
          [](auto& layer) -> auto& { return layer.type; }),
      key(
          {.key = "name",
           .least_size = 1,
           .default_text = "type and number",
           .help = "Name for `inputs` and for the layer's tensors; letters, digits, `_`, "
                   "`-`, `.`."},
          [](auto& layer) -> auto& { return layer.name; }),
      key(
          {.key = "inputs",
           .type = KeyType::text_list,
           .least_size = 1,
           .default_text = "the layer before",
           .help =
               "Names of earlier layers; `\"input\"` is the images. `add` needs two."},
          [](auto& layer) -> auto& { return layer.inputs; }),
  };
}

LayerBindings own_keys() {
  const std::vector<std::string> convolution = {"convolution"};
  const std::vector<std::string> pools = {"max_pool", "average_pool"};
  return {
      size_key("filters",
               {"convolution", "shortcut"},
               widest,
               "Channels of the output; `shortcut` adds channels of zeros.",
               &LayerOptions::filters),
      size_key(
          "kernel", convolution, largest_window, "Square kernel.", &LayerOptions::kernel),
      size_key("size", pools, largest_window, "Square window.", &LayerOptions::size),
      key(
          {.key = "stride",
           .type = KeyType::integer,
           .range = from_to(1, largest_window),
           .kinds = {"convolution", "shortcut", "max_pool", "average_pool"},
           .unit = "pixels",
           .default_text = "1; pooling: `size`",
           .help = "Distance of windows."},
          [](auto& layer) -> auto& { return layer.stride; }),
      padding_key(),
      size_key("units", {"linear"}, widest, "Size of the output.", &LayerOptions::units),
      key(
          {.key = "bias",
           .type = KeyType::boolean,
           .kinds = {"convolution", "linear"},
           .help = "Whether a bias is added."},
          [](auto& layer) -> auto& { return layer.bias; }),
      key(
          {.key = "epsilon",
           .type = KeyType::number,
           .range = above_to(0, 1),
           .kinds = {"batch_norm"},
           .default_text = "`batch_norm.epsilon`",
           .help = "Added to the variance."},
          [](auto& layer) -> auto& { return layer.epsilon; }),
      key(
          {.key = "probability",
           .type = KeyType::number,
           .range = from_to_below(0, 1),
           .required = true,
           .kinds = {"dropout"},
           .help = "Share of values set to zero."},
          [](auto& layer) -> auto& { return layer.probability; }),
  };
}

bool is_name(const std::string& name) {
  return std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.';
  });
}

/// Complains of names and inputs; the types of all layers are known here.
class NameCheck {
 public:
  explicit NameCheck(InputDeck& deck) : deck_(deck) {}

  void add(const LayerOptions& layer, const DeckTable& table) {
    check_inputs(layer, table);
    ++count_;
    const bool named = !layer.name.empty();
    const std::string name =
        named ? layer.name
              : std::string(layer_type_name(layer.type)) + std::to_string(count_);
    const DeckPlace& place = table.place(named ? "name" : "type");
    if (named && (!is_name(name) || name == "input")) {
      deck_.complain(place,
                     {"model.layer.name " + toml_text(name) + " cannot be used",
                      name == "input" ? "it stands for the images"
                                      : "a name has letters, digits, _, - and . only",
                      {},
                      "Choose another name"});
    } else if (const auto [first, is_new] = places_.emplace(name, place); !is_new) {
      deck_.complain(place,
                     {"two layers have the name " + toml_text(name),
                      "the first is at " + first->second.text(),
                      {},
                      "Rename one of them"});
    }
  }

 private:
  void check_inputs(const LayerOptions& layer, const DeckTable& table) {
    if (table.failed("inputs") || table.failed("type")) {
      return;
    }
    const std::size_t wanted = layer.type == LayerType::add ? 2 : 1;
    const std::size_t given = layer.inputs.size();
    if (given != wanted && (given > 0 || wanted > 1)) {
      deck_.complain(
          table.place("inputs"),
          {"model.layer.inputs has " + std::to_string(given) + " names",
           "a layer of type " + toml_text(std::string(layer_type_name(layer.type))) +
               " takes " + std::to_string(wanted),
           {},
           wanted > 1 ? "Give the two layers to add" : "Give one, or none"});
    }
    for (const std::string& input : layer.inputs) {
      if (input != "input" && !places_.contains(input)) {
        complain_unknown(input, table);
      }
    }
  }

  void complain_unknown(const std::string& input, const DeckTable& table) {
    std::vector<std::string> names;
    constexpr int most_suggestions = 20;  // each looks at the names of all layers
    for (const auto& [name, place] : places_) {
      if (unknown_ < most_suggestions) {
        names.push_back(name);
      }
    }
    ++unknown_;
    const std::string near = nearest(input, names);
    deck_.complain(table.place("inputs"),
                   {"model.layer.inputs names " + toml_text(input),
                    "no layer before this one has that name",
                    {},
                    near.empty() ? "Name an earlier layer, or \"input\" for the images"
                                 : "Did you mean " + toml_text(near) + "?"});
  }

  InputDeck& deck_;
  std::map<std::string, DeckPlace> places_;  // of the names so far
  int count_ = 0;
  int unknown_ = 0;  // inputs that name no layer
};

}  // namespace

const std::vector<LayerBinding>& layer_table() {
  static const LayerBindings table = [] {
    LayerBindings all = common_keys();
    const LayerBindings own = own_keys();
    all.insert(all.end(), own.begin(), own.end());
    return all;
  }();
  return table;
}

void settle_defaults(LayerOptions& layer, const BatchNormOptions& batch_norm) {
  const bool is_convolving =
      layer.type == LayerType::convolution || layer.type == LayerType::shortcut;
  if (layer.stride == 0) {
    layer.stride = is_convolving ? 1 : layer.size;
  }
  if (layer.type == LayerType::batch_norm && layer.epsilon == 0) {
    layer.epsilon = batch_norm.epsilon;
  }
}

std::vector<LayerOptions> read_layers(InputDeck& deck,
                                      const BatchNormOptions& batch_norm) {
  std::vector<LayerOptions> layers;
  NameCheck names(deck);
  for (const DeckTable& table : deck.tables(section)) {
    LayerOptions layer;
    for (const LayerBinding& binding : layer_table()) {
      if (const DeckValue* value = table.find(binding.spec.key)) {
        binding.read(*value, layer);
      }
    }
    settle_defaults(layer, batch_norm);
    layer.where = table.place().text();
    names.add(layer, table);
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace crossbow
