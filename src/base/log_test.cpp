#include "base/log.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

class LogTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "crossbow_log_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder = pattern;
    path = folder + "/run.log";
  }
  void TearDown() override { fs::remove_all(folder); }

  std::vector<std::string> lines() const {
    std::ifstream file(path);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) {
      all.push_back(line);
    }
    return all;
  }

  std::string folder;
  std::string path;
};

TEST_F(LogTest, EveryLineIsInTheFileAsSoonAsItIsWritten) {
  const auto log = open_log(path, LogStart::fresh);
  log->info("epoch {} done", 3);
  const std::vector<std::string> all = lines();  // the log is still open
  ASSERT_EQ(all.size(), 1U);
  const std::regex form(R"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} info    epoch 3 done)");
  EXPECT_TRUE(std::regex_match(all[0], form)) << all[0];
}

TEST_F(LogTest, WarningsGoToStderrToo) {
  const auto log = open_log(path, LogStart::fresh);
  testing::internal::CaptureStderr();
  log->info("quiet");
  log->warn("the cache cannot be written");
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "crossbow: warning: the cache cannot be written\n");
  EXPECT_EQ(lines().size(), 2U);
}

TEST_F(LogTest, AppendKeepsWhatWasThere) {
  open_log(path, LogStart::fresh)->info("one");
  open_log(path, LogStart::append)->info("two");
  EXPECT_EQ(lines().size(), 2U);
  open_log(path, LogStart::fresh)->info("three");
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(LogTest, AFolderInTheWayIsAnErrorWithItsPath) {
  fs::create_directory(path);
  try {
    open_log(path, LogStart::fresh);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::data);
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

TEST_F(LogTest, AFullDiskIsToldOnceAndDoesNotThrow) {
  if (!fs::exists("/dev/full")) {
    GTEST_SKIP() << "no /dev/full here";
  }
  testing::internal::CaptureStderr();
  const auto log = open_log("/dev/full", LogStart::append);
  log->info("one");
  log->info("two");
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("lines of the log are lost"), std::string::npos) << told;
  EXPECT_EQ(told.find("lost"), told.rfind("lost")) << told;
}

}  // namespace
}  // namespace crossbow
