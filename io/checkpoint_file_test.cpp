#include "io/checkpoint_file.hpp"

#include <bit>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.hpp"

#include "io/h5_handle.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_bytes;
using testing_support::write_text;

Checkpoint small() {
  Checkpoint c;
  c.tensors["z/conv1.weight"] = {0.1F, -0.0F, 1e-45F, 3.4e38F, 5, 6};
  c.shapes["z/conv1.weight"] = {1, 2, 3, 1};
  c.tensors["replica0/fc.bias"] = {1, 2};
  c.shapes["replica0/fc.bias"] = {2};
  c.tensors["empty"] = {};
  c.shapes["empty"] = {0, 3};
  c.tensors["one"] = {7};
  c.shapes["one"] = {};
  c.integers["round"] = std::numeric_limits<std::int64_t>::max();
  c.integers["seed"] = -1;
  c.numbers["rate"] = 0.1;
  c.numbers["tiny"] = std::numeric_limits<double>::denorm_min();
  c.texts["method"] = "sma";
  c.texts["deck"] = "[run]\nname = \"größer\"\n";
  c.texts["nothing"] = "";
  return c;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

void expect_same(const Checkpoint& a, const Checkpoint& b) {
  EXPECT_EQ(a.shapes, b.shapes);
  EXPECT_EQ(a.integers, b.integers);
  EXPECT_EQ(a.numbers, b.numbers);
  EXPECT_EQ(a.texts, b.texts);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, values] : a.tensors) {
    EXPECT_TRUE(same_bits(values, b.tensors.at(name))) << name;
  }
}

Checkpoint of_round(std::int64_t round) {
  Checkpoint c = small();
  c.integers["round"] = round;
  return c;
}

void set_age(const std::string& path, std::chrono::minutes age) {
  fs::last_write_time(path, fs::file_time_type::clock::now() - age);
}

TEST(CheckpointFile, EverythingComesBackBitByBit) {
  const TestFolder folder;
  write_checkpoint(folder / "c.h5", small());
  expect_same(read_checkpoint(folder / "c.h5"), small());
  EXPECT_EQ(folder.names(), std::vector<std::string>{"c.h5"});
}

TEST(CheckpointFile, AnEmptyOneIsPossible) {
  const TestFolder folder;
  write_checkpoint(folder / "c.h5", {});
  expect_same(read_checkpoint(folder / "c.h5"), {});
}

TEST(CheckpointFile, ManyTensorsAndALargeOneComeBack) {
  const TestFolder folder;
  Checkpoint c;
  for (int i = 0; i < 300; ++i) {
    const std::string name = "replica" + std::to_string(i % 7) + "/t" + std::to_string(i);
    c.tensors[name] = {static_cast<float>(i)};
    c.shapes[name] = {1};
    c.integers["value" + std::to_string(i)] = i;
  }
  c.tensors["large"].assign(3 << 20, 0.5F);  // three chunks
  c.shapes["large"] = {3, 1 << 20};
  write_checkpoint(folder / "c.h5", c);
  expect_same(read_checkpoint(folder / "c.h5"), c);
}

TEST(CheckpointFile, TensorsAreOrdinaryDataSetsWithAChecksum) {
  const TestFolder folder;
  write_checkpoint(folder / "c.h5", small());
  const H5File file = H5File::open(folder / "c.h5");
  EXPECT_EQ(file.read_text("format"), "crossbow-checkpoint");
  EXPECT_EQ(file.read_integer("version"), 1);
  EXPECT_EQ(file.read_text("sha256").size(), 64U);
  EXPECT_EQ(file.read<float>("replica0/fc.bias"), (std::vector<float>{1, 2}));
}

// Any byte may be damaged: either it was of no meaning, or reading fails. Never other
// values.
TEST(CheckpointFile, NoFlippedByteGivesOtherValues) {
  const TestFolder folder;
  const Checkpoint good = small();
  write_checkpoint(folder / "c.h5", good);
  const Bytes whole = read_bytes(folder / "c.h5");
  int refused = 0;
  for (std::size_t i = 0; i < whole.size(); i += 31) {
    Bytes bad = whole;
    bad[i] ^= static_cast<std::uint8_t>(1U << (i % 8));
    write_bytes(folder / "bad.h5", bad);
    try {
      expect_same(read_checkpoint(folder / "bad.h5"), good);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::data);
      ++refused;
    }
  }
  EXPECT_GT(refused, 20);
}

TEST(CheckpointFile, NoCutFileIsTaken) {
  const TestFolder folder;
  write_checkpoint(folder / "c.h5", small());
  const Bytes whole = read_bytes(folder / "c.h5");
  for (std::size_t size = 0; size < whole.size(); size += 301) {
    write_bytes(folder / "bad.h5",
                Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
    expect_error([&] { read_checkpoint(folder / "bad.h5"); }, {folder / "bad.h5"});
  }
}

TEST(CheckpointFile, AnotherValueUnderTheOldDigestIsFound) {
  const TestFolder folder;
  write_checkpoint(folder / "c.h5", small());
  AtomicFile target(folder / "forged.h5", 0);
  H5File file = H5File::create(target);
  file.write_text("format", "crossbow-checkpoint");
  file.write_integer("version", 1);
  file.write_text("sha256", H5File::open(folder / "c.h5").read_text("sha256"));
  file.write_integer("round", 7);
  file.close();
  target.commit();
  expect_error([&] { read_checkpoint(folder / "forged.h5"); },
               {folder / "forged.h5", "SHA-256"});
}

TEST(CheckpointFile, AnotherKindOfFileIsNamed) {
  const TestFolder folder;
  write_text(folder / "c.h5", "not HDF5");
  expect_error([&] { read_checkpoint(folder / "c.h5"); }, {folder / "c.h5", "HDF5"});
  AtomicFile target(folder / "d.h5", 0);
  H5File file = H5File::create(target);
  file.write_text("format", "crossbow-dataset");
  file.close();
  target.commit();
  expect_error([&] { read_checkpoint(folder / "d.h5"); },
               {folder / "d.h5", "not a checkpoint", "crossbow-dataset"});
}

TEST(CheckpointFile, ANanIsNeverSaved) {
  const TestFolder folder;
  Checkpoint c = small();
  c.tensors["z/conv1.weight"][4] = std::numeric_limits<float>::quiet_NaN();
  expect_error([&] { write_checkpoint(folder / "c.h5", c); },
               {"z/conv1.weight", "nan", "element 4"},
               ExitCode::numbers);
  EXPECT_TRUE(folder.names().empty());
}

TEST(CheckpointFile, NamesAndShapesThatDoNotFitAreRefused) {
  const TestFolder folder;
  const auto refuse = [&](auto change, const std::string& part) {
    Checkpoint c = small();
    change(c);
    expect_error(
        [&] { write_checkpoint(folder / "c.h5", c); }, {part}, ExitCode::internal_error);
  };
  const auto add = [](Checkpoint& c, const std::string& name) {
    c.tensors[name] = {1};
    c.shapes[name] = {1};
  };
  refuse([&](Checkpoint& c) { c.shapes["one"] = {2}; }, "'one'");
  refuse([&](Checkpoint& c) { c.shapes.erase("one"); }, "same names");
  refuse([&](Checkpoint& c) { c.numbers["round"] = 1; }, "'round'");
  refuse([&](Checkpoint& c) { c.texts["format"] = "x"; }, "'format'");
  refuse([&](Checkpoint& c) { add(c, "one/two"); }, "'one/two'");
  refuse([&](Checkpoint& c) { add(c, "/z"); }, "'/z'");
  refuse([&](Checkpoint& c) { add(c, "a//b"); }, "'a//b'");
  EXPECT_TRUE(folder.names().empty());
}

TEST(CheckpointFile, AFullDiskLeavesTheOldFile) {
  const TestFolder folder;
  write_checkpoint(folder / "c.h5", of_round(1));
  Checkpoint c = of_round(2);
  c.tensors["large"].assign(1 << 20, 1.0F);
  c.shapes["large"] = {1 << 20};
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &limit);
  expect_error([&] { write_checkpoint(folder / "c.h5", c); },
               {folder / "c.h5", "File too large", "bytes needed", "free"});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(read_checkpoint(folder / "c.h5").integers.at("round"), 1);
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(CheckpointFile, AMissingFolderIsNamed) {
  expect_error([] { write_checkpoint("/nowhere/c.h5", small()); },
               {"/nowhere/c.h5", "No such file or directory", "bytes needed"});
}

TEST(CheckpointPath, HasNineDigits) {
  EXPECT_EQ(checkpoint_path("out/checkpoints", 42), "out/checkpoints/round-000000042.h5");
  EXPECT_EQ(checkpoint_path("c", 12345678901), "c/round-12345678901.h5");
}

TEST(NewestCheckpoint, IsNoneInAnEmptyOrMissingFolder) {
  const TestFolder folder;
  EXPECT_FALSE(newest_checkpoint(folder.path(), {}).has_value());
  EXPECT_FALSE(newest_checkpoint(folder / "none", {}).has_value());
}

TEST(NewestCheckpoint, HasTheHighestRound) {
  const TestFolder folder;
  for (const std::int64_t round : {5, 1000000000, 40}) {
    write_checkpoint(checkpoint_path(folder.path(), round), of_round(round));
  }
  write_text(folder / "round-x.h5", "");
  write_text(folder / "round-9.txt", "");
  const auto newest = newest_checkpoint(folder.path(), {});
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->first, folder / "round-1000000000.h5");
  EXPECT_EQ(newest->second.integers.at("round"), 1000000000);
}

TEST(NewestCheckpoint, ADamagedOneIsToldAndTheOneBeforeTaken) {
  const TestFolder folder;
  for (const std::int64_t round : {1, 2, 3}) {
    write_checkpoint(checkpoint_path(folder.path(), round), of_round(round));
  }
  const std::string path = checkpoint_path(folder.path(), 3);
  const Bytes whole = read_bytes(path);
  write_bytes(path, Bytes(whole.begin(), whole.end() - 50));
  std::vector<std::string> lines;
  const auto newest = newest_checkpoint(
      folder.path(), [&](const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(newest.has_value());
  EXPECT_EQ(newest->second.integers.at("round"), 2);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find(path), std::string::npos) << lines[0];
}

TEST(NewestCheckpoint, OnlyDamagedOnesAreAnError) {
  const TestFolder folder;
  write_text(checkpoint_path(folder.path(), 3), "x");
  expect_error([&] { newest_checkpoint(folder.path(), {}); },
               {"none of the 1 checkpoints", folder.path()});
}

TEST(PruneCheckpoints, KeepsTheLastWritten) {
  const TestFolder folder;
  for (const std::int64_t round : {1, 2, 3, 900}) {
    write_text(checkpoint_path(folder.path(), round), "x");
    // A clock that went back: what was written last seems the oldest.
    set_age(checkpoint_path(folder.path(), round), std::chrono::minutes(round));
  }
  // The run went on from round 2, since 900 was damaged.
  prune_checkpoints(folder.path(), 2, 3);
  EXPECT_TRUE(fs::exists(checkpoint_path(folder.path(), 2)));
  EXPECT_TRUE(fs::exists(checkpoint_path(folder.path(), 3)));
  EXPECT_EQ(folder.names().size(), 2U);
  prune_checkpoints(folder.path(), 5, 3);
  EXPECT_EQ(folder.names().size(), 2U);
}

TEST(PruneCheckpoints, RemovesOldRestsOfInterruptedWritesAndNothingElse) {
  const TestFolder folder;
  const std::string old_rest = folder / "round-000000001.h5.temporary-77-0";
  const std::string new_rest = folder / "round-000000002.h5.temporary-77-0";
  for (const std::string& path : {old_rest, new_rest, folder / "notes.txt"}) {
    write_text(path, "x");
    set_age(path, std::chrono::minutes(30));
  }
  set_age(new_rest, std::chrono::minutes(1));
  prune_checkpoints(folder.path(), 1, 2);
  EXPECT_FALSE(fs::exists(old_rest));
  EXPECT_TRUE(fs::exists(new_rest));
  EXPECT_TRUE(fs::exists(folder / "notes.txt"));
}

}  // namespace
}  // namespace crossbow
