#include "io/importers/idx.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/file_digest.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::expect_error;
using testing_support::TestFolder;
using testing_support::write_bytes;

const std::string images_name = "/train-images-idx3-ubyte";
const std::string labels_name = "/train-labels-idx1-ubyte";

// Two images of 2 x 3 pixels.
const Bytes image_bytes{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2,  0,  0,
                        0, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255};
const Bytes label_bytes{0, 0, 8, 1, 0, 0, 0, 2, 9, 4};

// label_bytes as gzip 1.12 compresses them (gzip -9n).
const Bytes label_gzip{0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03,
                       0x63, 0x60, 0xe0, 0x60, 0x64, 0x60, 0x60, 0x60, 0xe2, 0x64,
                       0x01, 0x00, 0x49, 0xd3, 0x33, 0x43, 0x0a, 0x00, 0x00, 0x00};

class IdxTest : public testing::Test {
 protected:
  IdxTest() {
    images(image_bytes);
    labels(label_bytes);
  }
  void images(const Bytes& bytes) { write_bytes(folder.path() + images_name, bytes); }
  void labels(const Bytes& bytes) { write_bytes(folder.path() + labels_name, bytes); }
  Dataset import() const { return import_idx(folder.path(), Split::train); }
  void refuse(const std::vector<std::string>& parts) const {
    expect_error([&] { import(); }, parts);
  }

  TestFolder folder;
};

std::vector<int> class_counts(const Dataset& data) {
  std::vector<int> counts(static_cast<std::size_t>(data.classes));
  for (const std::int32_t label : data.labels) {
    ++counts[static_cast<std::size_t>(label)];
  }
  return counts;
}

Bytes changed(Bytes bytes, std::size_t offset, std::uint8_t value) {
  bytes.at(offset) = value;
  return bytes;
}

TEST_F(IdxTest, ReadsPlainFiles) {
  const Dataset data = import();
  EXPECT_EQ(data.n, 2);
  EXPECT_EQ(data.h, 2);
  EXPECT_EQ(data.w, 3);
  EXPECT_EQ(data.c, 1);
  EXPECT_EQ(data.classes, 10);
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{9, 4}));
  EXPECT_EQ(data.images, (Bytes{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 255}));
  EXPECT_DOUBLE_EQ(data.mean, 321.0 / 12 / 255);
  Sha256 sha;
  sha.update(image_bytes.data(), image_bytes.size());
  sha.update(label_bytes.data(), label_bytes.size());
  EXPECT_EQ(data.digest, sha.hex());
  EXPECT_NE(data.source.find(folder.path() + images_name), std::string::npos);
}

// The facts of data/digits/README.md; its mean and std are of value / 16.
TEST(Idx, ImportsTheEmbeddedDigits) {
  const std::string folder = std::string(CROSSBOW_SOURCE_DIR) + "/inputs/data/digits";
  const Dataset train = import_idx(folder, Split::train);
  EXPECT_EQ(train.n, 1437);
  EXPECT_EQ(train.h, 8);
  EXPECT_EQ(train.w, 8);
  EXPECT_EQ(class_counts(train),
            (std::vector<int>{143, 146, 142, 146, 144, 145, 144, 143, 141, 143}));
  EXPECT_NEAR(train.mean * 255 / 16, 0.305386, 5e-7);
  EXPECT_NEAR(train.std * 255 / 16, 0.375507, 5e-7);
  EXPECT_NEAR(train.mean, 0.019161, 5e-7);
  EXPECT_NEAR(train.std, 0.023561, 5e-7);
  const Dataset test = import_idx(folder, Split::test);
  EXPECT_EQ(test.n, 360);
  EXPECT_EQ(class_counts(test),
            (std::vector<int>{35, 36, 35, 37, 37, 37, 37, 36, 33, 37}));
  EXPECT_NEAR(test.mean * 255 / 16, 0.304758, 5e-7);
  EXPECT_NEAR(test.std * 255 / 16, 0.378205, 5e-7);
}

// Published mean and std of Fashion-MNIST's training pixels: 0.2860 and 0.3530; 6,000 and
// 1,000 samples a class.
TEST(Idx, ImportsFashionMnist) {
  const std::string folder = "/usr/share/datasets/fashion-mnist";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "Debian's package dataset-fashion-mnist is not installed";
  }
  const Dataset train = import_idx(folder, Split::train);
  EXPECT_EQ(train.n, 60000);
  EXPECT_EQ(train.h, 28);
  EXPECT_EQ(train.w, 28);
  EXPECT_EQ(class_counts(train), std::vector<int>(10, 6000));
  EXPECT_NEAR(train.mean, 0.2860, 5e-5);
  EXPECT_NEAR(train.std, 0.3530, 5e-5);
  const Dataset test = import_idx(folder, Split::test);
  EXPECT_EQ(class_counts(test), std::vector<int>(10, 1000));
}

TEST_F(IdxTest, FindsTestFilesUnderBothNames) {
  for (const std::string prefix : {"test", "t10k"}) {
    write_bytes(folder / (prefix + "-images-idx3-ubyte"), image_bytes);
    expect_error([&] { import_idx(folder.path(), Split::test); },
                 {prefix + "-labels-idx1-ubyte", folder.path()});
    write_bytes(folder / (prefix + "-labels-idx1-ubyte"), label_bytes);
    EXPECT_EQ(import_idx(folder.path(), Split::test).n, 2);
    std::filesystem::remove(folder / (prefix + "-images-idx3-ubyte"));
  }
  expect_error([&] { import_idx(folder.path(), Split::test); },
               {"t10k-images-idx3-ubyte", "test-images-idx3-ubyte", folder.path()});
}

TEST_F(IdxTest, AMagicNumberOfAnotherKindIsNamed) {
  images(changed(image_bytes, 2, 13));
  refuse({images_name, "offset 0", "0x00000d03", "0x00000803"});
  images(label_bytes);
  refuse({images_name, "offset 0", "0x00000801", "0x00000803"});
  images(image_bytes);
  labels(image_bytes);
  refuse({labels_name, "offset 0", "0x00000803", "0x00000801"});
}

TEST_F(IdxTest, SizesOfZeroAreNamed) {
  images(changed(image_bytes, 7, 0));
  refuse({images_name, "number of samples is 0", "offset 4"});
  images(changed(image_bytes, 11, 0));
  refuse({images_name, "height is 0", "offset 8"});
  images(changed(image_bytes, 15, 0));
  refuse({images_name, "width is 0", "offset 12"});
}

TEST_F(IdxTest, SizesThatCannotBeAreNamedWithoutAskingForMemory) {
  images(changed(image_bytes, 4, 0xff));
  refuse({images_name, "4278190082", "offset 4"});
  Bytes huge = image_bytes;
  huge[4] = huge[8] = huge[12] = 0x7f;
  images(huge);
  refuse({images_name, "overflows"});
  huge[8] = huge[12] = 0;
  images(huge);
  refuse({images_name, "ends too early", "12784238620", "offset 28"});
}

TEST_F(IdxTest, ACutFileIsNamedAtEveryLength) {
  for (std::size_t size = 0; size < image_bytes.size(); ++size) {
    images(Bytes(image_bytes.begin(), image_bytes.begin() + std::ptrdiff_t(size)));
    refuse({images_name, "offset " + std::to_string(size)});
  }
  images(image_bytes);
  for (std::size_t size = 0; size < label_bytes.size(); ++size) {
    labels(Bytes(label_bytes.begin(), label_bytes.begin() + std::ptrdiff_t(size)));
    refuse({labels_name, "offset " + std::to_string(size)});
  }
}

TEST_F(IdxTest, BytesAfterTheLastValueAreNamed) {
  Bytes more = image_bytes;
  more.push_back(42);
  images(more);
  refuse({images_name, "offset 28", "the first is 42"});
}

TEST_F(IdxTest, CountsOfImagesAndLabelsMustAgree) {
  labels({0, 0, 8, 1, 0, 0, 0, 3, 9, 4, 1});
  refuse({labels_name, images_name, "3 labels", "2 images", "offset 4"});
}

TEST_F(IdxTest, ALabelBeyondAGapIsNamed) {
  labels({0, 0, 8, 1, 0, 0, 0, 2, 9, 133});
  refuse({labels_name, "label 133 of sample 1", "offset 9", "no sample has label 10"});
  labels({0, 0, 8, 1, 0, 0, 0, 2, 0, 10});
  EXPECT_EQ(import().classes, 11);
}

TEST_F(IdxTest, ReadsGzipUnderEitherName) {
  labels(label_gzip);
  EXPECT_EQ(import().labels, (std::vector<std::int32_t>{9, 4}));
  std::filesystem::rename(folder.path() + labels_name,
                          folder.path() + labels_name + ".gz");
  EXPECT_EQ(import().labels, (std::vector<std::int32_t>{9, 4}));
}

TEST_F(IdxTest, ADamagedChecksumOrACutOfGzipIsNamed) {
  labels(changed(label_gzip, 22, 0x48));
  refuse({labels_name, "damaged", "incorrect data check", "offset 10"});
  labels(Bytes(label_gzip.begin(), label_gzip.end() - 3));
  refuse({labels_name, "end too early", "offset 10"});
  labels(Bytes(label_gzip.begin(), label_gzip.begin() + 15));
  refuse({labels_name, "end too early"});
}

TEST_F(IdxTest, BytesAfterTheLastValueOfGzipAreNamed) {
  Bytes two = label_gzip;  // a second member adds its own ten bytes
  two.insert(two.end(), label_gzip.begin(), label_gzip.end());
  labels(two);
  refuse({labels_name, "offset 10", "the first is 0"});
}

TEST_F(IdxTest, ANameThatPromisesGzipMustKeepIt) {
  std::filesystem::remove(folder.path() + labels_name);
  write_bytes(folder.path() + labels_name + ".gz", label_bytes);
  refuse({labels_name + ".gz", "not gzip", "0 0", "offset 0"});
  write_bytes(folder.path() + labels_name + ".gz", {'<', 'h', 't', 'm', 'l', '>'});
  refuse({labels_name + ".gz", "not gzip", "60 104"});
}

}  // namespace
}  // namespace crossbow
