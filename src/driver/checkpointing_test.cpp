#include "driver/checkpointing.hpp"

#include <gtest/gtest.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::expect_error;
using Names = std::vector<std::string>;

Checkpoint checkpoint_of(const Names& names) {
  PreparedRun run;
  run.training_data.h = run.training_data.w = run.training_data.c = 1;
  run.training_data.classes = 2;
  run.training_data.class_names = names;
  return to_checkpoint({}, run);
}

TEST(ClassNames, come_back_from_a_checkpoint) {
  const Names names{"T-shirt \"top\"", "[caf\xc3\xa9, ...]\n"};
  EXPECT_EQ(class_names_of("c.h5", checkpoint_of(names)), names);
}

TEST(Checkpointing, keeps_what_the_tuner_has_settled_on) {
  PreparedRun run;
  run.training_data.h = run.training_data.w = run.training_data.c = 1;
  TrainingState state;
  state.loss_sums = {1};
  EXPECT_FALSE(from_checkpoint("c.h5", to_checkpoint(TrainingState(state), run))
                   .tuned.has_value());
  state.tuned = {{3, 2}, 1234.5, 6};
  Checkpoint checkpoint = to_checkpoint(TrainingState(state), run);
  EXPECT_EQ(from_checkpoint("c.h5", checkpoint).tuned, state.tuned);
  checkpoint.integers["tuned_threads"] = 0;
  expect_error([&] { from_checkpoint("c.h5", checkpoint); }, {"tuned_threads", "c.h5"});
}

TEST(ClassNames, may_be_missing) {
  const Checkpoint checkpoint = checkpoint_of({});
  EXPECT_FALSE(checkpoint.texts.contains("class_names"));
  EXPECT_TRUE(class_names_of("c.h5", checkpoint).empty());
}

TEST(ClassNames, must_be_a_text_for_each_class) {
  Checkpoint checkpoint = checkpoint_of({"cat", "dog"});
  for (const char* text : {"", "cat", "{}", "[\"cat\"]", "[1, 2]", "[\"cat\", \"dog\""}) {
    checkpoint.texts["class_names"] = text;
    expect_error([&] { class_names_of("c.h5", checkpoint); }, {"class_names", "c.h5"});
  }
}

}  // namespace
}  // namespace crossbow
