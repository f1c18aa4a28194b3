#include "config/run_config.hpp"

#include <array>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

#include "config/key_table.hpp"
#include "config/testing.hpp"

namespace crossbow {
namespace {

using testing::complaints;
using testing::full_deck;
using testing::parse;

TEST(RunConfig, AnEmptyDeckHasTheDefaults) {
  RunConfig expected;
  expected.run.name = "d";
  expected.run.output = "output/d";
  RunConfig config = parse("");
  config.effective_deck.clear();
  EXPECT_EQ(config, expected);
}

RunConfig full_config() {
  RunConfig c;
  c.run = {"trial 7", "/tmp/x", 9223372036854775807u, 3600.0, 2e9};
  c.data = {"a.h5", "b.h5", false, 0.25, 0.5, {32, 0, 24, true, true}};
  c.model.name = "mlp";
  c.model.hidden = {64, 32};
  c.model.weights = "w.npz";
  c.model.dropout = 0.5;
  c.model.initializer = InitializerKind::he;
  c.model.batch_norm = {BatchNormStatistics::recompute, 77, 0.2, 0.001};
  c.training = {65536, 0.5, 0.25, 1.0, 0.125};
  c.optimizer = {0, 0, true, 1e-4, 1.5, {SchedulePolicy::multistep, {1, 2.5}, 0.3}};
  c.optimizer.schedule.warmup_epochs = 0.25;
  c.optimizer.schedule.warmup_factor = 0.5;
  c.averaging = {AveragingMethodName::easgd, AlphaRule::number, 0.125, {}, 4, false};
  c.learners.per_device = 3;
  c.learners.threads = 2;
  c.devices = {BackendName::host,
               HostDomain::l3,
               {"l3-0", "l3-1"},
               "core:2 pu:1",
               "p.json",
               false};
  c.checkpoint = {1.5, 0.25, 7, true, WriteErrorPolicy::go_on};
  return c;
}

TEST(RunConfig, EveryKeySetsItsOption) {
  RunConfig config = parse(full_deck);
  config.effective_deck.clear();
  EXPECT_EQ(config, full_config());
}

TEST(RunConfig, KeysOfOtherPoliciesAndMethodsSetTheirOptions) {
  const auto schedule = [](const std::string& text) {
    return parse("[optimizer.schedule]\npolicy = " + text).optimizer.schedule;
  };
  EXPECT_EQ(schedule("\"step\"\nsize = 2.5\ngamma = 0.3\n").size, 2.5);
  EXPECT_EQ(schedule("\"step\"\nsize = 2.5\ngamma = 0.3\n").gamma, 0.3);
  EXPECT_EQ(schedule("\"inverse\"\ngamma = 0.3\npower = 0.75\n").power, 0.75);
  EXPECT_EQ(schedule("\"cosine\"\nminimum = 1e-4\n").minimum, 1e-4);
  const RunConfig config =
      parse("[averaging]\nmethod = \"post_local_sgd\"\nlocal_from_epoch = 2.5\n");
  EXPECT_EQ(config.averaging.local_from_epoch, 2.5);
  EXPECT_EQ(parse("[averaging]\nmomentum = 0.75\n").averaging.momentum, 0.75);
  EXPECT_EQ(parse("[data]\naugment = {pad = 4}\n").data.augment.pad, 4);
  const RunConfig tuned = parse(
      "[learners]\nper_device = \"auto\"\nmaximum = 6\n"
      "[autotune]\nthreshold = 0.2\nwindow = 0.5\n");
  EXPECT_TRUE(tuned.learners.is_tuned());
  EXPECT_EQ(tuned.learners.maximum, 6);
  EXPECT_EQ(tuned.autotune, (AutotuneOptions{0.2, 0.5}));
}

TEST(RunConfig, TheFullDeckHasNoKeyAtItsDefault) {
  // Guards the test above: a key that is not in the full deck, or sets nothing, shows
  // here.
  const RunConfig defaults;
  const RunConfig full = parse(full_deck);
  for (const Binding<RunConfig>& binding : key_table()) {
    if (binding.applies && !binding.applies(full)) {
      continue;
    }
    EXPECT_NE(binding.show(full), binding.show(defaults)) << binding.spec.key;
  }
}

TEST(RunConfig, WordsStandForAutomaticValues) {
  const auto averaging = [](const std::string& line) {
    return parse("[averaging]\n" + line + "\n").averaging;
  };
  EXPECT_EQ(averaging("alpha = \"auto\"").alpha_rule, AlphaRule::automatic);
  EXPECT_EQ(averaging("alpha = \"1/k\"").alpha_rule, AlphaRule::one_over_k);
  EXPECT_EQ(averaging("momentum = \"auto\"").momentum, std::nullopt);
  EXPECT_EQ(averaging("period = \"never\"").period, 0);
  EXPECT_EQ(averaging("period = 9000000000").period, 9000000000);
  EXPECT_EQ(parse("[learners]\nthreads = \"auto\"\n").learners.threads, 0);
  EXPECT_EQ(parse("[devices]\nbackend = \"cuda\"\n").devices.backend, BackendName::cuda);
  EXPECT_EQ(parse("[devices]\nbackend = \"auto\"\n").devices.backend,
            BackendName::automatic);
}

TEST(RunConfig, NameAndOutputFollowTheDeck) {
  EXPECT_EQ(parse_run_config("", "/a/b.c.toml", {}).run.name, "b.c");
  EXPECT_EQ(parse_run_config("", "", {}).run.name, "run");
  EXPECT_EQ(parse("", {"run.name=x"}).run.output, "output/x");
  EXPECT_EQ(parse("", {"run.name=x", "run.output=y"}).run.output, "y");
  for (const std::string name : {"a/b", "..", "."}) {
    EXPECT_EQ(complaints("[run]\nname = \"" + name + "\"\n"),
              "run.name \"" + name +
                  "\" cannot be used (a folder must be able to have this name, "
                  "d.toml:2:8). Give "
                  "a name without / and control characters");
  }
}

/// Whether a line is accepted in its section.
bool takes(const std::string& section, const std::string& line) {
  return complaints("[" + section + "]\n" + line + "\n") == "no error";
}

TEST(RunConfig, RangesTakeTheirEndsAndNothingBeyond) {
  const std::string multistep = "policy = \"multistep\"\n";
  const std::vector<std::array<std::string, 3>> cases = {
      // section, first or last value that is taken, next that is not
      {"run", "seed = 0", "seed = -1"},
      {"run", "time_limit = 0.001", "time_limit = 0"},
      {"run", "memory_limit = 1", "memory_limit = 0"},
      {"data", "train = \"x\"", "train = \"\""},
      {"data", "mean = 0", "mean = -0.001"},
      {"data", "mean = 1", "mean = 1.001"},
      {"data", "std = 0.001", "std = 0"},
      {"data", "std = 1", "std = 1.001"},
      {"model", "dropout = 0", "dropout = -0.001"},
      {"model", "dropout = 0.999", "dropout = 1"},
      {"model", "name = \"mlp\"\nhidden = [1]", "name = \"mlp\"\nhidden = []"},
      {"model",
       "name = \"mlp\"\nhidden = [16777216]",
       "name = \"mlp\"\nhidden = [16777217]"},
      {"model", "name = \"mlp\"\nhidden = [1, 1]", "name = \"mlp\"\nhidden = [1, 0]"},
      {"batch_norm", "momentum = 1", "momentum = 1.001"},
      {"batch_norm", "momentum = 0.001", "momentum = 0"},
      {"batch_norm", "epsilon = 1e-12", "epsilon = 0"},
      {"batch_norm", "epsilon = 1", "epsilon = 1.5"},
      {"training", "batch = 1", "batch = 0"},
      {"training", "batch = 65536", "batch = 65537"},
      {"training", "epochs = 1e-9", "epochs = 0"},
      {"training", "epochs = 1000000", "epochs = 1000001"},
      {"training", "test_every = 0", "test_every = -1"},
      {"training", "test_every = 1000000", "test_every = 1000001"},
      {"training", "target_accuracy = 0.001", "target_accuracy = 0"},
      {"training", "target_accuracy = 1", "target_accuracy = 1.001"},
      {"training", "label_smoothing = 0", "label_smoothing = -0.001"},
      {"training", "label_smoothing = 0.999", "label_smoothing = 1"},
      {"optimizer", "learning_rate = 0", "learning_rate = -1e-9"},
      {"optimizer", "momentum = 0", "momentum = -0.1"},
      {"optimizer", "momentum = 0.999", "momentum = 1"},
      {"optimizer", "weight_decay = 0", "weight_decay = -1e-9"},
      {"optimizer", "gradient_clip = 0", "gradient_clip = -1e-9"},
      {"averaging",
       "method = \"post_local_sgd\"\nlocal_from_epoch = 0",
       "method = \"post_local_sgd\"\nlocal_from_epoch = -1"},
      {"optimizer.schedule", multistep + "steps = [0.1]", multistep + "steps = [0]"},
      {"optimizer.schedule",
       multistep + "steps = [1000000]",
       multistep + "steps = [1000001]"},
      {"optimizer.schedule",
       multistep + "steps = [1]\ngamma = 1e-9",
       multistep + "steps = [1]\ngamma = 0"},
      {"optimizer.schedule",
       "policy = \"step\"\nsize = 0.000001",
       "policy = \"step\"\nsize = 0"},
      {"optimizer.schedule",
       "policy = \"polynomial\"\npower = 0.1",
       "policy = \"polynomial\"\npower = 0"},
      {"optimizer.schedule",
       "policy = \"cosine\"\nminimum = 0",
       "policy = \"cosine\"\nminimum = -1"},
      {"optimizer.schedule", "warmup_epochs = 0.5", "warmup_epochs = -1"},
      {"optimizer.schedule",
       "warmup_epochs = 0.5\nwarmup_factor = 1",
       "warmup_epochs = 0.5\nwarmup_factor = 1.1"},
      {"averaging", "alpha = 1e-9", "alpha = 0"},
      {"averaging", "period = \"never\"\nalpha = 2", "period = \"never\"\nalpha = 2.001"},
      {"averaging", "momentum = 0", "momentum = -0.1"},
      {"averaging", "momentum = 0.999", "momentum = 1"},
      {"averaging", "period = 1", "period = 0"},
      {"learners", "per_device = 1", "per_device = 0"},
      {"learners", "per_device = 1024", "per_device = 1025"},
      {"learners", "threads = 1", "threads = 0"},
      {"learners", "threads = 512", "threads = 513"},
      {"learners",
       "per_device = \"auto\"\nmaximum = 1",
       "per_device = \"auto\"\nmaximum = 0"},
      {"learners",
       "per_device = \"auto\"\nmaximum = 4096",
       "per_device = \"auto\"\nmaximum = 4097"},
      {"checkpoint", "every_epochs = 0", "every_epochs = -1"},
      {"checkpoint", "every_epochs = 1000000", "every_epochs = 1000001"},
      {"checkpoint", "every_minutes = 0", "every_minutes = -1"},
      {"checkpoint", "every_minutes = 1000000", "every_minutes = 1000001"},
      {"checkpoint", "keep = 1", "keep = 0"},
      {"checkpoint", "keep = 1000000", "keep = 1000001"},
  };
  for (const auto& [section, inside, outside] : cases) {
    EXPECT_TRUE(takes(section, inside)) << inside;
    EXPECT_FALSE(takes(section, outside)) << outside;
  }
}

TEST(RunConfig, AllComplaintsComeAtOnceInTheDecksOrder) {
  EXPECT_EQ(
      complaints("[training]\n"
                 "bacth = 16\n"
                 "epochs = \"ten\"\n"
                 "test_every = -1\n"
                 "[optimiser]\n"
                 "learning_rate = 0.1\n"
                 "[[model.layer]]\n"
                 "type = \"linear\"\n"
                 "[averaging]\n"
                 "alpha = 0.9\n"
                 "[learners]\n"
                 "per_device = 2\n",
                 {"run.seed=-1"}),
      "unknown key training.bacth (the keys of [training] are batch, epochs, "
      "test_every, target_accuracy and label_smoothing, d.toml:2:1). Did you mean "
      "training.batch?\n"
      "training.epochs is the string \"ten\" (wrong type, d.toml:3:10). Give a "
      "number above 0 up "
      "to 1000000\n"
      "training.test_every is the integer -1 (out of range, d.toml:4:14). Give a "
      "number from 0 "
      "to 1000000\n"
      "unknown section [optimiser] (the sections are run, data, data.augment, "
      "model, batch_norm, "
      "training, "
      "optimizer, optimizer.schedule, averaging, learners, autotune, devices, checkpoint "
      "and "
      "model.layer, "
      "d.toml:5:2). Did you mean [optimizer]?\n"
      "model.layer.units is missing (it has no default, d.toml:7:1). Give an "
      "integer from 1 to "
      "16777216\n"
      "averaging.alpha = 0.9 diverges (it must be below 2 (1 + m)/(k + 1 + m) = "
      "0.857143 for k = "
      "2 learners a device and averaging.momentum m = 0.5, d.toml:10:9). Give a "
      "smaller alpha or "
      "\"auto\"\n"
      "run.seed is the integer -1 (out of range, command line, \"run.seed=-1\"). "
      "Give an integer "
      "from 0 upwards");
}

TEST(RunConfig, LearnersAreNotTunedWhereThatMakesNoSense) {
  const std::string tuned = "[learners]\nper_device = \"auto\"\n";
  EXPECT_EQ(complaints(tuned + "[averaging]\nmethod = \"hogwild\"\n"), "no error");
  EXPECT_EQ(
      complaints(tuned + "[devices]\nplan = \"p.json\"\n"),
      "learners.per_device = \"auto\" cannot go with devices.plan (a plan has its "
      "own numbers of learners, d.toml:2:14). Give a number, or take the other out");
  EXPECT_EQ(complaints(tuned + "[devices]\ntopology = \"core:2 pu:1\"\n"),
            "learners.per_device = \"auto\" cannot go with devices.topology (how fast a "
            "played machine is says nothing about it, d.toml:2:14). Give a number, or "
            "take the other out");
  EXPECT_EQ(complaints("[learners]\nmaximum = 4\n"),
            "learners.maximum has no effect (only with per_device = \"auto\", "
            "d.toml:2:11). Remove it");
  EXPECT_EQ(complaints("[autotune]\nwindow = 1\n"),
            "autotune.window has no effect (only with learners.per_device = \"auto\", "
            "d.toml:2:10). Remove it");
  // With one learner, the first to be tried: alpha < 2 (1 + 0.5)/(1 + 1 + 0.5) = 1.2.
  EXPECT_EQ(complaints(tuned + "[averaging]\nalpha = 1.19\n"), "no error");
  EXPECT_NE(complaints(tuned + "[averaging]\nalpha = 1.2\n"), "no error");
}

TEST(RunConfig, AlphaMustBeStable) {
  // alpha (k + 1 + mu) < 2 (1 + mu). mu = 0.5, k = 2: alpha < 3/3.5.
  const std::string two = "[learners]\nper_device = 2\n[averaging]\n";
  EXPECT_EQ(complaints(two + "alpha = 0.857\n"), "no error");
  EXPECT_THAT(complaints(two + "alpha = 0.8572\n"),
              ::testing::StartsWith("averaging.alpha = "));
  // Without learner momentum mu is 0.9: alpha < 3.8/3.9 = 0.974...
  const std::string plain = "[optimizer]\nmomentum = 0\n" + two;
  EXPECT_EQ(complaints(plain + "alpha = 0.974\n"), "no error");
  EXPECT_THAT(complaints(plain + "alpha = 0.975\n"), ::testing::HasSubstr("m = 0.9, "));
  // 1/k is 1 for one learner: at the limit where mu is 0, below it elsewhere.
  EXPECT_EQ(complaints("[averaging]\nalpha = \"1/k\"\nmomentum = 0.001\n"), "no error");
  EXPECT_EQ(complaints("[averaging]\nmomentum = 0\nalpha = \"1/k\"\n"),
            "averaging.alpha = 1.0 diverges (it must be below 2 (1 + m)/(k + 1 + m) = 1 "
            "for k = 1 "
            "learners a device and averaging.momentum m = 0.0, d.toml:3:9). Give a "
            "smaller alpha "
            "or \"auto\"");
}

TEST(RunConfig, AlphaIsNotCheckedWhereNothingIsAveragedOrItsPartsAreWrong) {
  const std::string bad = "[learners]\nper_device = 2\n[averaging]\nalpha = 1.5\n";
  EXPECT_NE(complaints(bad), "no error");
  // Elastic averaging has no momentum: 0.7 x 3 is over 2, which sma's 0.5 would bear.
  for (const std::string method : {"easgd", "easgd_async"}) {
    const std::string text =
        "[learners]\nper_device = 2\n[averaging]\nmethod = \"" + method + "\"\nalpha = ";
    EXPECT_NE(complaints(text + "0.7\n"), "no error");
    EXPECT_EQ(complaints(text + "0.6\n"), "no error");
  }
  EXPECT_EQ(complaints(bad + "period = \"never\"\n"), "no error");
  EXPECT_EQ(complaints("[learners]\nper_device = -4\n[averaging]\nalpha = 1.5\n"),
            "learners.per_device is the integer -4 (out of range, d.toml:2:14). Give an "
            "integer from 1 to 1024 or \"auto\"");
}

TEST(RunConfig, MultistepNeedsStepsThatIncrease) {
  EXPECT_EQ(complaints("[optimizer]\nschedule = {policy = \"multistep\"}\n"),
            "optimizer.schedule.steps is missing (policy = \"multistep\" needs it, "
            "d.toml:2:22). "
            "Give a list of epochs, e.g. steps = [8, 12]");
  const std::string text = "[optimizer.schedule]\npolicy = \"multistep\"\nsteps = ";
  EXPECT_EQ(
      complaints(text + "[1, 2, 2]\n"),
      "optimizer.schedule.steps do not increase (2.0 stands before 2.0, d.toml:3:9). Put "
      "them in order, each once");
  EXPECT_EQ(
      complaints(text + "[3, 1]\n"),
      "optimizer.schedule.steps do not increase (3.0 stands before 1.0, d.toml:3:9). Put "
      "them in order, each once");
  EXPECT_EQ(complaints(text + "[0]\n"),
            "optimizer.schedule.steps has the integer 0 (out of range, d.toml:3:10). "
            "Give a list "
            "of 1 to 1000 numbers above 0 up to 1000000");
}

TEST(RunConfig, ExponentialAndInverseNeedTheirGamma) {
  for (const std::string policy : {"exponential", "inverse"}) {
    const std::string text = "[optimizer.schedule]\npolicy = \"" + policy + "\"\n";
    EXPECT_EQ(
        complaints(text),
        "optimizer.schedule.gamma is missing (this policy has no usual value of it, "
        "d.toml:2:10). Give one, e.g. 0.9 with \"exponential\" or 0.01 with "
        "\"inverse\"");
    EXPECT_EQ(complaints(text + "gamma = 0.5\n"), "no error");
  }
}

TEST(RunConfig, AWarmUpLeavesSomethingToTheTraining) {
  const std::string text =
      "[training]\nepochs = 3\n[optimizer.schedule]\npolicy = \"fixed\"\n"
      "warmup_epochs = 3\n";
  for (const std::string policy : {"cosine", "polynomial"}) {
    const std::string wanted = "optimizer.schedule.policy=" + policy;
    EXPECT_EQ(
        complaints(text, {wanted}),
        "the warm-up leaves no epoch to the policy (optimizer.schedule.warmup_epochs "
        "= 3.0 of training.epochs = 3.0, d.toml:5:17). Train longer or warm up for "
        "less");
    EXPECT_EQ(complaints(text, {wanted, "optimizer.schedule.warmup_epochs=2.5"}),
              "no error");
  }
  EXPECT_EQ(complaints(text), "no error");
}

TEST(RunConfig, HogwildIsForTheHost) {
  const std::string text = "[averaging]\nmethod = \"hogwild\"\n[devices]\nbackend = ";
  EXPECT_EQ(
      complaints(text + "\"cuda\"\n"),
      "averaging.method = \"hogwild\" cannot run on the cuda backend (it is for the "
      "host's cores only, d.toml:4:11). Set devices.backend = \"host\", or another "
      "method");
  EXPECT_EQ(complaints(text + "\"host\"\n"), "no error");
  EXPECT_EQ(complaints(text + "\"auto\"\n"), "no error");
}

TEST(RunConfig, KeysWithoutEffectAreRefused) {
  EXPECT_EQ(complaints("[optimizer.schedule]\nsteps = [1]\ngamma = 0.5\n"),
            "optimizer.schedule.steps has no effect (only with policy = \"multistep\", "
            "d.toml:2:9). Remove it\n"
            "optimizer.schedule.gamma has no effect (only with policy = \"multistep\", "
            "\"step\", \"exponential\" or \"inverse\", d.toml:3:9). Remove it");
  EXPECT_EQ(
      complaints("[optimizer.schedule]\npolicy = \"cosine\"\nsize = 2\npower = 2\n"
                 "warmup_factor = 0.5\n"),
      "optimizer.schedule.size has no effect (only with policy = \"step\", "
      "d.toml:3:8). Remove it\n"
      "optimizer.schedule.power has no effect (only with policy = \"inverse\" or "
      "\"polynomial\", d.toml:4:9). Remove it\n"
      "optimizer.schedule.warmup_factor has no effect (only with warmup_epochs above "
      "0, d.toml:5:17). Remove it");
  EXPECT_EQ(
      complaints("[model]\nhidden = [3]\n"),
      "model.hidden has no effect (only with name = \"mlp\", d.toml:2:10). Remove it");
  EXPECT_EQ(
      complaints("[model]\nname = \"logistic\"\ndropout = 0.5\n"),
      "model.dropout has no effect (only with name = \"lenet\" or \"mlp\", d.toml:3:11). "
      "Remove it");
  EXPECT_EQ(
      complaints("[model]\ninitializer = \"he\"\n[[model.layer]]\ntype = \"relu\"\n"),
      "model.initializer has no effect (only without [[model.layer]], d.toml:2:15). "
      "Remove it");
  EXPECT_EQ(
      complaints("[model]\nname = \"mlp\"\n[[model.layer]]\ntype = \"relu\"\n"),
      "model.name has no effect (only without [[model.layer]], d.toml:2:8). Remove it");
}

TEST(RunConfig, AWrongNameCausesNoFurtherComplaint) {
  EXPECT_EQ(complaints("[model]\nname = \"mpl\"\nhidden = [3]\n"),
            "model.name is the string \"mpl\" (unknown, d.toml:2:8). Give \"lenet\", "
            "\"mlp\", \"logistic\", \"resnet20\", \"resnet32\", \"resnet44\", "
            "\"resnet56\", \"resnet110\", \"resnet18\", \"resnet34\", \"resnet50\", "
            "\"resnet101\", \"vgg11\", \"vgg16\" or \"allcnn\"; did you mean \"mlp\"?");
  EXPECT_EQ(
      complaints("[optimizer.schedule]\npolicy = \"steps\"\nsteps = [2, 1]\n"),
      "optimizer.schedule.policy is the string \"steps\" (unknown, d.toml:2:10). Give "
      "\"fixed\", \"multistep\", \"step\", \"exponential\", \"inverse\", \"polynomial\" "
      "or "
      "\"cosine\"; did you mean \"step\"?");
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

// Planning takes time with the square of the number of layers.
TEST(RunConfig, ListsHaveAnEnd) {
  const std::string mlp = "[model]\nname = \"mlp\"\nhidden = [";
  EXPECT_EQ(parse(mlp + repeated("1,", 1000) + "]\n").model.hidden.size(), 1000U);
  EXPECT_EQ(
      complaints(mlp + repeated("1,", 100000) + "]\n"),
      "model.hidden is a list of length 100000 (too long, d.toml:3:10). Give a list "
      "of 1 to 1000 integers from 1 to 16777216");
  const std::string relu = "[[model.layer]]\ntype = \"relu\"\n";
  EXPECT_EQ(parse(repeated(relu, 5000)).model.layers.size(), 5000U);
  EXPECT_EQ(complaints(repeated(relu, 5001)),
            "there are 5001 tables [[model.layer]] (at most 5000 are taken, d.toml:1:1). "
            "Take some out");
  EXPECT_NE(complaints(repeated(relu + "inputs = [\"nowhere\"]\n", 5000)), "");
}

TEST(RunConfig, OverridesReachNestedKeys) {
  const RunConfig config = parse("[optimizer]\nlearning_rate = 1\n",
                                 {"optimizer.schedule.policy=multistep",
                                  "optimizer.schedule.steps=[2]",
                                  "averaging.alpha=1/k",
                                  "training.batch=2"});
  EXPECT_EQ(config.optimizer.schedule.policy, SchedulePolicy::multistep);
  EXPECT_EQ(config.optimizer.schedule.steps, std::vector<double>{2});
  EXPECT_EQ(config.optimizer.learning_rate, 1.0);
  EXPECT_EQ(config.averaging.alpha_rule, AlphaRule::one_over_k);
  EXPECT_EQ(config.training.batch, 2);
}

}  // namespace
}  // namespace crossbow
