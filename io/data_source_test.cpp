#include "io/data_source.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/file_digest.hpp"
#include "io/importers/idx.hpp"
#include "io/test_archive.hpp"
#include "io/test_images.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

using testing_support::Bytes;
using testing_support::encode_jpeg;
using testing_support::expect_error;
using testing_support::plain_image;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::Variable;
using testing_support::write_archive;
using testing_support::write_bytes;
using testing_support::write_folder;
using testing_support::write_text;

// One image of one pixel, with the given values.
void write_idx(const std::string& folder, std::uint8_t pixel, std::uint8_t label) {
  fs::create_directories(folder);
  write_bytes(folder + "/train-images-idx3-ubyte",
              {0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, pixel});
  write_bytes(folder + "/train-labels-idx1-ubyte", {0, 0, 8, 1, 0, 0, 0, 1, label});
}

class DataSourceTest : public testing::Test {
 protected:
  DataSourceTest() : start(fs::current_path()) { fs::current_path(folder.path()); }
  void TearDown() override { fs::current_path(start); }

  Dataset load(const std::string& name, const DataSearch& search = {}) {
    lines.clear();
    return load_data(name, Split::train, search, [this](const std::string& line) {
      lines.push_back(line);
    });
  }
  std::vector<std::string> cached() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder / "cache")) {
      files.push_back(entry.path().string());
    }
    return files;
  }

  TestFolder folder;
  fs::path start;
  Variable own_cache{"CROSSBOW_CACHE", folder / "cache"};
  Variable own_data{"CROSSBOW_DATA", ""};
  std::vector<std::string> lines;
};

TEST_F(DataSourceTest, AFolderIsImportedOnceAndThenReadFromTheCache) {
  write_idx(folder / "some", 51, 3);
  const Dataset first = load("./some");
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0], "importing the train samples of ./some");
  EXPECT_NE(lines[1].find("imported"), std::string::npos);
  ASSERT_EQ(cached().size(), 1U);
  const Dataset second = load("./some");
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(second.images, first.images);
  EXPECT_EQ(second.labels, (std::vector<std::int32_t>{3}));
  EXPECT_EQ(second.classes, 4);
  EXPECT_DOUBLE_EQ(second.mean, 0.2);
  EXPECT_EQ(second.source, first.source);
  EXPECT_EQ(second.digest, first.digest);
}

TEST_F(DataSourceTest, ChangedFilesAreNeverTakenFromTheCache) {
  write_idx(folder / "some", 51, 3);
  load("./some");
  const auto time = fs::last_write_time(folder / "some/train-images-idx3-ubyte");
  write_idx(folder / "some", 52, 3);
  fs::last_write_time(folder / "some/train-images-idx3-ubyte", time);
  EXPECT_EQ(load("./some").images, Bytes{52});
  EXPECT_EQ(cached().size(), 2U);
}

TEST_F(DataSourceTest, ADamagedCacheIsToldAndReplaced) {
  write_idx(folder / "some", 51, 3);
  load("./some");
  const std::string file = cached().at(0);
  const Bytes whole = read_bytes(file);
  write_bytes(file, Bytes(whole.begin(), whole.begin() + 200));
  EXPECT_EQ(load("./some").images, Bytes{51});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find(file), std::string::npos) << lines[0];
  load("./some");
  EXPECT_TRUE(lines.empty());
}

TEST_F(DataSourceTest, ACacheThatCannotBeWrittenIsOneLineAndNoError) {
  write_idx(folder / "some", 51, 3);
  write_text(folder / "file", "");
  const Variable cache("CROSSBOW_CACHE", folder / "file/cache");
  EXPECT_EQ(load("./some").images, Bytes{51});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[1].find("CROSSBOW_CACHE"), std::string::npos) << lines[1];
}

TEST_F(DataSourceTest, TwoProcessesMayImportAtOnce) {
  write_idx(folder / "some", 51, 3);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      _exit(load("./some").images == Bytes{51} ? 0 : 1);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(cached().size(), 1U);
  EXPECT_EQ(load("./some").images, Bytes{51});
  EXPECT_TRUE(lines.empty());
}

// A set of one sample a class, a plain grey each, in both splits.
std::map<std::string, Bytes> images(std::uint8_t train, std::uint8_t test) {
  return {{"train/a/1.jpg", encode_jpeg(plain_image(8, 8, {train}))},
          {"test/a/1.jpg", encode_jpeg(plain_image(8, 8, {test}))}};
}

TEST_F(DataSourceTest, AnArchiveOfImagesIsFoundByTheNameOfItsFolder) {
  fs::create_directories(folder / "place/pets");
  const std::string archive = folder / "place/pets/pets-jpeg.tar.gz";
  write_archive(archive, images(51, 102));
  const DataSearch search{.extra_paths = {folder / "place"}};
  const Dataset data = load("pets", search);
  EXPECT_EQ(data.place, archive);
  EXPECT_DOUBLE_EQ(data.mean, 0.2);
  EXPECT_EQ(lines.size(), 2U);
  const Dataset test = load_data("pets", Split::test, search, {});
  EXPECT_DOUBLE_EQ(test.mean, 0.4);
  EXPECT_EQ(cached().size(), 2U);
  EXPECT_EQ(load("pets", search).jpeg, data.jpeg);
  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(load(archive).jpeg, data.jpeg);
  EXPECT_TRUE(lines.empty());
}

TEST_F(DataSourceTest, AFolderOfImagesIsTakenAsItIs) {
  write_folder(folder / "place/pets", images(51, 102));
  EXPECT_DOUBLE_EQ(load("./place/pets").mean, 0.2);
  write_folder(folder / "place/pets", images(102, 51));
  EXPECT_DOUBLE_EQ(load("place/pets").mean, 0.4);  // not the cached one
}

TEST_F(DataSourceTest, AFolderMayHaveWhatIsImportedAlready) {
  write_idx(folder / "some", 51, 3);
  write_idx(folder / "other", 77, 3);
  const std::string imported = folder / "some/train.h5";
  write_dataset(imported, import_idx(folder / "other", Split::train));
  EXPECT_EQ(load("some").images, Bytes{77});
  EXPECT_EQ(load("./some").place, (fs::path("./some") / "train.h5").string());
  EXPECT_FALSE(fs::exists(folder / "cache"));
}

TEST_F(DataSourceTest, WhatIsBadInASourceIsAnErrorThatNamesTheWayOut) {
  write_folder(folder / "pets",
               {{"a/1.jpg", {1}}, {"a/2.jpg", encode_jpeg(plain_image(8, 8, {1}))}});
  expect_error([&] { load("./pets"); }, {"a/1.jpg", "--on-error skip"});
}

TEST_F(DataSourceTest, AnHdf5FileIsReadAsItIs) {
  write_idx(folder / "some", 51, 3);
  write_dataset(folder / "one.h5", import_idx(folder / "some", Split::train));
  EXPECT_EQ(load("one.h5").images, Bytes{51});
  EXPECT_EQ(load(folder / "one.h5").images, Bytes{51});
  EXPECT_FALSE(fs::exists(folder / "cache"));
  fs::create_directories(folder / "place");
  fs::rename(folder / "one.h5", folder / "place/one.h5");
  EXPECT_EQ(load("one.h5", {.extra_paths = {folder / "place"}}).images, Bytes{51});
}

TEST_F(DataSourceTest, PlacesAreLookedAtInOrder) {
  write_idx(folder / "a/set", 1, 0);
  write_idx(folder / "b/set", 2, 0);
  write_idx(folder / "c/set", 3, 0);
  write_idx(folder / "inputs/data/set", 4, 0);
  write_idx(folder / "set", 5, 0);
  fs::create_directories(folder / "empty/set");
  const Variable data("CROSSBOW_DATA",
                      folder / "empty" + "::" + (folder / "b") + ":" + (folder / "c"));
  EXPECT_EQ(load("set", {.extra_paths = {folder / "a"}}).images, Bytes{1});
  EXPECT_EQ(load("set", {.extra_paths = {folder / "a/set"}}).images, Bytes{1});
  EXPECT_EQ(load("set").images, Bytes{2});
  fs::remove_all(folder / "b");
  EXPECT_EQ(load("set").images, Bytes{3});
  fs::remove_all(folder / "c");
  EXPECT_EQ(load("set").images, Bytes{4});
  fs::remove_all(folder / "inputs");
  EXPECT_EQ(load("set").images, Bytes{5});
  EXPECT_EQ(load("./set").images, Bytes{5});
}

TEST_F(DataSourceTest, ThePlacesAreTheDocumentedOnes) {
  const std::string here = fs::current_path().string();
  const std::vector<std::string> places = search_places({.extra_paths = {"/x"}});
  const auto at = [&](const std::string& place) {
    return std::find(places.begin(), places.end(), place) - places.begin();
  };
  EXPECT_EQ(at("/x"), 0);
  EXPECT_EQ(at(here + "/inputs/data"), 1);
  const std::string above = fs::path(here).parent_path().string();
  EXPECT_LT(at(here + "/inputs/data"), at(above + "/shared/data"));
  EXPECT_LT(at(above + "/shared/data"), at("/usr/share/datasets"));
  const std::string tree =
      fs::canonical("/proc/self/exe").parent_path().parent_path().parent_path().string();
  EXPECT_NE(at((fs::path(tree) / "inputs/data").string()), std::ssize(places));
  EXPECT_NE(at((fs::path(tree) / ".deps/usr/share/datasets").string()),
            std::ssize(places));
}

TEST_F(DataSourceTest, WhatIsNotFoundNamesEveryPlaceAndARemedy) {
  const DataSearch search{.extra_paths = {"/nowhere/x"}};
  expect_error([&] { load("no-such-set", search); },
               {"'no-such-set' is not found",
                "/nowhere/x",
                fs::current_path().string() + "/inputs/data",
                "/usr/share/datasets",
                "--data-path",
                "CROSSBOW_DATA"});
  const auto is_here = [&](const std::string& name) {
    const std::vector<std::string> places = search_places(search);
    return std::any_of(places.begin(), places.end(), [&](const std::string& place) {
      return fs::exists(fs::path(place) / name);
    });
  };
  if (!is_here("mnist")) {
    expect_error([&] { load("mnist", search); }, {"scripts/get_data mnist"});
  }
  if (!is_here("fashion-mnist")) {
    expect_error([&] { load("fashion-mnist", search); }, {"dataset-fashion-mnist"});
  }
  expect_error([&] { load("./none.h5"); }, {"./none.h5", "No such file"});
  expect_error([&] { load(""); }, {"data.train"});
}

TEST_F(DataSourceTest, TheEmbeddedDigitsAreFoundByName) {
  const DataSearch search{
      .extra_paths = {std::string(CROSSBOW_SOURCE_DIR) + "/inputs/data"}};
  EXPECT_EQ(load("digits", search).n, 1437);
  EXPECT_EQ(load_data("digits", Split::test, search, {}).n, 360);
  EXPECT_EQ(
      load("digits", search).digest,
      sha256_of_files({search.extra_paths[0] + "/digits/train-images-idx3-ubyte.gz",
                       search.extra_paths[0] + "/digits/train-labels-idx1-ubyte.gz"}));
}

TEST_F(DataSourceTest, TheCacheFollowsTheEnvironment) {
  EXPECT_EQ(cache_folder(), folder / "cache");
  const Variable none("CROSSBOW_CACHE", "");
  const Variable user("XDG_CACHE_HOME", "/var/user");
  EXPECT_EQ(cache_folder(), "/var/user/crossbow");
  const Variable relative("XDG_CACHE_HOME", "relative");
  const Variable home("HOME", "/home/me");
  EXPECT_EQ(cache_folder(), "/home/me/.cache/crossbow");
}

}  // namespace
}  // namespace crossbow
