#include "config/effective_deck.hpp"

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "config/key_table.hpp"
#include "config/testing.hpp"

namespace crossbow {
namespace {

using testing::full_deck;
using testing::parse;

RunConfig without_places(RunConfig config) {
  for (LayerOptions& layer : config.model.layers) {
    layer.where.clear();
  }
  return config;
}

void expect_round_trip(const RunConfig& config) {
  const RunConfig again = parse_run_config(config.effective_deck, "again.toml", {});
  EXPECT_EQ(without_places(again), without_places(config)) << config.effective_deck;
}

TEST(EffectiveDeck, ReadsBackAsTheSameConfiguration) {
  expect_round_trip(parse(""));
  expect_round_trip(parse(full_deck));
  expect_round_trip(
      parse("[learners]\nper_device = \"auto\"\nmaximum = 6\n"
            "[autotune]\nthreshold = 0.2\nwindow = 0.5\n"));
  expect_round_trip(
      parse("[averaging]\nalpha = \"1/k\"\nperiod = \"never\"\n"
            "[data]\ntrain = \"a \\\"b\\\" \\\\c\\n\"\n"
            "[optimizer]\nlearning_rate = 0.1234567890123456\n"));
}

TEST(EffectiveDeck, HasEveryKeyWithItsValueOrWhyItHasNone) {
  const std::string text = parse("[training]\nbatch = 16\n").effective_deck;
  for (const std::string line :
       {"[training]\nbatch = 16\nepochs = 1.0\ntest_every = 1.0\n"
        "# target_accuracy: none\n",
        "[optimizer.schedule]\npolicy = \"fixed\"\n"
        "# steps: only with policy = \"multistep\"\n",
        "# mean: the training set's own\n",
        "# hidden: only with name = \"mlp\"\n",
        "alpha = \"auto\"\nmomentum = \"auto\"\nperiod = 1\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  for (const Binding<RunConfig>& binding : key_table()) {
    const std::string& key = binding.spec.key;
    EXPECT_TRUE(text.find("\n" + key + " = ") != std::string::npos ||
                text.find("\n# " + key + ": ") != std::string::npos)
        << key;
  }
}

std::string difference(const std::string& first, const std::string& second) {
  std::string text;
  for (const DeckDifference& each : training_differences(parse(first), parse(second))) {
    text +=
        (text.empty() ? "" : "; ") + each.key + ": " + each.first + ", " + each.second;
  }
  return text.empty() ? "none" : text;
}

TEST(TrainingDifference, IsOfWhatIsComputedAndNotOfHowLongOrWhere) {
  EXPECT_EQ(difference(full_deck, full_deck), "none");
  EXPECT_EQ(difference("",
                       "[run]\nname = \"x\"\noutput = \"y\"\ntime_limit = 7\n"
                       "[data]\ntrain = \"elsewhere\"\n"
                       "[training]\nepochs = 5\ntest_every = 0.5\n"
                       "[learners]\nper_device = 2\nthreads = 1\n"
                       "[checkpoint]\nkeep = 9\n"),
            "none");
  EXPECT_EQ(difference("", "[optimizer]\nmomentum = 0.5\n"),
            "optimizer.momentum: 0.9, 0.5");
  EXPECT_EQ(difference("[run]\nseed = 2\n", ""), "run.seed: 2, 1");
  EXPECT_EQ(difference("", "[data]\nshuffle = false\n"), "data.shuffle: true, false");
  EXPECT_EQ(difference("", "[run]\nseed = 2\n[optimizer]\nnesterov = true\n"),
            "run.seed: 1, 2; optimizer.nesterov: false, true");
  EXPECT_EQ(difference("", "[model]\nname = \"mlp\"\n"),
            "model.name: \"lenet\", \"mlp\"; model.hidden: -, [128]");
  EXPECT_EQ(difference("", "[optimizer.schedule]\npolicy = \"multistep\"\nsteps = [1]\n"),
            "optimizer.schedule.policy: \"fixed\", \"multistep\"; "
            "optimizer.schedule.steps: -, [1.0]; optimizer.schedule.gamma: -, 0.1");
  const std::string cosine = "[optimizer.schedule]\npolicy = \"cosine\"\n";
  EXPECT_EQ(difference(cosine, cosine + "[training]\nepochs = 5\n"),
            "training.epochs: 1.0, 5.0");
  const std::string linear = "[[model.layer]]\ntype = \"linear\"\nunits = ";
  EXPECT_EQ(difference(linear + "10\n", linear + "10\n"), "none");
  EXPECT_NE(difference(linear + "10\n", linear + "11\n"), "none");
  EXPECT_EQ(difference(linear + "10\n", linear + "10\n" + linear + "11\nbias = false\n"),
            "model.layer 2: -, {type = \"linear\", units = 11, bias = false, "
            "initializer = \"uniform_fan_in\"}");
  EXPECT_EQ(difference("", "[training]\nlabel_smoothing = 0.1\n"),
            "training.label_smoothing: 0.0, 0.1");
}

TEST(Decks, InInputsAreValid) {
  const std::filesystem::path inputs =
      std::filesystem::path(CROSSBOW_SOURCE_DIR) / "inputs";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(inputs)) {
    if (entry.path().extension() == ".toml") {
      SCOPED_TRACE(entry.path().string());
      ++count;
      RunConfig config;
      ASSERT_NO_THROW(config = read_run_config(entry.path().string(), {}));
      EXPECT_EQ(config.run.name, entry.path().stem().string());
      EXPECT_TRUE(config.data.mean && config.data.std);
      EXPECT_EQ(config.learners.per_device, 2);
      expect_round_trip(config);
    }
  }
  EXPECT_GE(count, 5);
}

TEST(Decks, AFileThatIsMissingIsAnErrorOfUsage) {
  try {
    read_run_config("no/such/deck.toml", {});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_STREQ(
        error.what(),
        "cannot read the deck no/such/deck.toml (No such file or directory). Give the "
        "path of a TOML file");
  }
}

}  // namespace
}  // namespace crossbow
