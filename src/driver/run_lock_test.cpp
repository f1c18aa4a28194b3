#include "driver/run_lock.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <climits>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

std::string host_name() {
  std::array<char, HOST_NAME_MAX + 1> name = {};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

class RunLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              ("run_lock_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    path = (folder_ / "run.lock").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// As if a run of another time or place had written it.
  void leave_lock(const std::string& text) { std::ofstream(path) << text; }
  std::string content() const {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
  }
  std::string error_of_taking() {
    try {
      const RunLock lock(path, tell, quick);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::data);
      return error.what();
    }
    return "none";
  }

  std::string path;
  std::vector<std::string> told;
  Notice tell = [this](const std::string& line) { told.push_back(line); };
  LockPulse quick = {milliseconds(20), milliseconds(200)};

 private:
  fs::path folder_;
};

TEST_F(RunLockTest, names_its_owner_and_is_given_back) {
  {
    const RunLock lock(path, tell, quick);
    EXPECT_EQ(content(), host_name() + " " + std::to_string(getpid()));
    const std::string error = error_of_taking();
    EXPECT_NE(error.find("another run is writing into the output folder (process " +
                         std::to_string(getpid()) + " on " + host_name()),
              std::string::npos)
        << error;
  }
  EXPECT_EQ(content(), "");
  const RunLock again(path, tell, quick);
  EXPECT_TRUE(told.empty());
}

TEST_F(RunLockTest, of_a_killed_process_of_this_machine_is_taken_over_at_once) {
  const pid_t child = fork();
  if (child == 0) {
    const RunLock lock(path, {}, quick);
    _exit(0);  // as if killed: nothing is given back
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(content(), host_name() + " " + std::to_string(child));
  quick.patience = std::chrono::hours(1);
  const RunLock lock(path, tell, quick);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("process " + std::to_string(child)), std::string::npos);
}

TEST_F(RunLockTest, of_another_machine_is_taken_over_after_silence) {
  leave_lock("node17 4711\n");
  const auto begin = std::chrono::steady_clock::now();
  const RunLock lock(path, tell, quick);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, quick.patience);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0],
            "the run before (process 4711 on node17) was killed; its lock is taken over");
  EXPECT_EQ(content(), host_name() + " " + std::to_string(getpid()));
}

TEST_F(RunLockTest, of_another_machine_with_a_pulse_is_left_alone) {
  leave_lock("node17 4711\n");
  std::atomic<bool> ends{false};
  std::thread heart([&] {
    while (!ends) {
      fs::last_write_time(path, fs::file_time_type::clock::now());
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  const std::string error = error_of_taking();
  ends = true;
  heart.join();
  EXPECT_NE(error.find("process 4711 on node17"), std::string::npos) << error;
  EXPECT_EQ(content(), "node17 4711");
}

TEST_F(RunLockTest, has_a_pulse_itself) {
  const RunLock lock(path, tell, quick);
  const auto before = fs::last_write_time(path);
  for (int i = 0; i < 500 && fs::last_write_time(path) == before; ++i) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_GT(fs::last_write_time(path), before);
}

// As by a run of another machine that has felt no pulse of this one for long.
TEST_F(RunLockTest, that_another_has_taken_over_is_lost_and_left_to_it) {
  {
    const RunLock lock(path, tell, quick);
    EXPECT_FALSE(lock.is_lost());
    leave_lock("node17 4711\n");
    for (int i = 0; i < 500 && !lock.is_lost(); ++i) {
      std::this_thread::sleep_for(milliseconds(10));
    }
    EXPECT_TRUE(lock.is_lost());
  }
  EXPECT_EQ(content(), "node17 4711");
}

TEST_F(RunLockTest, with_an_unreadable_owner_is_free) {
  leave_lock("\xff\n");
  const RunLock lock(path, tell, quick);
  EXPECT_TRUE(told.empty());
}

TEST_F(RunLockTest, in_a_folder_that_is_not_there_is_an_error_with_its_path) {
  path += "/no/run.lock";
  EXPECT_NE(error_of_taking().find(path), std::string::npos);
}

}  // namespace
}  // namespace crossbow
