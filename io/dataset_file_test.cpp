#include "io/dataset_file.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "io/h5_handle.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::read_bytes;
using testing_support::TestFolder;
using testing_support::write_bytes;

// Three samples of 2 x 3 pixels with 2 channels.
Dataset small() {
  Dataset data;
  data.n = 3;
  data.h = 2;
  data.w = 3;
  data.c = 2;
  data.classes = 4;
  for (int i = 0; i < 36; ++i) {
    data.images.push_back(static_cast<std::uint8_t>(7 * i));
  }
  data.labels = {3, 0, 2};
  data.class_names = {"a", "b", "c", "d"};
  data.source = "by hand";
  data.digest = "ab12";
  compute_statistics(data);
  return data;
}

// Three samples of 2, 1 and 3 bytes; what they hold is not the file's business.
Dataset compressed() {
  Dataset data = small();
  data.images.clear();
  data.c = 3;
  data.jpeg = {1, 2, 3, 4, 5, 6};
  data.offsets = {0, 2, 3, 6};
  return data;
}

// Write what write_dataset would refuse.
template <class Change>
void write_raw(const std::string& path, const Change& change, std::int64_t version = 1) {
  AtomicFile target(path, 4096);
  H5File file = H5File::create(target);
  file.write_text("format", "crossbow-dataset");
  file.write_integer("version", version);
  file.write_integer("classes", 2);
  file.write_number("mean", 0.5);
  file.write_number("std", 0.25);
  file.write_text("source", "by hand");
  file.write_text("sha256", "");
  change(file);
  file.close();
  target.commit();
}

TEST(DatasetFile, EverythingComesBack) {
  const TestFolder folder;
  const Dataset data = small();
  write_dataset(folder / "a.h5", data);
  const Dataset back = read_dataset(folder / "a.h5");
  EXPECT_EQ(back.n, 3);
  EXPECT_EQ(back.h, 2);
  EXPECT_EQ(back.w, 3);
  EXPECT_EQ(back.c, 2);
  EXPECT_EQ(back.classes, 4);
  EXPECT_EQ(back.images, data.images);
  EXPECT_EQ(back.labels, data.labels);
  EXPECT_EQ(back.class_names, data.class_names);
  EXPECT_EQ(back.mean, data.mean);
  EXPECT_EQ(back.std, data.std);
  EXPECT_EQ(back.source, "by hand");
  EXPECT_EQ(back.digest, "ab12");
  EXPECT_EQ(folder.names(), std::vector<std::string>{"a.h5"});
}

TEST(DatasetFile, CompressedSamplesComeBack) {
  const TestFolder folder;
  Dataset data = compressed();
  EXPECT_TRUE(is_compressed(data));
  EXPECT_FALSE(is_compressed(small()));
  write_dataset(folder / "a.h5", data);
  Dataset back = read_dataset(folder / "a.h5");
  EXPECT_EQ(back.n, 3);
  EXPECT_EQ(back.h, 2);
  EXPECT_EQ(back.w, 3);
  EXPECT_EQ(back.c, 3);
  EXPECT_TRUE(back.images.empty());
  EXPECT_EQ(back.jpeg, data.jpeg);
  EXPECT_EQ(back.offsets, data.offsets);
  EXPECT_EQ(back.labels, data.labels);
  const auto last = jpeg_of(back, 2);
  EXPECT_EQ(Bytes(last.begin(), last.end()), (Bytes{4, 5, 6}));
  data.h = data.w = 0;  // of different sizes
  write_dataset(folder / "b.h5", data);
  back = read_dataset(folder / "b.h5");
  EXPECT_EQ(back.h, 0);
  EXPECT_EQ(back.w, 0);
  EXPECT_EQ(sample_bytes(back), 0);
}

TEST(DatasetFile, WrongCompressedSamplesAreNamed) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  const auto refuse = [&](auto change, const std::vector<std::string>& parts) {
    Dataset data = compressed();
    change(data);
    expect_error([&] { write_dataset(path, data); }, parts);
  };
  refuse([](Dataset& d) { d.offsets = {0, 3, 3, 6}; }, {path, "sample 1 begins at 3"});
  refuse([](Dataset& d) { d.offsets = {0, 3, 2, 6}; }, {path, "sample 1", "ends at 2"});
  refuse([](Dataset& d) { d.offsets = {1, 2, 3, 6}; }, {"span", "6 bytes"});
  refuse([](Dataset& d) { d.offsets = {0, 2, 3, 7}; }, {"span", "6 bytes"});
  refuse([](Dataset& d) { d.offsets = {0, 2, 6}; }, {"3 offsets", "3 images"});
  refuse([](Dataset& d) { d.h = 0; }, {"0x3x3"});
  refuse([](Dataset& d) { d.c = 2; }, {"2x3x2"});
  refuse([](Dataset& d) { d.labels[1] = 4; }, {"label 4 of sample 1"});
  EXPECT_TRUE(folder.names().empty());
}

TEST(DatasetFile, ClassNamesMayBeMissing) {
  const TestFolder folder;
  Dataset data = small();
  data.class_names.clear();
  write_dataset(folder / "a.h5", data);
  EXPECT_TRUE(read_dataset(folder / "a.h5").class_names.empty());
}

TEST(DatasetFile, StatisticsAreOfValuesBetweenZeroAndOne) {
  Dataset data = small();
  data.images.assign(36, 0);
  for (int i = 0; i < 18; ++i) {
    data.images[static_cast<std::size_t>(i)] = 255;
  }
  compute_statistics(data);  // half zeros, half ones
  EXPECT_DOUBLE_EQ(data.mean, 0.5);
  EXPECT_DOUBLE_EQ(data.std, 0.5);
  data.images.assign(36, 51);
  compute_statistics(data);
  EXPECT_DOUBLE_EQ(data.mean, 0.2);
  EXPECT_EQ(data.std, 0.0);
}

TEST(DatasetFile, AWrongDatasetIsNotWritten) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  const auto refuse = [&](auto change, const std::vector<std::string>& parts) {
    Dataset data = small();
    change(data);
    expect_error([&] { write_dataset(path, data); }, parts);
  };
  refuse([](Dataset& d) { d.labels[1] = 4; }, {path, "label 4 of sample 1", "4 classes"});
  refuse([](Dataset& d) { d.labels[2] = -1; }, {"label -1 of sample 2"});
  refuse([](Dataset& d) { d.labels.pop_back(); }, {"2 labels", "3 images"});
  refuse([](Dataset& d) { d.images.pop_back(); }, {"35 bytes", "36"});
  refuse([](Dataset& d) { d.n = 0; }, {"no samples"});
  refuse([](Dataset& d) { d.h = -2; }, {"3x-2x3x2"});
  refuse([](Dataset& d) { d.class_names.pop_back(); }, {"3 class names", "4 classes"});
  refuse([](Dataset& d) { d.mean = std::nan(""); }, {"mean or std"});
  EXPECT_TRUE(folder.names().empty());
}

TEST(DatasetFile, WrongContentOfAFileIsNamed) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  const Bytes images(8, 1);
  const std::vector<std::int32_t> labels{0, 1};
  const auto refuse = [&](auto change, const std::vector<std::string>& parts) {
    write_raw(path, change);
    expect_error([&] { read_dataset(path); }, parts);
  };
  refuse([&](H5File& f) { f.write("labels", {2}, labels.data()); },
         {path, "'images' is missing"});
  refuse(
      [&](H5File& f) {
        f.write("images", {2, 2, 2, 1}, images.data());
      },
      {path, "'labels' is missing"});
  refuse(
      [&](H5File& f) {
        f.write("images", {2, 4}, images.data());
        f.write("labels", {2}, labels.data());
      },
      {path, "2x4", "n x h x w x c"});
  refuse(
      [&](H5File& f) {
        f.write("images", {2, 2, 2, 1}, images.data());
        f.write("labels", {1}, labels.data());
      },
      {path, "labels of shape 1", "2 images"});
  refuse(
      [&](H5File& f) {
        const std::vector<std::int64_t> wide{0, 1};
        f.write("images", {2, 2, 2, 1}, images.data());
        f.write("labels", {2}, wide.data());
      },
      {path, "labels", "int64", "int32"});
  refuse(
      [&](H5File& f) {
        const std::vector<std::int32_t> high{0, 2};
        f.write("images", {2, 2, 2, 1}, images.data());
        f.write("labels", {2}, high.data());
      },
      {path, "label 2 of sample 1", "2 classes"});
  refuse(
      [&](H5File& f) {
        f.write<std::uint8_t>("images", {0, 2, 2, 1}, nullptr);
        f.write<std::int32_t>("labels", {0}, nullptr);
      },
      {path, "no samples"});
}

TEST(DatasetFile, AnotherFormatOrVersionIsNamed) {
  const TestFolder folder;
  const std::string path = folder / "a.h5";
  write_raw(
      path, [](H5File&) {}, 9);
  expect_error([&] { read_dataset(path); }, {path, "version 9", "version 1"});
  AtomicFile target(path, 0);
  H5File file = H5File::create(target);
  file.write_text("format", "crossbow-checkpoint");
  file.close();
  target.commit();
  expect_error([&] { read_dataset(path); },
               {path, "crossbow-checkpoint", "not a data set"});
}

TEST(DatasetFile, ACutFileIsAnErrorAtEveryLength) {
  const TestFolder folder;
  write_dataset(folder / "a.h5", small());
  const Bytes whole = read_bytes(folder / "a.h5");
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    write_bytes(folder / "b.h5",
                Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
    expect_error([&] { read_dataset(folder / "b.h5"); }, {folder / "b.h5"});
  }
}

TEST(DatasetFile, AMissingFolderIsNamed) {
  expect_error([] { write_dataset("/nowhere/a.h5", small()); },
               {"/nowhere/a.h5", "No such file or directory", "bytes needed"});
}

}  // namespace
}  // namespace crossbow
