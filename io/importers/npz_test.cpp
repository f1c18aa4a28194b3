#include "io/importers/npz.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/h5_handle.hpp"
#include "io/test_archive.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::TestFolder;
using testing_support::write_archive;

using Files = std::map<std::string, Bytes>;

// As numpy 2.4 saves an array: a head of 128 bytes, here with its dictionary's text.
Bytes npy(const std::string& type,
          const std::string& shape,
          const Bytes& elements,
          const std::string& order = "False") {
  std::string head("\x93NUMPY\x01\x00v\x00", 10);
  head += "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': (" + shape +
          "), }";
  head.resize(127, ' ');
  head += '\n';
  Bytes bytes(head.begin(), head.end());
  bytes.insert(bytes.end(), elements.begin(), elements.end());
  return bytes;
}

const Bytes two_labels{1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0};  // 1, 4 as <i8

class NpzTest : public testing::Test {
 protected:
  ImportResult import(const Files& files, const ImportOptions& options = {}) {
    write_archive(folder / "a.npz", files);
    return import_npz(folder / "a.npz", options);
  }
  void refuse(const Files& files, const std::vector<std::string>& parts) {
    expect_error([&] { import(files); }, parts);
  }

  TestFolder folder;
};

TEST_F(NpzTest, ReadsImagesAndLabels) {
  const Dataset data = import({{"images.npy", npy("|u1", "2, 1, 2", {0, 51, 102, 51})},
                               {"labels.npy", npy("<i8", "2,", two_labels)}})
                           .data;
  EXPECT_EQ(data.n, 2);
  EXPECT_EQ(data.h, 1);
  EXPECT_EQ(data.w, 2);
  EXPECT_EQ(data.c, 1);
  EXPECT_EQ(data.classes, 5);
  EXPECT_EQ(data.images, (Bytes{0, 51, 102, 51}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{1, 4}));
  EXPECT_DOUBLE_EQ(data.mean, 0.2);
  check_dataset(data, "here");
}

TEST_F(NpzTest, SplitsHaveNamesOfTheirOwn) {
  const Files files{{"x_train.npy", npy("|u1", "1, 1, 1, 3", {1, 2, 3})},
                    {"y_train.npy", npy("|u1", "1, 1", {0})},
                    {"x_test.npy", npy("|u1", "1, 1, 1, 3", {4, 5, 6})},
                    {"y_test.npy", npy("|u1", "1,", {2})}};
  const Dataset train = import(files).data;
  EXPECT_EQ(train.images, (Bytes{1, 2, 3}));
  EXPECT_EQ(train.c, 3);
  const Dataset test = import(files, {.split = Split::test, .progress = {}}).data;
  EXPECT_EQ(test.images, (Bytes{4, 5, 6}));
  EXPECT_EQ(test.labels, std::vector<std::int32_t>{2});
  refuse({{"x_train.npy", npy("|u1", "1, 1, 1", {1})}},
         {"no arrays of the train split", "x_train and y_train", folder / "a.npz"});
}

TEST_F(NpzTest, ReadsTheSameFromHdf5) {
  AtomicFile target(folder / "a.h5", 4096);
  H5File file = H5File::create(target);
  const Bytes images{1, 2, 3, 4};
  const std::vector<std::int64_t> labels{2, 0};
  file.write("x", {2, 2, 1}, images.data());
  file.write("y", {2}, labels.data());
  file.close();
  target.commit();
  const Dataset data = import_npz(folder / "a.h5", {}).data;
  EXPECT_EQ(data.images, images);
  EXPECT_EQ(data.h, 2);
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{2, 0}));
}

TEST_F(NpzTest, LabelsOutOfRangeAreNamedAndMayBeLeftOut) {
  const Files files{{"x.npy", npy("|u1", "4, 1, 1", {1, 2, 3, 4})},
                    {"y.npy", npy("|i1", "4,", {0, 255, 100, 3})}};
  refuse(files,
         {"2 faults", "sample 1: label -1", "sample 2: label 100 is out of range"});
  const ImportResult rest = import(files, {.skip_bad = true, .progress = {}});
  EXPECT_EQ(rest.data.images, (Bytes{1, 4}));
  EXPECT_EQ(rest.data.labels, (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(rest.data.classes, 4);
}

TEST_F(NpzTest, ShapesThatDoNotFitAreNamed) {
  const Bytes one = npy("|u1", "1,", {0});
  refuse({{"x.npy", npy("|u1", "2, 1, 1", {1, 2})}, {"y.npy", one}},
         {"labels of shape 1", "2 images"});
  refuse({{"x.npy", npy("|u1", "1, 2", {1, 2})}, {"y.npy", one}},
         {"images of shape 1x2"});
  refuse({{"x.npy", npy("|u1", "1, 0, 2", {})}, {"y.npy", one}}, {"1x0x2"});
  refuse({{"x.npy", npy("<i2", "1, 1, 1", {1, 0})}, {"y.npy", one}}, {"type 'i2'"});
}

}  // namespace
}  // namespace crossbow
