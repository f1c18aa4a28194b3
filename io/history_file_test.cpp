#include "io/history_file.hpp"

#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_text;

const std::string header =
    "epoch,samples,rounds,seconds,rate,learners,train_loss,test_loss,test_accuracy,"
    "median_of_five,images_per_second\n";

std::string text_of(const std::string& path) {
  const Bytes bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

HistoryRow row(std::int64_t rounds, double accuracy) {
  HistoryRow r;
  r.epoch = static_cast<double>(rounds) / 10;
  r.samples = rounds * 64;
  r.rounds = rounds;
  r.seconds = 0.1 * static_cast<double>(rounds);
  r.rate = 0.1;
  r.learners = 2;
  r.train_loss = 1.0 / 3;
  r.test_loss = 0.25;
  r.test_accuracy = accuracy;
  r.images_per_second = 5283.5;
  return r;
}

TEST(HistoryFile, HasTheDocumentedFormAsSoonAsARowIsWritten) {
  const TestFolder folder;
  HistoryFile file = HistoryFile::fresh(folder / "history.csv");
  EXPECT_EQ(text_of(folder / "history.csv"), header);
  HistoryRow first = row(10, 0.5);
  file.append(first);
  EXPECT_EQ(text_of(folder / "history.csv"),
            header + "1,640,10,1,0.1,2,0.3333333333333333,0.25,0.5,,5283.5\n");
  HistoryRow second = row(20, 0.75);
  second.median_of_five = 0.625;
  file.append(second);
  EXPECT_EQ(read_history(folder / "history.csv"),
            (std::vector<HistoryRow>{first, second}));
}

TEST(HistoryFile, FreshReplacesWhatWasThere) {
  const TestFolder folder;
  { HistoryFile::fresh(folder / "h").append(row(10, 0.5)); }
  const HistoryFile file = HistoryFile::fresh(folder / "h");
  EXPECT_TRUE(read_history(folder / "h").empty());
}

TEST(HistoryFile, ResumeCutsBackToTheRoundOfTheCheckpoint) {
  const TestFolder folder;
  {
    HistoryFile file = HistoryFile::fresh(folder / "h");
    for (const std::int64_t rounds : {10, 20, 30}) {
      file.append(row(rounds, 0.5));
    }
  }
  write_text(folder / "h", text_of(folder / "h") + "4,2560,4");  // killed within a row
  HistoryFile file = HistoryFile::resume(folder / "h", 20);
  EXPECT_EQ(file.rows().size(), 2U);
  file.append(row(30, 0.875));
  const std::vector<HistoryRow> all = read_history(folder / "h");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1], row(20, 0.5));
  EXPECT_EQ(all[2], row(30, 0.875));
  EXPECT_EQ(file.rows(), all);
}

TEST(HistoryFile, ResumeWithoutAFileBeginsOne) {
  const TestFolder folder;
  const HistoryFile file = HistoryFile::resume(folder / "h", 20);
  EXPECT_EQ(text_of(folder / "h"), header);
}

TEST(HistoryFile, NumbersComeBackBitByBit) {
  const TestFolder folder;
  HistoryRow exact = row(1, 0.1);
  exact.seconds = 56.8123456789012345;
  exact.train_loss = std::numeric_limits<double>::denorm_min();
  exact.test_loss = std::numeric_limits<double>::max();
  HistoryFile::fresh(folder / "h").append(exact);
  EXPECT_EQ(read_history(folder / "h").at(0), exact);
}

TEST(HistoryFile, WhatIsNotRightIsNamedWithLineAndValue) {
  const TestFolder folder;
  const std::string path = folder / "h";
  const std::string good = "1,640,10,1,0.1,2,0.5,0.25,0.5,,100\n";
  const auto refuse = [&](const std::string& text,
                          const std::vector<std::string>& parts) {
    write_text(path, text);
    expect_error([&] { read_history(path); }, parts);
  };
  refuse("", {path + ":1", "header"});
  refuse("epoch,loss\n", {path + ":1", "header"});
  refuse(header + good + "1,2,3\n", {path + ":3", "3 fields instead of 11"});
  refuse(header + "1,640,10,1,0.1,2,0.5,x,0.5,,100\n", {path + ":2", "test_loss 'x'"});
  refuse(header + "1,640,10,1,0.1,2,0.5,0.2,1.5,,100\n",
         {path + ":2", "test_accuracy '1.5'", "0 to 1"});
  refuse(header + "1,6.5,10,1,0.1,2,0.5,0.2,0.5,,100\n", {path + ":2", "samples '6.5'"});
  refuse(header + "1,640,10,-1,0.1,2,0.5,0.2,0.5,,100\n", {"seconds '-1'"});
  refuse(header + "1,640,10,1,0.1,0,0.5,0.2,0.5,,100\n", {"learners '0'"});
  refuse(header + good + "2,639,20,1,0.1,2,0.5,0.2,0.5,,100\n", {path + ":3", "fewer"});
  refuse(header + good + "\n" + good, {path + ":3", "1 fields"});
  expect_error([] { read_history("/nowhere/h"); }, {"/nowhere/h", "No such file"});
}

TEST(HistoryFile, ARowThatDoesNotFitLeavesTheFileWhole) {
  const TestFolder folder;
  HistoryFile file = HistoryFile::fresh(folder / "h");
  file.append(row(10, 0.5));
  const std::string before = text_of(folder / "h");
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small = {.rlim_cur = before.size() + 5, .rlim_max = old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  expect_error([&] { file.append(row(20, 0.5)); }, {folder / "h", "File too large"});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(text_of(folder / "h"), before);
  EXPECT_EQ(file.rows().size(), 1U);
}

TEST(MedianOfLastFive, IsTheMiddleOfTheLastFive) {
  std::vector<HistoryRow> rows;
  for (const double accuracy : {0.99, 0.1, 0.5, 0.2, 0.4}) {
    EXPECT_FALSE(median_of_last_five(rows).has_value());
    rows.push_back(row(1, accuracy));
  }
  EXPECT_EQ(median_of_last_five(rows), 0.4);
  rows.push_back(row(2, 0.3));  // 0.99 is out
  EXPECT_EQ(median_of_last_five(rows), 0.3);
}

}  // namespace
}  // namespace crossbow
