#include "driver/job_limit.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/testing.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// `time` as squeue prints it.
std::string squeue_time(std::time_t time) {
  char text[32];
  std::tm local = {};
  localtime_r(&time, &local);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &local);
  return text;
}

TEST(JobLimit, the_end_is_in_local_time) {
  const std::time_t now = 1'700'000'000;
  EXPECT_EQ(seconds_until(squeue_time(now + 90) + "\n", now), 90.0);
  EXPECT_EQ(seconds_until(squeue_time(now + 90), now), 90.0);
  EXPECT_EQ(seconds_until(squeue_time(now - 5), now), -5.0);
}

// America/New_York put its clocks forward at 07:00 UTC of 2024-03-10: 01:59 EST is
// followed by 03:00 EDT.
TEST(JobLimit, across_the_hour_that_summer_time_takes) {
  const char* before = std::getenv("TZ");
  const std::string zone = before == nullptr ? "" : before;
  setenv("TZ", "EST5EDT,M3.2.0,M11.1.0", 1);
  tzset();
  const std::time_t six = 1'710'050'400;  // 2024-03-10 06:00 UTC, 01:00 EST
  EXPECT_EQ(seconds_until("2024-03-10T03:00:00", six), 3600.0);
  before == nullptr ? unsetenv("TZ") : setenv("TZ", zone.c_str(), 1);
  tzset();
}

TEST(JobLimit, no_answer_is_no_limit) {
  for (const std::string text : {"",
                                 "NONE",
                                 "N/A",
                                 "Unknown\n",
                                 "slurm_load_jobs error: Invalid job id specified",
                                 "2026-11-30",
                                 "2026-11-30T15:20:00 and more"}) {
    EXPECT_FALSE(seconds_until(text, 0).has_value()) << text;
  }
}

TEST(JobLimit, stops_half_a_minute_or_a_quarter_before) {
  EXPECT_DOUBLE_EQ(stop_before(3600), 3570);
  EXPECT_DOUBLE_EQ(stop_before(120), 90);
  EXPECT_DOUBLE_EQ(stop_before(60), 45);
  EXPECT_DOUBLE_EQ(stop_before(-3), -3);  // over already: at once
}

/// A squeue of our own in front of the path, and a job to ask for.
class FakeSqueue : public ::testing::Test {
 protected:
  void answer_with(const std::string& script) {
    folder_ = fs::path(::testing::TempDir()) / ("squeue_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    const fs::path program = folder_ / "squeue";
    std::ofstream(program) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(program, fs::perms::owner_all);
    setenv("PATH", (folder_.string() + ":" + path_).c_str(), 1);
    setenv("SLURM_JOB_ID", "4711", 1);
  }
  void TearDown() override {
    unsetenv("SLURM_JOB_ID");
    unsetenv("SLURM_ARRAY_JOB_ID");
    unsetenv("SLURM_ARRAY_TASK_ID");
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

 private:
  std::string path_ = std::getenv("PATH");
  fs::path folder_;
};

TEST_F(FakeSqueue, is_asked_for_this_job) {
  answer_with("[ \"$*\" = '-h -j 4711 -o %e' ] && echo " +
              squeue_time(std::time(nullptr) + 1000));
  const auto left = seconds_until_job_end();
  ASSERT_TRUE(left.has_value());
  EXPECT_NEAR(*left, 1000, 3);
}

TEST_F(FakeSqueue, is_asked_for_this_task_of_an_array) {
  answer_with("[ \"$3\" = 4700_3 ] && echo " + squeue_time(std::time(nullptr) + 1000));
  setenv("SLURM_ARRAY_JOB_ID", "4700", 1);
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  EXPECT_TRUE(seconds_until_job_end().has_value());
}

TEST_F(FakeSqueue, that_fails_is_no_limit) {
  answer_with("echo error >&2; exit 1");
  EXPECT_FALSE(seconds_until_job_end().has_value());
}

TEST_F(FakeSqueue, is_not_asked_outside_of_a_job) {
  answer_with("echo " + squeue_time(std::time(nullptr) + 1000));
  unsetenv("SLURM_JOB_ID");
  EXPECT_FALSE(seconds_until_job_end().has_value());
}

}  // namespace
}  // namespace crossbow
