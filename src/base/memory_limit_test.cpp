#include "base/memory_limit.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// A file system of our own with /proc/self/cgroup and limits.
class MemoryLimitTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(root); }
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root + path).parent_path());
    std::ofstream(root + path) << text << "\n";
  }

  std::string root =
      (fs::path(::testing::TempDir()) / ("memory_limit_" + std::to_string(getpid())))
          .string();
};

TEST_F(MemoryLimitTest, is_the_machine_s_memory_where_nothing_bounds_it) {
  const MemoryLimit limit = memory_limit(root);
  EXPECT_EQ(limit.owner, "this machine");
  std::ifstream info("/proc/meminfo");
  std::string word;
  std::int64_t kilobytes = 0;
  info >> word >> kilobytes;
  ASSERT_EQ(word, "MemTotal:");
  EXPECT_NEAR(
      static_cast<double>(limit.bytes), 1024.0 * static_cast<double>(kilobytes), 1e6);
}

TEST_F(MemoryLimitTest, of_a_group_above_counts_version_2) {
  write("/proc/self/cgroup", "0::/slurm/job_7/step_0");
  write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max");
  write("/sys/fs/cgroup/slurm/job_7/memory.max", "1000000");
  write("/sys/fs/cgroup/slurm/memory.max", "2000000");
  const MemoryLimit limit = memory_limit(root);
  EXPECT_EQ(limit.bytes, 1000000);
  EXPECT_EQ(limit.owner, "the control group of this process");
}

TEST_F(MemoryLimitTest, of_the_memory_controller_counts_version_1) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory,other:/job\n1:name=systemd:/b");
  write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "3000000");
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1");
  EXPECT_EQ(memory_limit(root).bytes, 3000000);
}

TEST_F(MemoryLimitTest, of_the_mount_counts_where_a_container_hides_the_path) {
  write("/proc/self/cgroup", "0::/../../elsewhere");
  write("/sys/fs/cgroup/memory.max", "4000000");
  EXPECT_EQ(memory_limit(root).bytes, 4000000);
}

TEST_F(MemoryLimitTest, of_the_address_space_counts) {
  rlimit before = {};
  getrlimit(RLIMIT_AS, &before);
  rlimit lower = before;
  lower.rlim_cur = rlim_t{1} << 30;
  memory_limit(root);  // a sanitizer maps what it needs, and could not any more
  ASSERT_EQ(setrlimit(RLIMIT_AS, &lower), 0);
  const MemoryLimit limit = memory_limit(root);
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(limit.bytes, 1 << 30);
  EXPECT_EQ(limit.owner, "ulimit -v");
}

}  // namespace
}  // namespace crossbow
