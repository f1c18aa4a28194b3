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

const EnumNames<InitializerKind>& initializers() {
  static const EnumNames<InitializerKind> names = {
      {"uniform_fan_in", InitializerKind::uniform_fan_in},
      {"constant", InitializerKind::constant},
      {"uniform", InitializerKind::uniform},
      {"gaussian", InitializerKind::gaussian},
      {"truncated_gaussian", InitializerKind::truncated_gaussian},
      {"xavier", InitializerKind::xavier},
      {"he", InitializerKind::he}};
  return names;
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
           .kinds = {"convolution", "max_pool", "average_pool"},
           .unit = "pixels",
           .help = "Rows and columns on each side: zeros, which an average counts; a "
                   "maximum leaves them out. Pooling: at most half of `size`. "
                   "`\"same\"`, of convolutions: the output is as large as the input at "
                   "stride 1."},
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
           .help = "Names of earlier layers; `\"input\"` is the images. `add` needs two, "
                   "`concat`, along channels, at least two."},
          [](auto& layer) -> auto& { return layer.inputs; }),
  };
}

LayerBinding number_key(const std::string& name,
                        const std::string& kind,
                        KeyRange range,
                        const std::string& help,
                        double LayerOptions::*member) {
  return key(
      {.key = name,
       .type = KeyType::number,
       .range = range,
       .kinds = {kind},
       .help = help},
      [member](auto& layer) -> auto& { return layer.*member; });
}

LayerBindings window_keys() {
  const std::vector<std::string> pools = {"max_pool", "average_pool"};
  const auto positive = [](const std::string& name, double most) {
    return KeySpec{.key = name,
                   .type = KeyType::integer,
                   .range = from_to(1, most),
                   .kinds = {"convolution"}};
  };
  KeySpec stride = positive("stride", largest_window);
  stride.kinds.push_back("shortcut");
  stride.kinds.insert(stride.kinds.end(), pools.begin(), pools.end());
  stride.unit = "pixels";
  stride.default_text = "1; pooling: `size`";
  stride.help = "Distance of windows.";
  KeySpec groups = positive("groups", widest);
  groups.help =
      "Groups of channels that see only each other; as many as channels and "
      "filters: a depthwise convolution.";
  KeySpec dilation = positive("dilation", largest_window);
  dilation.unit = "pixels";
  dilation.help = "Distance of the pixels that a window sees.";
  return {
      size_key("kernel",
               {"convolution"},
               largest_window,
               "Square kernel.",
               &LayerOptions::kernel),
      size_key("size",
               {"max_pool", "average_pool", "lrn"},
               largest_window,
               "Square window; `lrn`: channels of the sum.",
               &LayerOptions::size),
      key(
          stride, [](auto& layer) -> auto& { return layer.stride; }),
      padding_key(),
      key(
          groups, [](auto& layer) -> auto& { return layer.groups; }),
      key(
          dilation, [](auto& layer) -> auto& { return layer.dilation; }),
      key(
          {.key = "ceil",
           .type = KeyType::boolean,
           .kinds = pools,
           .help = "Round the number of windows up: the last one may reach beyond the "
                   "image, but not begin there."},
          [](auto& layer) -> auto& { return layer.ceil; }),
  };
}

LayerBindings number_keys() {
  const std::string lrn =
      "y = x / (k + alpha / size * sum of x² over `size` channels)^beta.";
  return {
      key(
          {.key = "epsilon",
           .type = KeyType::number,
           .range = above_to(0, 1),
           .kinds = {"batch_norm"},
           .default_text = "`batch_norm.epsilon`",
           .help = "Added to the variance."},
          [](auto& layer) -> auto& { return layer.epsilon; }),
      number_key("initial_scale",
                 "batch_norm",
                 {},
                 "What the scale starts from; 0 in the last batch norm of a residual "
                 "branch makes its block start as the identity.",
                 &LayerOptions::initial_scale),
      number_key("alpha", "lrn", at_least(0), lrn, &LayerOptions::alpha),
      number_key("beta", "lrn", at_least(0), lrn, &LayerOptions::beta),
      number_key("k", "lrn", above(0), lrn, &LayerOptions::k),
      number_key("slope",
                 "leaky_relu",
                 from_to(0, 1),
                 "Factor of negative values.",
                 &LayerOptions::slope),
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

/// A number of the initialiser that has effect with some kinds only.
LayerBinding initial_key(const std::string& name,
                         const std::string& help,
                         std::vector<InitializerKind> kinds,
                         double Initializer::*member) {
  LayerBinding binding = key(
      {.key = name,
       .type = KeyType::number,
       .kinds = {"convolution", "linear"},
       .help = help},
      [member](auto& layer) -> auto& { return layer.initializer.*member; });
  std::vector<std::string> words;
  for (const auto& [word, kind] : initializers()) {
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
      words.push_back(toml_text(word));
    }
  }
  binding.applies = [kinds = std::move(kinds)](const LayerOptions& layer) {
    return std::find(kinds.begin(), kinds.end(), layer.initializer.kind) != kinds.end();
  };
  binding.condition = "with initializer = " + join(words, ", ", " or ");
  binding.decided_by = "initializer";
  return binding;
}

LayerBindings initializer_keys() {
  const std::vector<InitializerKind> gaussians = {InitializerKind::gaussian,
                                                  InitializerKind::truncated_gaussian};
  LayerBinding std_key = initial_key(
      "initial_std",
      "Standard deviation; `truncated_gaussian` draws again beyond two of these.",
      gaussians,
      &Initializer::std);
  std_key.spec.range = above(0);
  return {
      bind_names<LayerOptions>(
          {.section = section,
           .key = "initializer",
           .kinds = {"convolution", "linear"},
           .help = "What the weights start from. `uniform_fan_in`: uniform within "
                   "1/sqrt(fan_in), biases too, as PyTorch's layers; `xavier`: uniform "
                   "within sqrt(6/(fan_in + fan_out)); `he`: gaussian of variance "
                   "2/fan_in; the others have the values of their keys. Biases start "
                   "from 0 with all but the first."},
          initializers(),
          [](auto& layer) -> auto& { return layer.initializer.kind; }),
      initial_key("initial_value",
                  "Every weight.",
                  {InitializerKind::constant},
                  &Initializer::value),
      initial_key("initial_low",
                  "Bound below all weights.",
                  {InitializerKind::uniform},
                  &Initializer::low),
      initial_key("initial_high",
                  "Bound above all weights.",
                  {InitializerKind::uniform},
                  &Initializer::high),
      initial_key("initial_mean", "Mean.", gaussians, &Initializer::mean),
      std_key,
  };
}

LayerBindings own_keys() {
  LayerBindings keys = {
      size_key("filters",
               {"convolution", "shortcut"},
               widest,
               "Channels of the output; `shortcut` adds channels of zeros.",
               &LayerOptions::filters),
      size_key("units", {"linear"}, widest, "Size of the output.", &LayerOptions::units),
  };
  for (const LayerBindings& some : {window_keys(), number_keys()}) {
    keys.insert(keys.end(), some.begin(), some.end());
  }
  keys.push_back(key(
      {.key = "bias",
       .type = KeyType::boolean,
       .kinds = {"convolution", "linear"},
       .help = "Whether a bias is added."},
      [](auto& layer) -> auto& { return layer.bias; }));
  const LayerBindings initial = initializer_keys();
  keys.insert(keys.end(), initial.begin(), initial.end());
  return keys;
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
    const InputCount wanted = input_count(layer.type);
    const std::size_t given = layer.inputs.size();
    const bool fits = given >= wanted.least && given <= wanted.most;
    if (!fits && (given > 0 || wanted.least > 1)) {
      deck_.complain(
          table.place("inputs"),
          {"model.layer.inputs has " + std::to_string(given) + " names",
           "a layer of type " + toml_text(std::string(layer_type_name(layer.type))) +
               " takes " + wanted.text(),
           {},
           wanted.least == 1
               ? "Give one, or none"
               : "Give the layers to " + std::string(layer_type_name(layer.type))});
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

/// What does not fit together within a layer.
void check_values(InputDeck& deck, const LayerOptions& layer, const DeckTable& table) {
  if (layer.padding_same && layer.type != LayerType::convolution) {
    deck.complain(
        table.place("padding"),
        {"model.layer.padding = \"same\" is for convolutions",
         "this layer has type " + toml_text(std::string(layer_type_name(layer.type))),
         {},
         "Give a number of pixels"});
  }
  for (const LayerBinding& binding : layer_table()) {
    const bool is_given = table.find(binding.spec.key) != nullptr;
    if (is_given && binding.applies && !binding.applies(layer) &&
        !table.failed(binding.decided_by)) {
      deck.complain(table.place(binding.spec.key),
                    {"model.layer." + binding.spec.key + " has no effect",
                     "only " + binding.condition,
                     {},
                     "Remove it"});
    }
  }
  const Initializer& from = layer.initializer;
  if (from.kind == InitializerKind::uniform && from.low >= from.high) {
    const bool low_given = table.find("initial_low") != nullptr;
    deck.complain(table.place(low_given ? "initial_low" : "initial_high"),
                  {"model.layer.initial_low = " + toml_text(from.low) +
                       " leaves no room below model.layer.initial_high",
                   "which is " + toml_text(from.high),
                   {},
                   "Give a lower or a higher one"});
  }
}

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
  if (layer.stride == 0 && layer.type != LayerType::lrn) {
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
    check_values(deck, layer, table);
    layer.where = table.place().text();
    names.add(layer, table);
    layers.push_back(std::move(layer));
  }
  return layers;
}

}  // namespace crossbow
