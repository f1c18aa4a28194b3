#include "io/atomic_file.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file_bytes.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_text;

std::string text_of(const std::string& path) {
  const Bytes bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

TEST(AtomicFile, AppearsOnlyWhenCommitted) {
  const TestFolder folder;
  AtomicFile file(folder / "a", 3);
  file.write("new");
  EXPECT_FALSE(std::filesystem::exists(folder / "a"));
  file.commit();
  EXPECT_EQ(text_of(folder / "a"), "new");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(AtomicFile, LeavesTheOldFileWithoutACommit) {
  const TestFolder folder;
  write_text(folder / "a", "old");
  {
    AtomicFile file(folder / "a", 3);
    file.write("ne");
  }
  EXPECT_EQ(text_of(folder / "a"), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(AtomicFile, TwoWritersHaveTwoTemporaries) {
  const TestFolder folder;
  AtomicFile one(folder / "a", 1);
  AtomicFile two(folder / "a", 1);
  EXPECT_NE(one.temporary(), two.temporary());
  one.write("1");
  two.write("2");
  one.commit();
  two.commit();
  EXPECT_EQ(text_of(folder / "a"), "2");
}

TEST(AtomicFile, KillLeavesTheOldFileAndARecognisableRest) {
  const TestFolder folder;
  write_text(folder / "a", "old");
  const pid_t child = fork();
  if (child == 0) {
    AtomicFile file(folder / "a", 3);
    file.write("ne");
    std::raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(text_of(folder / "a"), "old");
  ASSERT_EQ(folder.names().size(), 2U);
  for (const std::string& name : folder.names()) {
    EXPECT_EQ(is_temporary_name(name), name != "a") << name;
  }
}

TEST(AtomicFile, AMissingFolderIsNamedWithTheBytesNeeded) {
  const TestFolder folder;
  expect_error([&] { const AtomicFile file(folder / "no/such/a", 1234); },
               {folder / "no/such/a", "No such file or directory", "1234 bytes needed"});
}

TEST(AtomicFile, APipeOrDeviceIsNotReplaced) {
  const TestFolder folder;
  const std::string pipe = folder / "a";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expect_error([&] { AtomicFile(pipe, 1); }, {pipe, "not a regular file"});
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  expect_error([] { AtomicFile("/dev/null", 1); }, {"/dev/null", "not a regular file"});
}

TEST(AtomicFile, ALinkLeadsToTheFileThatIsReplaced) {
  const TestFolder folder;
  std::ofstream(folder / "a") << "old";
  std::filesystem::create_symlink("a", folder / "link");
  AtomicFile file(folder / "link", 1);
  file.write("x");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  std::string content;
  std::ifstream(folder / "a") >> content;
  EXPECT_EQ(content, "x");
}

TEST(AtomicFile, AFolderInTheWayIsAnError) {
  const TestFolder folder;
  std::filesystem::create_directory(folder / "a");
  expect_error(
      [&] {
        AtomicFile file(folder / "a", 1);
        file.write("x");
        file.commit();
      },
      {folder / "a", "Is a directory"});
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(AtomicFile, MissingPermissionIsNamed) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may write everywhere";
  }
  const TestFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read);
  expect_error([&] { const AtomicFile file(folder / "a", 1); },
               {folder / "a", "Permission denied"});
}

// A limit on file sizes stands for a full disk: both refuse the reservation.
TEST(AtomicFile, WhatDoesNotFitIsRefusedBeforeAnythingIsWritten) {
  const TestFolder folder;
  write_text(folder / "a", "old");
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small = {.rlim_cur = 4096, .rlim_max = old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  expect_error([&] { const AtomicFile file(folder / "a", 1 << 20); },
               {folder / "a", "File too large", "1048576 bytes needed", "free"});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(text_of(folder / "a"), "old");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a"});
}

TEST(FileBytes, APipeInAFilesPlaceDoesNotHang) {
  const TestFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  expect_error([&] { read_file(folder / "pipe"); }, {"it is not a file"});
}

}  // namespace
}  // namespace crossbow
