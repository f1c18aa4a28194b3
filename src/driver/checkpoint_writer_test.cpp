#include "driver/checkpoint_writer.hpp"

#include <filesystem>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/log.hpp"

#include "io/test_support.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;
using testing_support::TestFolder;

CheckpointWriter::MakeCheckpoint state_of(float value) {
  return [value] {
    Checkpoint checkpoint;
    checkpoint.tensors["average/w"] = {value, 2};
    checkpoint.shapes["average/w"] = {2};
    checkpoint.integers["round"] = 7;
    return checkpoint;
  };
}

class Writing : public ::testing::Test {
 protected:
  CheckpointWriter writer(WriteErrorPolicy policy = WriteErrorPolicy::stop) {
    CheckpointOptions options;
    options.on_write_error = policy;
    return CheckpointWriter(
        folder.path(), options, open_log(folder / "run.log", LogStart::append));
  }
  float value_in(const std::string& name) const {
    return read_checkpoint(folder / name).tensors.at("average/w")[0];
  }
  /// Nothing can be created any more: a folder takes the place of the file's name.
  void block(const std::string& name) const {
    fs::create_directories(fs::path(folder / name) / "inside");
  }

  TestFolder folder;
};

TEST_F(Writing, everything_taken_is_written_and_the_newest_are_kept) {
  CheckpointWriter to_disk = writer();
  for (const int round : {1, 2, 3}) {
    to_disk.write(state_of(static_cast<float>(round)), round, false);
  }
  to_disk.finish();
  EXPECT_FALSE(fs::exists(folder / "round-000000001.h5"));
  EXPECT_EQ(value_in("round-000000002.h5"), 2);
  EXPECT_EQ(value_in("round-000000003.h5"), 3);
  EXPECT_FALSE(fs::exists(folder / "best.h5"));
}

TEST_F(Writing, the_best_stays_when_its_file_goes) {
  CheckpointWriter to_disk = writer();
  for (const int round : {1, 2, 3, 4}) {
    to_disk.write(state_of(static_cast<float>(round)), round, round <= 2);
  }
  to_disk.finish();
  EXPECT_FALSE(fs::exists(folder / "round-000000002.h5"));
  EXPECT_EQ(value_in("best.h5"), 2);
}

TEST_F(Writing, an_error_comes_out_of_the_next_call_and_the_files_before_stay) {
  CheckpointWriter to_disk = writer();
  to_disk.write(state_of(1), 1, false);
  to_disk.finish();
  block("round-000000002.h5");
  to_disk.write(state_of(2), 2, false);
  EXPECT_THROW(to_disk.write(state_of(3), 3, false), Error);
  EXPECT_EQ(value_in("round-000000001.h5"), 1);
  EXPECT_FALSE(fs::exists(folder / "round-000000003.h5"));
}

TEST_F(Writing, with_continue_later_ones_are_written_all_the_same) {
  CheckpointWriter to_disk = writer(WriteErrorPolicy::go_on);
  block("round-000000002.h5");
  to_disk.write(state_of(2), 2, false);
  to_disk.write(state_of(3), 3, false);
  to_disk.finish();
  EXPECT_EQ(value_in("round-000000003.h5"), 3);
}

TEST_F(Writing, the_last_one_must_be_written_even_with_continue) {
  CheckpointWriter to_disk = writer(WriteErrorPolicy::go_on);
  block("round-000000002.h5");
  to_disk.write(state_of(2), 2, false);
  EXPECT_THROW(to_disk.finish(), Error);
}

TEST_F(Writing, a_nan_is_never_passed_over) {
  CheckpointWriter to_disk = writer(WriteErrorPolicy::go_on);
  to_disk.write(state_of(std::numeric_limits<float>::quiet_NaN()), 1, true);
  try {
    to_disk.write(state_of(2), 2, false);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::numbers);
  }
  EXPECT_FALSE(fs::exists(folder / "best.h5"));
  EXPECT_FALSE(fs::exists(folder / "round-000000001.h5"));
}

}  // namespace
}  // namespace crossbow
