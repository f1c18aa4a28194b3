#include "io/tuner_file.hpp"

#include <string>

#include <gtest/gtest.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_text;

const std::string header =
    "rounds,samples,seconds,learners_per_device,learners,threads,images_per_second,"
    "decision,reason\n";

std::string text_of(const std::string& path) {
  const Bytes bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

TunerRow row(std::int64_t rounds) {
  return {rounds, 64 * rounds, 1.5, 2, 4, 3, 5283.25, "measured", "the start"};
}

TEST(TunerFile, has_the_documented_form_as_soon_as_a_row_is_written) {
  const TestFolder folder;
  TunerFile file = TunerFile::fresh(folder / "t");
  EXPECT_EQ(text_of(folder / "t"), header);
  file.append(row(10));
  EXPECT_EQ(text_of(folder / "t"),
            header + "10,640,1.500,2,4,3,5283.2,measured,the start\n");
}

TEST(TunerFile, resume_cuts_back_to_the_round_of_the_checkpoint) {
  const TestFolder folder;
  {
    TunerFile file = TunerFile::fresh(folder / "t");
    for (const std::int64_t rounds : {10, 20, 30}) {
      file.append(row(rounds));
    }
  }
  write_text(folder / "t", text_of(folder / "t") + "15,2560,4");  // killed within a row
  TunerFile::resume(folder / "t", 20).append(row(25));
  EXPECT_EQ(text_of(folder / "t"),
            header + "10,640,1.500,2,4,3,5283.2,measured,the start\n" +
                "20,1280,1.500,2,4,3,5283.2,measured,the start\n" +
                "25,1600,1.500,2,4,3,5283.2,measured,the start\n");
}

TEST(TunerFile, resume_without_a_file_begins_one) {
  const TestFolder folder;
  TunerFile::resume(folder / "t", 20);
  EXPECT_EQ(text_of(folder / "t"), header);
}

TEST(TunerFile, what_is_no_row_is_named_with_its_line) {
  const TestFolder folder;
  const std::string path = folder / "t";
  const auto refuse = [&](const std::string& text,
                          const std::vector<std::string>& parts) {
    write_text(path, text);
    expect_error([&] { TunerFile::resume(path, 5); }, parts);
    EXPECT_EQ(text_of(path), text) << "changed";
  };
  refuse("epoch,loss\n", {path + ":1", "header"});
  refuse(header + "1,2,3\n", {path + ":2", "3 fields instead of 9"});
  refuse(header + "x,1,1,1,1,1,1,kept,\n", {path + ":2", "rounds 'x'"});
}

}  // namespace
}  // namespace crossbow
