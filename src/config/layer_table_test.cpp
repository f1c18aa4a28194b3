#include "config/layer_table.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "config/run_config.hpp"

namespace crossbow {
namespace {

std::vector<LayerOptions> layers(const std::string& text) {
  return parse_run_config(text, "d.toml", {}).model.layers;
}

std::string complaints(const std::string& text) {
  try {
    layers(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

std::string layer(const std::string& type, const std::string& rest = "") {
  return "[[model.layer]]\ntype = \"" + type + "\"\n" + rest;
}

LayerOptions options(LayerType type, const std::string& where) {
  LayerOptions expected;
  expected.type = type;
  expected.where = where;
  return expected;
}

TEST(Layers, EveryKeyOfEveryTypeIsRead) {
  const std::vector<LayerOptions> read = layers(
      layer("convolution",
            "name = \"c\"\nfilters = 8\nkernel = 3\nstride = 2\npadding = 1\n") +
      layer("convolution",
            "filters = 8\nkernel = 3\npadding = \"same\"\nbias = false\n") +
      layer("batch_norm", "epsilon = 0.5\n") + layer("batch_norm") +
      layer("max_pool", "size = 2\n") + layer("average_pool", "size = 3\nstride = 1\n") +
      layer("relu") + layer("tanh", "name = \"t\"\n") +
      layer("add", "inputs = [\"t\", \"relu7\"]\n") + layer("global_average_pool") +
      layer("dropout", "probability = 0.25\n") +
      layer("linear", "units = 10\nbias = false\ninputs = [\"input\"]\n") +
      layer("shortcut", "filters = 16\nstride = 2\n") +
      layer("shortcut", "filters = 16\n"));
  std::vector<LayerOptions> expected = {
      options(LayerType::convolution, "d.toml:1:1"),
      options(LayerType::convolution, "d.toml:8:1"),
      options(LayerType::batch_norm, "d.toml:14:1"),
      options(LayerType::batch_norm, "d.toml:17:1"),
      options(LayerType::max_pool, "d.toml:19:1"),
      options(LayerType::average_pool, "d.toml:22:1"),
      options(LayerType::relu, "d.toml:26:1"),
      options(LayerType::tanh, "d.toml:28:1"),
      options(LayerType::add, "d.toml:31:1"),
      options(LayerType::global_average_pool, "d.toml:34:1"),
      options(LayerType::dropout, "d.toml:36:1"),
      options(LayerType::linear, "d.toml:39:1"),
      options(LayerType::shortcut, "d.toml:44:1"),
      options(LayerType::shortcut, "d.toml:48:1")};
  expected[0].name = "c";
  expected[0].filters = expected[1].filters = 8;
  expected[0].kernel = expected[1].kernel = 3;
  expected[0].stride = 2;
  expected[0].padding = 1;
  expected[1].stride = 1;
  expected[1].padding_same = true;
  expected[1].bias = false;
  expected[2].epsilon = 0.5;
  expected[3].epsilon = 1e-5;  // [batch_norm] epsilon
  expected[4].size = expected[4].stride = 2;
  expected[5].size = 3;
  expected[5].stride = 1;
  expected[7].name = "t";
  expected[8].inputs = {"t", "relu7"};
  expected[10].probability = 0.25;
  expected[11].units = 10;
  expected[11].bias = false;
  expected[11].inputs = {"input"};
  expected[12].filters = expected[13].filters = 16;
  expected[12].stride = 2;
  expected[13].stride = 1;
  ASSERT_EQ(read.size(), expected.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    EXPECT_EQ(read[i], expected[i]) << "layer " << i;
  }
}

TEST(Layers, KeysOfWindowsAndNormalisationAreRead) {
  const std::vector<LayerOptions> read =
      layers(layer("convolution",
                   "name = \"c\"\nfilters = 8\nkernel = 3\ngroups = 2\ndilation = 4\n") +
             layer("max_pool", "size = 3\npadding = 1\nceil = true\nname = \"p\"\n") +
             layer("batch_norm", "initial_scale = 0\n") +
             layer("lrn", "size = 5\nalpha = 0.5\nbeta = 1\nk = 2\n") +
             layer("leaky_relu", "slope = 0.25\n") + layer("sigmoid") +
             layer("concat", "inputs = [\"c\", \"p\", \"input\"]\n"));
  ASSERT_EQ(read.size(), 7U);
  EXPECT_EQ(read[0].groups, 2);
  EXPECT_EQ(read[0].dilation, 4);
  EXPECT_EQ(read[1].padding, 1);
  EXPECT_TRUE(read[1].ceil);
  EXPECT_EQ(read[2].initial_scale, 0);
  EXPECT_EQ(read[3].size, 5);
  EXPECT_EQ(read[3].alpha, 0.5);
  EXPECT_EQ(read[3].beta, 1);
  EXPECT_EQ(read[3].k, 2);
  EXPECT_EQ(read[4].slope, 0.25);
  EXPECT_EQ(read[5].type, LayerType::sigmoid);
  EXPECT_EQ(read[6].type, LayerType::concat);
  EXPECT_EQ(read[6].inputs.size(), 3U);
}

TEST(Layers, InitializersAndTheirValuesAreRead) {
  const auto initializer = [](const std::string& lines) {
    return layers(layer("linear", "units = 1\ninitializer = " + lines))[0].initializer;
  };
  using Kind = InitializerKind;
  EXPECT_EQ(layers(layer("linear", "units = 1\n"))[0].initializer, Initializer());
  EXPECT_EQ(initializer("\"uniform_fan_in\"\n"), Initializer());
  EXPECT_EQ(initializer("\"xavier\"\n").kind, Kind::xavier);
  EXPECT_EQ(initializer("\"he\"\n").kind, Kind::he);
  EXPECT_EQ(initializer("\"constant\"\ninitial_value = 2\n"),
            (Initializer{Kind::constant, 2}));
  EXPECT_EQ(initializer("\"uniform\"\ninitial_low = -1\ninitial_high = 3\n"),
            (Initializer{Kind::uniform, 0, -1, 3}));
  EXPECT_EQ(initializer("\"gaussian\"\ninitial_mean = 1\ninitial_std = 0.5\n"),
            (Initializer{Kind::gaussian, 0, -0.05, 0.05, 1, 0.5}));
  EXPECT_EQ(initializer("\"truncated_gaussian\"\n").kind, Kind::truncated_gaussian);
}

TEST(Layers, ValuesOfAnotherInitializerAreRefused) {
  EXPECT_EQ(complaints(layer("linear", "units = 1\ninitial_std = 1\n")),
            "model.layer.initial_std has no effect (only with initializer = "
            "\"gaussian\" or \"truncated_gaussian\", d.toml:4:15). Remove it");
  EXPECT_EQ(complaints(layer("linear",
                             "units = 1\ninitializer = \"uniform\"\n"
                             "initial_low = 0.05\n")),
            "model.layer.initial_low = 0.05 leaves no room below "
            "model.layer.initial_high (which is 0.05, d.toml:5:15). Give a lower or a "
            "higher one");
  EXPECT_EQ(
      complaints(
          layer("linear", "units = 1\ninitializer = \"gauss\"\ninitial_std = 1\n")),
      "model.layer.initializer is the string \"gauss\" (unknown, d.toml:4:15). Give "
      "\"uniform_fan_in\", \"constant\", \"uniform\", \"gaussian\", "
      "\"truncated_gaussian\", \"xavier\" or \"he\"; did you mean \"gaussian\"?");
}

TEST(Layers, OfAnEffectiveDeckAreTheSame) {
  const RunConfig config = parse_run_config(
      "[batch_norm]\nepsilon = 0.01\n" +
          layer("convolution", "filters = 8\nkernel = 3\n") +
          layer("batch_norm", "name = \"b\"\n") + layer("max_pool", "size = 2\n") +
          layer("convolution",
                "filters = 8\nkernel = 1\npadding = \"same\"\nbias = false\n") +
          layer("add", "inputs = [\"b\", \"input\"]\n") +
          layer("average_pool", "size = 2\npadding = 1\nceil = true\n") +
          layer("lrn", "size = 5\nbeta = 0.5\n") + layer("leaky_relu", "slope = 0.5\n") +
          layer("concat", "inputs = [\"b\", \"input\", \"b\"]\n") +
          layer("dropout", "probability = 0.25\n") +
          layer("linear",
                "units = 10\ninitializer = \"truncated_gaussian\"\ninitial_std = 1\n") +
          layer("linear", "units = 10\n"),
      "d.toml",
      {});
  EXPECT_EQ(config.model.layers[1].epsilon, 0.01);  // of [batch_norm]
  RunConfig again = parse_run_config(config.effective_deck, "e.toml", {});
  ASSERT_EQ(again.model.layers.size(), config.model.layers.size());
  for (std::size_t i = 0; i < again.model.layers.size(); ++i) {
    again.model.layers[i].where = config.model.layers[i].where;
  }
  EXPECT_EQ(again, config);
}

TEST(Layers, AKeyOfAnotherTypeIsRefused) {
  EXPECT_EQ(
      complaints(layer("relu", "units = 3\n")),
      "unknown key model.layer.units (the keys of type = \"relu\" are type, name and "
      "inputs, d.toml:3:1). Remove it or use one of these");
  EXPECT_EQ(
      complaints(layer("linear", "units = 3\nkernel = 3\n")),
      "unknown key model.layer.kernel (the keys of type = \"linear\" are type, name, "
      "inputs, units, bias, initializer, initial_value, initial_low, initial_high, "
      "initial_mean and initial_std, d.toml:4:1). Remove it or use one of these");
  EXPECT_EQ(
      complaints(layer("convolution", "fliters = 3\nkernel = 3\n")),
      "model.layer.filters is missing (it has no default, d.toml:1:1). Give an integer "
      "from 1 to 16777216\n"
      "unknown key model.layer.fliters (the keys of type = \"convolution\" are type, "
      "name, "
      "inputs, filters, kernel, stride, padding, groups, dilation, bias, initializer, "
      "initial_value, initial_low, initial_high, initial_mean and initial_std, "
      "d.toml:3:1). Did you mean filters?");
}

/// The keys of each type, as the design and the oracle's decks have them.
TEST(Layers, EachTypeTakesItsOwnKeysOnly) {
  const std::map<std::string, std::string> values = {{"filters", "1"},
                                                     {"kernel", "1"},
                                                     {"stride", "1"},
                                                     {"padding", "1"},
                                                     {"bias", "true"},
                                                     {"size", "1"},
                                                     {"units", "1"},
                                                     {"epsilon", "0.1"},
                                                     {"groups", "1"},
                                                     {"dilation", "1"},
                                                     {"ceil", "true"},
                                                     {"initial_scale", "1"},
                                                     {"initializer", "\"he\""},
                                                     {"alpha", "1"},
                                                     {"beta", "1"},
                                                     {"k", "1"},
                                                     {"slope", "0.1"},
                                                     {"probability", "0.1"}};
  const std::map<std::string, std::set<std::string>> keys = {
      {"convolution",
       {"filters",
        "kernel",
        "stride",
        "padding",
        "groups",
        "dilation",
        "bias",
        "initializer"}},
      {"linear", {"units", "bias", "initializer"}},
      {"max_pool", {"size", "stride", "padding", "ceil"}},
      {"average_pool", {"size", "stride", "padding", "ceil"}},
      {"global_average_pool", {}},
      {"batch_norm", {"epsilon", "initial_scale"}},
      {"lrn", {"size", "alpha", "beta", "k"}},
      {"relu", {}},
      {"leaky_relu", {"slope"}},
      {"tanh", {}},
      {"sigmoid", {}},
      {"dropout", {"probability"}},
      {"add", {}},
      {"concat", {}},
      {"shortcut", {"filters", "stride"}}};
  for (const auto& [type, own] : keys) {
    for (const auto& [key, value] : values) {
      const bool joins = type == "add" || type == "concat";
      std::string rest = joins ? "inputs = [\"input\", \"input\"]\n" : "";
      rest.append(key).append(" = ").append(value).append("\n");
      for (const std::string& other : own) {
        if (other != key) {
          rest.append(other).append(" = ").append(values.at(other)).append("\n");
        }
      }
      EXPECT_EQ(complaints(layer(type, rest)) == "no error", own.contains(key))
          << type << key;
    }
  }
}

TEST(Layers, MissingKeysAreNamed) {
  EXPECT_EQ(
      complaints(layer("convolution")),
      "model.layer.filters is missing (it has no default, d.toml:1:1). Give an integer "
      "from 1 to 16777216\n"
      "model.layer.kernel is missing (it has no default, d.toml:1:1). Give an integer "
      "from "
      "1 to 4096");
  EXPECT_EQ(complaints(layer("max_pool")),
            "model.layer.size is missing (it has no default, d.toml:1:1). Give an "
            "integer from 1 "
            "to 4096");
  EXPECT_EQ(
      complaints(layer("dropout")),
      "model.layer.probability is missing (it has no default, d.toml:1:1). Give a number "
      "from 0 to below 1");
  EXPECT_EQ(complaints("[[model.layer]]\nname = \"x\"\n"),
            "model.layer.type is missing (it has no default, d.toml:1:1). Give "
            "\"convolution\", "
            "\"linear\", \"max_pool\", \"average_pool\", \"global_average_pool\", "
            "\"batch_norm\", \"lrn\", \"relu\", \"leaky_relu\", \"tanh\", \"sigmoid\", "
            "\"dropout\", \"add\", \"concat\" or \"shortcut\"");
}

TEST(Layers, PaddingIsANumberOrSame) {
  const std::string text = layer("convolution", "filters = 1\nkernel = 3\npadding = ");
  EXPECT_EQ(complaints(text + "0\n"), "no error");
  EXPECT_EQ(
      complaints(text + "\"smae\"\n"),
      "model.layer.padding is the string \"smae\" (unknown word, d.toml:5:11). Give an "
      "integer from 0 to 4096 or \"same\"; did you mean \"same\"?");
  EXPECT_EQ(complaints(text + "-1\n"),
            "model.layer.padding is the integer -1 (out of range, d.toml:5:11). Give an "
            "integer "
            "from 0 to 4096 or \"same\"");
}

TEST(Layers, PaddingOfPoolsIsANumber) {
  const std::string text = layer("max_pool", "size = 3\npadding = ");
  EXPECT_EQ(complaints(text + "1\n"), "no error");
  EXPECT_EQ(complaints(text + "\"same\"\n"),
            "model.layer.padding = \"same\" is for convolutions (this layer has type "
            "\"max_pool\", d.toml:4:11). Give a number of pixels");
}

TEST(Layers, NamesAreUniqueAndPlain) {
  EXPECT_EQ(complaints(layer("relu", "name = \"a\"\n") + layer("tanh", "name = \"a\"\n")),
            "two layers have the name \"a\" (the first is at d.toml:3:8, d.toml:6:8). "
            "Rename one "
            "of them");
  // A layer without a name is called by its type and number.
  EXPECT_EQ(complaints(layer("relu") + layer("tanh", "name = \"relu1\"\n")),
            "two layers have the name \"relu1\" (the first is at d.toml:2:8, "
            "d.toml:5:8). Rename "
            "one of them");
  EXPECT_EQ(
      complaints(layer("relu", "name = \"a/b\"\n")),
      "model.layer.name \"a/b\" cannot be used (a name has letters, digits, _, - and . "
      "only, d.toml:3:8). Choose another name");
  EXPECT_EQ(
      complaints(layer("relu", "name = \"input\"\n")),
      "model.layer.name \"input\" cannot be used (it stands for the images, d.toml:3:8). "
      "Choose another name");
}

TEST(Layers, InputsAreEarlierLayersInTheRightNumber) {
  EXPECT_EQ(complaints(layer("relu", "name = \"trunk\"\n") +
                       layer("add", "inputs = [\"trunk\", \"trnk\"]\n")),
            "model.layer.inputs names \"trnk\" (no layer before this one has that name, "
            "d.toml:6:10). Did you mean \"trunk\"?");
  EXPECT_EQ(complaints(layer("relu", "name = \"self\"\ninputs = [\"self\"]\n")),
            "model.layer.inputs names \"self\" (no layer before this one has that name, "
            "d.toml:4:10). Name an earlier layer, or \"input\" for the images");
  EXPECT_EQ(complaints(layer("add")),
            "model.layer.inputs has 0 names (a layer of type \"add\" takes 2, "
            "d.toml:1:1). Give "
            "the layers to add");
  EXPECT_EQ(complaints(layer("concat", "inputs = [\"input\"]\n")),
            "model.layer.inputs has 1 names (a layer of type \"concat\" takes at least "
            "2, d.toml:3:10). Give the layers to concat");
  EXPECT_EQ(
      complaints(layer("relu", "inputs = [\"input\", \"input\"]\n")),
      "model.layer.inputs has 2 names (a layer of type \"relu\" takes 1, d.toml:3:10). "
      "Give one, or none");
}

/// The decks of the oracle's networks, as its files hold them.
TEST(Layers, TheOraclesDecksAreRead) {
  const std::string residual = R"([[model.layer]]
name = "conv1"
type = "convolution"
filters = 8
kernel = 3
padding = "same"
bias = false
[[model.layer]]
name = "bn1"
type = "batch_norm"
epsilon = 1e-5
[[model.layer]]
name = "trunk"
type = "tanh"
[[model.layer]]
name = "sum"
type = "add"
inputs = ["bn1", "trunk"]
[[model.layer]]
type = "tanh"
[[model.layer]]
type = "global_average_pool"
[[model.layer]]
name = "fc"
type = "linear"
units = 10
)";
  EXPECT_EQ(complaints(residual), "no error");
  EXPECT_EQ(layers(residual).size(), 7u);
}

}  // namespace
}  // namespace crossbow
