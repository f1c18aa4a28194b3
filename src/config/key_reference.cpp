#include <array>
#include <string>
#include <vector>

#include "config/key_table.hpp"
#include "config/layer_table.hpp"
#include "config/run_config.hpp"

namespace crossbow {

namespace {

constexpr const char* introduction =
    R"(# Input decks

`crossbow run inputs/DECK.toml [section.key=value ...]` trains what a deck describes;
`crossbow check` only reads it. Copy the deck that is nearest to your job.

| deck | what it trains |
|---|---|
| `smoke_digits.toml` | a small network on 8x8 digits, in seconds; needs no other file |
| `lenet_fashion.toml` | LeNet on Fashion-MNIST with two learners: the main job |
| `lenet_fashion_drop.toml` | the same with a drop of the learning rate |
| `lenet_mnist.toml` | LeNet on MNIST until its accuracy is 99 % |
| `residual_fashion.toml` | a network of the deck's own, with a residual sum |
| `resnet32_cifar10.toml` | ResNet-32 on CIFAR-10 |
| `vgg16_cifar10.toml` | VGG-16 with batch norm and dropout on CIFAR-10 or CIFAR-100 |
| `resnet50_imagenet.toml` | ResNet-50 on a folder of photographs for each class |

A deck is a [TOML](https://toml.io) file. Keys that are not given have their defaults. A
number may be written as an integer. On the command line a value that is not TOML is a
string (`averaging.method=ssgd`), and a table replaces a table
(`'optimizer.schedule={policy="fixed"}'`). Mistakes are reported all at once, each with
its place, before anything runs, and the program ends with exit status 2.

This page is written by `crossbow keys`, from the tables that decks are checked against.
)";

std::string type_text(KeyType type) {
  switch (type) {
    case KeyType::boolean:
      return "boolean";
    case KeyType::integer:
      return "integer";
    case KeyType::number:
      return "number";
    case KeyType::text:
      return "string";
    case KeyType::integer_list:
      return "list of integers";
    case KeyType::number_list:
      return "list of numbers";
    case KeyType::text_list:
      return "list of strings";
  }
  return {};
}

std::string code(const std::string& text) {
  return "`" + text + "`";
}

/// `with name = "mlp"` with what follows its first word as code.
std::string condition_code(const std::string& condition) {
  const std::size_t space = condition.find(' ');
  return condition.empty()
             ? ""
             : condition.substr(0, space + 1) + code(condition.substr(space + 1));
}

/// What a key takes beyond its type.
std::string values_text(const KeySpec& spec) {
  std::vector<std::string> words;
  for (const std::string& word : spec.words) {
    words.push_back(code(toml_text(word)));
  }
  const std::string range = range_text(spec.range);
  const std::string one_of = join(words, ", ", " or ");
  std::string text =
      range.empty() || one_of.empty() ? range + one_of : range + ", or " + one_of;
  if (spec.type == KeyType::boolean) {
    text = "`true` or `false`";
  }
  if (spec.least_size > 0) {
    text += text.empty() ? "not empty" : "; not empty";
  }
  if (spec.most_size > 0) {
    text += (text.empty() ? "at most " : ", at most ") + std::to_string(spec.most_size) +
            " of them";
  }
  return text;
}

struct Row {
  const KeySpec& spec;
  std::string default_value;  // as TOML
  std::string condition;
};

std::string row_text(const Row& row) {
  const KeySpec& spec = row.spec;
  std::string fallback = spec.default_text;
  if (spec.required) {
    fallback = "must be given";
  } else if (fallback.empty()) {
    fallback = code(row.default_value);
  }
  const std::string condition =
      row.condition.empty() ? "" : " Only " + row.condition + ".";
  std::string text = "|";
  for (const std::string& cell : std::array{code(spec.key),
                                            type_text(spec.type),
                                            fallback,
                                            values_text(spec),
                                            spec.unit,
                                            spec.help + condition}) {
    text += " " + cell + (cell.empty() ? "|" : " |");
  }
  return text + "\n";
}

std::string heading(const std::string& title) {
  return "\n## " + title +
         "\n\n| key | type | default | values | unit | meaning "
         "|\n|---|---|---|---|---|---|\n";
}

std::string layer_rows() {
  const LayerOptions defaults;
  std::string text = heading("[[model.layer]]");
  for (const Binding<LayerOptions>& binding : layer_table()) {
    std::vector<std::string> kinds;
    for (const std::string& kind : binding.spec.kinds) {
      kinds.push_back(code(kind));
    }
    std::string condition = kinds.empty() ? "" : "with " + join(kinds, ", ", " and ");
    if (!binding.condition.empty()) {
      condition += ", " + condition_code(binding.condition);
    }
    text += row_text({binding.spec, binding.show(defaults), condition});
  }
  return text + R"(
Layers stand in order; each takes the output of the one before unless `inputs` says
otherwise. The last one must have as many outputs as the data has classes. There may be up to )" +
         std::to_string(most_layers) + " layers.\n";
}

}  // namespace

std::string key_reference() {
  const RunConfig defaults;
  std::string text = introduction;
  std::string section;
  for (const Binding<RunConfig>& binding : key_table()) {
    if (binding.spec.section != section) {
      if (section == "model") {
        text += layer_rows();
      }
      section = binding.spec.section;
      text += heading("[" + section + "]");
    }
    text += row_text(
        {binding.spec, binding.show(defaults), condition_code(binding.condition)});
  }
  return text;
}

}  // namespace crossbow
