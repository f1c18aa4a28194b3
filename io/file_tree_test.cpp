#include "io/file_tree.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/test_archive.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_archive;
using testing_support::write_bytes;
using testing_support::write_folder;

const std::map<std::string, Bytes> files{
    {"b/two.bin", {4, 5}}, {"a/one.bin", {1, 2, 3}}, {"a-b/three.bin", {}}, {"c/", {}}};

// The same tree in each form.
std::vector<std::string> write_all(const TestFolder& folder) {
  std::vector<std::string> sources{folder / "plain"};
  write_folder(sources[0], files);
  for (const char* name : {"x.tar", "x.tar.gz", "x.zip"}) {
    sources.push_back(folder / name);
    write_archive(sources.back(), files);
  }
  return sources;
}

TEST(FileTree, FoldersAndArchivesLookTheSame) {
  const TestFolder folder;
  for (const std::string& source : write_all(folder)) {
    std::vector<std::string> paths;
    std::vector<std::string> folders;
    for (const TreeEntry& entry : list_tree(source)) {
      (entry.is_folder ? folders : paths).push_back(entry.path);
    }
    EXPECT_EQ(paths,
              (std::vector<std::string>{"a-b/three.bin", "a/one.bin", "b/two.bin"}))
        << source;
    EXPECT_NE(std::find(folders.begin(), folders.end(), "c"), folders.end()) << source;
    std::map<std::size_t, Bytes> read;
    read_tree(source, {"b/two.bin", "a/one.bin"}, [&](std::size_t i, Bytes bytes) {
      read[i] = std::move(bytes);
    });
    EXPECT_EQ(read, (std::map<std::size_t, Bytes>{{0, {4, 5}}, {1, {1, 2, 3}}}))
        << source;
  }
}

TEST(FileTree, WhatIsMissingIsNamed) {
  const TestFolder folder;
  for (const std::string& source : write_all(folder)) {
    expect_error(
        [&] {
          read_tree(source, {"a/one.bin", "a/none"}, [](std::size_t, const Bytes&) {});
        },
        {"a/none", source});
  }
  expect_error([&] { list_tree(folder / "none.tar"); }, {"none.tar", "No such file"});
}

TEST(FileTree, OfAnArchiveTheFirstFilesAreEnoughToKnowIt) {
  const TestFolder folder;
  std::map<std::string, Bytes> many;
  for (int i = 1000; i < 1200; ++i) {
    many["d/" + std::to_string(i)] = {1};
  }
  write_archive(folder / "x.tar.gz", many);
  const std::vector<std::string> first = first_files(folder / "x.tar.gz");
  ASSERT_EQ(first.size(), 100U);
  EXPECT_EQ(first[0], "d/1000");
  EXPECT_EQ(first[99], "d/1099");
}

std::map<std::string, Bytes> read_all(const std::string& source) {
  std::map<std::string, Bytes> all;
  for (const TreeEntry& entry : list_tree(source)) {
    if (!entry.is_folder) {
      read_tree(source, {entry.path}, [&](std::size_t, Bytes bytes) {
        all[entry.path] = std::move(bytes);
      });
    }
  }
  return all;
}

TEST(FileTree, ACutArchiveIsAnErrorAtEveryLength) {
  const TestFolder folder;
  write_all(folder);
  const Bytes whole = read_bytes(folder / "x.tar.gz");
  const std::string bad = folder / "bad.tar.gz";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_bytes(bad, Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
    expect_error([&] { read_all(bad); }, {bad});
  }
  write_bytes(bad, Bytes(5000, 'x'));
  expect_error([&] { list_tree(bad); }, {bad, "archive"});
}

// A flipped bit may be another way to write the same bytes; other bytes it never gives.
TEST(FileTree, AChangedArchiveGivesNoOtherBytes) {
  const TestFolder folder;
  write_all(folder);
  const std::map<std::string, Bytes> good = read_all(folder / "x.tar.gz");
  const Bytes whole = read_bytes(folder / "x.tar.gz");
  int refused = 0;
  for (std::size_t at = 10; at < whole.size(); ++at) {  // after gzip's head
    Bytes other = whole;
    other[at] ^= 4U;
    write_bytes(folder / "bad.tar.gz", other);
    try {
      EXPECT_EQ(read_all(folder / "bad.tar.gz"), good) << "byte " << at;
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(FileTree, ALoopOfLinksEnds) {
  const TestFolder folder;
  std::filesystem::create_directories(folder / "a");
  write_bytes(folder / "a/x", {1});
  std::filesystem::create_directory_symlink("..", folder / "a/up");
  const std::vector<TreeEntry> entries = list_tree(folder.path());
  EXPECT_LT(entries.size(), 30U);
  EXPECT_EQ(entries[0].path, "a");
}

}  // namespace
}  // namespace crossbow
