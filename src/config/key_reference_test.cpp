#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "config/key_table.hpp"
#include "config/layer_table.hpp"
#include "config/run_config.hpp"

namespace crossbow {
namespace {

const std::filesystem::path inputs =
    std::filesystem::path(CROSSBOW_SOURCE_DIR) / "inputs";

TEST(KeyReference, IsWhatInputsReadmeHolds) {
  std::ifstream file(inputs / "README.md");
  ASSERT_TRUE(file) << "inputs/README.md is missing. Run crossbow keys";
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), key_reference()) << "inputs/README.md is old. Run crossbow keys";
}

TEST(KeyReference, HasARowForEveryKeyBelowItsSection) {
  const std::string text = key_reference();
  const auto expect_row = [&](const KeySpec& spec, const std::string& heading) {
    const std::size_t section = text.find("\n## " + heading + "\n");
    ASSERT_NE(section, std::string::npos) << heading;
    const std::size_t row = text.find("\n| `" + spec.key + "` |", section);
    EXPECT_LT(row, text.find("\n## ", section + 1)) << heading << spec.key;
    EXPECT_FALSE(spec.help.empty()) << spec.key;
  };
  for (const Binding<RunConfig>& binding : key_table()) {
    expect_row(binding.spec, "[" + binding.spec.section + "]");
  }
  for (const Binding<LayerOptions>& binding : layer_table()) {
    expect_row(binding.spec, "[[model.layer]]");
  }
}

TEST(KeyReference, WordsARow) {
  const std::string text = key_reference();
  for (const std::string row : {
           "| `batch` | integer | `32` | from 1 to 65536 | samples | Batch of each "
           "learner: a "
           "round takes this times the number of learners. |\n",
           "| `minimum` | number | `0.0` | from 0 upwards | | The learning rate at the "
           "end. "
           "Only with `policy = \"cosine\"`. |\n",
           "| `size` | integer | must be given | from 1 to 4096 | pixels | Square "
           "window; `lrn`: channels of the sum. Only with `max_pool`, `average_pool` "
           "and `lrn`. |\n",
           "| `initial_value` | number | `0.0` | | | Every weight. Only with "
           "`convolution` and `linear`, with `initializer = \"constant\"`. |\n",
           "| `period` | integer | `1` | from 1 upwards, or `\"never\"` | rounds |",
           "| `shuffle` | boolean | `true` | `true` or `false` | |",
       }) {
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(KeyReference, NamesEveryDeck) {
  for (const auto& entry : std::filesystem::directory_iterator(inputs)) {
    if (entry.path().extension() == ".toml") {
      const std::string name = "| `" + entry.path().filename().string() + "` |";
      EXPECT_NE(key_reference().find(name), std::string::npos) << name;
    }
  }
}

}  // namespace
}  // namespace crossbow
