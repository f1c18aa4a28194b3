#include "io/h5_handle.hpp"

#include <atomic>
#include <csignal>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include "io/h5_internal.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_bytes;
using testing_support::write_text;

template <class Fill>
void make_file(const std::string& path, const Fill& fill) {
  AtomicFile target(path, 4096);
  H5File file = H5File::create(target);
  fill(file);
  file.close();
  target.commit();
}

TEST(H5File, AttributesComeBackExactly) {
  const TestFolder folder;
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  make_file(folder / "a.h5", [&](H5File& file) {
    file.write_text("text", "größer\nals 7");
    file.write_text("empty", "");
    file.write_texts("texts", {"T-shirt", "", "ankle boot"});
    file.write_integer("integer", largest);
    file.write_number("number", tiny);
  });
  const H5File file = H5File::open(folder / "a.h5");
  EXPECT_EQ(file.read_text("text"), "größer\nals 7");
  EXPECT_EQ(file.read_text("empty"), "");
  EXPECT_EQ(file.read_texts("texts"),
            (std::vector<std::string>{"T-shirt", "", "ankle boot"}));
  EXPECT_EQ(file.read_integer("integer"), largest);
  EXPECT_EQ(file.read_number("number"), tiny);
  EXPECT_EQ(file.attribute_names(),
            (std::vector<std::string>{"empty", "integer", "number", "text", "texts"}));
  EXPECT_EQ(file.attribute_kind("number"), H5Kind::number);
  EXPECT_EQ(file.attribute_kind("texts"), H5Kind::text);
}

TEST(H5File, ATextOfManyKilobytesFitsAnAttribute) {
  const TestFolder folder;
  const std::string deck(300000, 'x');
  make_file(folder / "a.h5", [&](H5File& file) { file.write_text("deck", deck); });
  EXPECT_EQ(H5File::open(folder / "a.h5").read_text("deck"), deck);
}

TEST(H5File, ATextWithAZeroByteIsRefused) {
  const TestFolder folder;
  expect_error(
      [&] {
        make_file(folder / "a.h5",
                  [](H5File& file) { file.write_text("t", std::string("a\0b", 3)); });
      },
      {"zero byte"},
      ExitCode::internal_error);
}

TEST(H5File, DataSetsOfAllTypesAndShapesComeBack) {
  const TestFolder folder;
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  const std::vector<double> one{0.1};
  make_file(folder / "a.h5", [&](H5File& file) {
    file.write("z/conv/weight", {2, 3}, values.data());
    file.write("z/one", {}, one.data());
    file.write<float>("empty", {0, 3}, nullptr);
    const std::vector<std::uint8_t> bytes{0, 255};
    file.write("bytes", {2}, bytes.data());
    const std::vector<std::int64_t> numbers{-1, std::int64_t{1} << 62};
    file.write("numbers", {2, 1}, numbers.data());
  });
  const H5File file = H5File::open(folder / "a.h5");
  EXPECT_EQ(
      file.data_set_names(),
      (std::vector<std::string>{"bytes", "empty", "numbers", "z/conv/weight", "z/one"}));
  EXPECT_EQ(file.shape("z/conv/weight"), (H5Shape{2, 3}));
  EXPECT_EQ(file.read<float>("z/conv/weight"), values);
  EXPECT_EQ(file.shape("z/one"), H5Shape{});
  EXPECT_EQ(file.read<double>("z/one"), one);
  EXPECT_TRUE(file.read<float>("empty").empty());
  EXPECT_EQ(file.read<std::uint8_t>("bytes"), (std::vector<std::uint8_t>{0, 255}));
  EXPECT_EQ(file.read<std::int64_t>("numbers")[1], std::int64_t{1} << 62);
}

TEST(H5File, SmallChunksHoldTheSameValues) {
  const TestFolder folder;
  std::vector<std::int32_t> values(385);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int32_t>(i);
  }
  for (const std::int64_t limit : {1, 4, 45, 309, 4000}) {
    make_file(folder / "a.h5", [&](H5File& file) {
      file.write("x", {5, 7, 11}, values.data(), {.chunk_bytes = limit});
    });
    EXPECT_EQ(H5File::open(folder / "a.h5").read<std::int32_t>("x"), values) << limit;
  }
}

TEST(H5File, WhatIsMissingOrOfAnotherTypeIsNamed) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  make_file(path, [&](H5File& file) {
    const float value = 1;
    file.write("x/y", {1}, &value);
    file.write_number("n", 1.5);
  });
  const H5File file = H5File::open(path);
  expect_error([&] { file.read<double>("x/y"); }, {path, "x/y", "float32", "float64"});
  expect_error([&] { file.read<float>("a/b"); }, {path, "'a/b' is missing"});
  EXPECT_FALSE(file.has_data_set("x/y/z"));
  expect_error([&] { file.read_text("n"); }, {path, "'n' is not a text"});
  expect_error([&] { file.read_integer("n"); }, {path, "'n' is not an integer"});
  expect_error([&] { file.read_number("m"); }, {path, "'m' is missing"});
}

TEST(H5File, WhatIsNotHdf5IsSaidWithoutThePrintOfTheLibrary) {
  const TestFolder folder;
  write_text(folder / "a.h5",
             "this is not an HDF5 file, but long enough to look like one");
  write_text(folder / "empty.h5", "");
  testing::internal::CaptureStderr();
  expect_error([&] { H5File::open(folder / "a.h5"); },
               {folder / "a.h5", "not an HDF5 file"});
  expect_error([&] { H5File::open(folder / "empty.h5"); }, {"not an HDF5 file"});
  expect_error([&] { H5File::open(folder / "none.h5"); },
               {folder / "none.h5", "No such file or directory"});
  expect_error([&] { H5File::open(folder.path()); }, {"it is a folder"});
  std::thread([&] {  // the library keeps its switch for each thread
    expect_error([&] { H5File::open(folder / "a.h5"); }, {"not an HDF5 file"});
  })
      .join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(H5File, ADamagedChunkIsFound) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  const std::vector<std::uint8_t> values(1000, 77);
  make_file(path, [&](H5File& file) { file.write("x", {1000}, values.data()); });
  Bytes bytes = read_bytes(path);
  const auto run = std::search_n(bytes.begin(), bytes.end(), 1000, 77);
  ASSERT_NE(run, bytes.end());
  run[500] ^= 1U;
  write_bytes(path, bytes);
  const H5File file = H5File::open(path);
  expect_error([&] { file.read<std::uint8_t>("x"); }, {path, "x", "another copy"});
}

/// A file as h5py writes it unless told otherwise: without checksums, texts in a heap.
void make_old_file(const std::string& path) {
  const h5::Lock lock = h5::lock();
  const H5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                      H5Fclose);
  const H5Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  H5Tset_size(type.id(), H5T_VARIABLE);
  const H5Handle space = h5::make_space({});
  const H5Handle attribute(
      H5Acreate2(file.id(), "t", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
      H5Aclose);
  const char* text = "a text";
  ASSERT_GE(H5Awrite(attribute.id(), type.id(), &text), 0);
}

TEST(H5File, AnOldFileIsReadAndADamagedOneEnds) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  make_old_file(path);
  EXPECT_EQ(H5File::open(path).read_text("t"), "a text");
  Bytes bytes = read_bytes(path);
  const std::string heap = "GCOL";
  const auto begin = std::search(bytes.begin(), bytes.end(), heap.begin(), heap.end());
  ASSERT_NE(begin, bytes.end());
  // The heap's free room comes after its header and the text with its own, 16 bytes each
  // and 8 of text; the size of it becomes 0.
  std::fill_n(begin + 16 + 16 + 8 + 8, 8, std::uint8_t{0});
  write_bytes(path, bytes);
  expect_error([&] { H5File::open(path); }, {path, "does not come to an end with it"});
}

TEST(H5File, AThreadWithTheLockDoesNotStopATrial) {
  const TestFolder folder;
  make_old_file(folder / "a.h5");
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(H5File::open(folder / "a.h5").read_text("t"), "a text");
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

// A file of a megabyte that says it holds 16384 of them.
TEST(H5File, AShapeOutOfProportionIsRefusedBeforeMemoryIsTaken) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  make_file(path, [](H5File& file) { file.write_integer("i", 1); });
  {
    const h5::Lock lock = h5::lock();
    const H5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    const hsize_t chunk = 1 << 20, start = 0;
    const H5Handle space = h5::make_space({std::int64_t{1} << 34});
    const H5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.id(), 1, &chunk);
    const H5Handle set(H5Dcreate2(file.id(),
                                  "x",
                                  H5T_STD_U8LE,
                                  space.id(),
                                  H5P_DEFAULT,
                                  properties.id(),
                                  H5P_DEFAULT),
                       H5Dclose);
    const H5Handle memory = h5::make_space({1 << 20});
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, &start, nullptr, &chunk, nullptr);
    const Bytes values(1 << 20, 7);
    ASSERT_GE(H5Dwrite(set.id(),
                       H5T_NATIVE_UINT8,
                       memory.id(),
                       space.id(),
                       H5P_DEFAULT,
                       values.data()),
              0);
  }
  const H5File file = H5File::open(path);
  expect_error([&] { file.read<std::uint8_t>("x"); },
               {"'x' has shape 17179869184, but 1048576 bytes of values", path});
}

// Nothing was reserved, so that the limit meets HDF5's own writes, as a disk that fills
// up does.
TEST(H5File, AWriteThatFailsNamesTheSystemsReason) {
  const TestFolder folder;
  rlimit old = {};
  getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small = {.rlim_cur = 100000, .rlim_max = old.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  expect_error(
      [&] {
        AtomicFile target(folder / "a.h5", 0);
        H5File file = H5File::create(target);
        const std::vector<float> values(100000, 1.0F);
        file.write("x", {100000}, values.data());
        file.close();
        target.commit();
      },
      {folder / "a.h5", "File too large"});
  setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_TRUE(folder.names().empty());
  make_file(folder / "b.h5", [](H5File& file) { file.write_integer("i", 1); });
  EXPECT_EQ(H5File::open(folder / "b.h5").read_integer("i"), 1);
}

TEST(H5File, ThreadsMayUseFilesAtOnce) {
  const TestFolder folder;
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string path = folder / (std::to_string(t) + ".h5");
      for (int i = 0; i < 20; ++i) {
        const std::vector<float> values(1000, static_cast<float>(t));
        make_file(path, [&](H5File& file) { file.write("a/x", {1000}, values.data()); });
        good += H5File::open(path).read<float>("a/x") == values ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, 80);
}

TEST(H5ElementCount, RefusesWhatDoesNotFit) {
  EXPECT_EQ(h5_element_count({}, "x"), 1);
  EXPECT_EQ(h5_element_count({3, 0, 5}, "x"), 0);
  expect_error([] { h5_element_count({3, -1}, "here"); }, {"3x-1", "here"});
  const std::int64_t large = std::int64_t{1} << 40;
  expect_error([=] { h5_element_count({large, large}, "here"); }, {"here"});
}

// As on file systems whose locks fail, and beside programs that hold one.
TEST(H5File, AFileThatAnotherHasLockedIsRead) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  make_file(path, [](H5File& file) { file.write_integer("i", 7); });
  const int other = open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_EQ(H5File::open(path).read_integer("i"), 7);
  close(other);
}

}  // namespace
}  // namespace crossbow
