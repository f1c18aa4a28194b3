#include "io/importers/image_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/file_digest.hpp"
#include "io/image_codec.hpp"
#include "io/test_archive.hpp"
#include "io/test_images.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::colour_png;
using testing_support::encode_jpeg;
using testing_support::expect_error;
using testing_support::grey_jpeg;
using testing_support::grey_png;
using testing_support::plain_image;
using testing_support::TestFolder;
using testing_support::write_archive;
using testing_support::write_folder;

using Files = std::map<std::string, Bytes>;

// A plain JPEG of a grey level decodes to that level exactly.
Bytes grey(std::uint8_t level, int h = 8, int w = 8) {
  return encode_jpeg(plain_image(h, w, {level}));
}

Bytes colour(std::uint8_t level) {
  return encode_jpeg(plain_image(8, 8, {level, level, level}));
}

Bytes jpeg_bytes(const Dataset& data, std::int64_t i) {
  const auto bytes = jpeg_of(data, i);
  return {bytes.begin(), bytes.end()};
}

class ImageFolderTest : public testing::Test {
 protected:
  ImportResult import(const Files& files, const ImportOptions& options = {}) {
    std::filesystem::remove_all(folder / "set");
    write_folder(folder / "set", files);
    return import_image_folder(folder / "set", options);
  }
  void refuse(const Files& files,
              const std::vector<std::string>& parts,
              ImportOptions options = {}) {
    expect_error([&] { import(files, options); }, parts);
  }

  TestFolder folder;
};

TEST_F(ImageFolderTest, JpegFilesAreKeptAsTheyAre) {
  const Dataset data = import({{"dog/2.jpg", grey(102)},
                               {"cat/x.JPEG", grey(51)},
                               {"dog/1.jpg", grey(0)},
                               {"dog/notes.txt", {1}},
                               {"cat/._x.jpg", {1}}})
                           .data;
  EXPECT_EQ(data.n, 3);
  EXPECT_EQ(data.c, 1);
  EXPECT_EQ(data.h, 8);
  EXPECT_EQ(data.w, 8);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(data.labels, (std::vector<std::int32_t>{0, 1, 1}));
  ASSERT_TRUE(is_compressed(data));
  EXPECT_EQ(jpeg_bytes(data, 0), grey(51));
  EXPECT_EQ(jpeg_bytes(data, 1), grey(0));
  EXPECT_EQ(jpeg_bytes(data, 2), grey(102));
  EXPECT_DOUBLE_EQ(data.mean, 0.2);                   // of 0.2, 0, 0.4
  EXPECT_NEAR(data.std, 0.16329931618554522, 1e-12);  // sqrt(0.08 / 3)
  check_dataset(data, "here");
}

TEST_F(ImageFolderTest, SizesOfJpegFilesMayDiffer) {
  const Dataset data = import({{"a/1.jpg", grey(51, 8, 16)}, {"b/2.jpg", grey(51)}}).data;
  EXPECT_EQ(data.h, 0);
  EXPECT_EQ(data.w, 0);
  EXPECT_DOUBLE_EQ(data.mean, 0.2);
  check_dataset(data, "here");
}

TEST_F(ImageFolderTest, OfDifferentSizesTheGreyOnesAmongColourAreOdd) {
  Files files{{"a/1.jpg", grey(1)}, {"a/2.jpg", grey(2)}};
  for (int i = 1; i <= 3; ++i) {  // more, but no two of one size
    files["b/" + std::to_string(i) + ".jpg"] =
        encode_jpeg(plain_image(8 * i, 8, {1, 2, 3}));
  }
  refuse(files, {"2 faults", "a/1.jpg: it is grey", "a/2.jpg"});
}

TEST_F(ImageFolderTest, TheyAreDecodedIfAskedForOrIfOneIsPng) {
  const Dataset asked = import({{"a/1.jpg", grey(51)}, {"b/2.jpg", grey(255)}},
                               {.decode = true, .progress = {}})
                            .data;
  EXPECT_FALSE(is_compressed(asked));
  Bytes pixels(128, 51);
  std::fill(pixels.begin() + 64, pixels.end(), 255);
  EXPECT_EQ(asked.images, pixels);
  const Dataset png = import({{"a/1.png", colour_png}}).data;
  EXPECT_EQ(png.images,
            (Bytes{255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 40, 50, 60, 255, 255, 255}));
  EXPECT_EQ(png.h, 2);
  EXPECT_EQ(png.w, 3);
  EXPECT_EQ(png.c, 3);
}

TEST_F(ImageFolderTest, AnArchiveIsTakenLikeItsFolder) {
  const Files files{{"pets/train/cat/1.jpg", grey(10)},
                    {"pets/train/dog/1.jpg", grey(20)},
                    {"pets/test/dog/2.jpg", grey(30)},
                    {"pets/test/cat/2.jpg", grey(40)}};
  write_folder(folder / "plain", files);
  std::vector<std::string> sources{folder / "plain"};
  for (const char* name : {"a.tar", "a.tar.gz", "a.zip"}) {
    write_archive(folder / name, files);
    sources.push_back(folder / name);
  }
  for (const std::string& source : sources) {
    EXPECT_TRUE(is_image_folder(source)) << source;
    const Dataset train = import_image_folder(source, {}).data;
    EXPECT_EQ(train.n, 2) << source;
    EXPECT_EQ(jpeg_bytes(train, 0), grey(10)) << source;
    const Dataset test =
        import_image_folder(source, {.split = Split::test, .progress = {}}).data;
    EXPECT_EQ(jpeg_bytes(test, 0), grey(40)) << source;
    EXPECT_EQ(test.class_names, (std::vector<std::string>{"cat", "dog"})) << source;
    EXPECT_EQ(train.digest, image_folder_digest(source)) << source;
  }
  EXPECT_EQ(image_folder_digest(sources[1]), sha256_of_files({sources[1]}));
}

TEST_F(ImageFolderTest, SplitsAreFoldersOfFoldersAndShareTheirClasses) {
  const Files files{{"train/a/1.jpg", grey(1)},
                    {"train/b/1.jpg", grey(2)},
                    {"val/b/1.jpg", grey(3)},
                    {"val/a/1.jpg", grey(4)}};
  const ImportOptions test{.split = Split::test, .progress = {}};
  EXPECT_EQ(jpeg_bytes(import(files, test).data, 0), grey(4));
  // A class of the training set keeps its number where the test has none of it.
  const ImportOptions skipping{.split = Split::test, .skip_bad = true, .progress = {}};
  Files fewer = files;
  fewer.erase("val/a/1.jpg");
  refuse(fewer, {"class a", "no images in the test split"}, test);
  EXPECT_EQ(import(fewer, skipping).data.labels, (std::vector<std::int32_t>{1}));
  refuse({{"train/a/1.jpg", grey(1)}, {"train/b/1.jpg", grey(1)}},
         {"no images of the test split", "train"},
         test);
  // Vehicles: a class, not a split.
  const Dataset vehicles =
      import({{"train/1.jpg", grey(1)}, {"ship/1.jpg", grey(2)}}).data;
  EXPECT_EQ(vehicles.class_names, (std::vector<std::string>{"ship", "train"}));
}

TEST_F(ImageFolderTest, EveryFaultIsCountedAndTheFirstTenAreTold) {
  Files files{{"a/good.jpg", grey(1)}};
  for (int i = 10; i < 23; ++i) {
    files["b/" + std::to_string(i) + ".jpg"] = {0xff, 0xd8, 0xff, 1};
  }
  refuse(files,
         {"13 faults", "b/10.jpg: ", "b/19.jpg: ", "and 3 more", "--on-error skip"});
  try {
    import(files);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find("b/20.jpg"), std::string::npos);
  }
  const ImportResult rest = import(files, {.skip_bad = true, .progress = {}});
  EXPECT_EQ(rest.faults.count(), 13);
  EXPECT_EQ(rest.data.n, 1);
  EXPECT_EQ(rest.data.classes, 2);
}

TEST_F(ImageFolderTest, WhatIsWrongIsNamed) {
  Bytes cut = colour(7);
  cut.resize(cut.size() - 10);
  refuse({{"a/1.jpg", colour(1)}, {"b/2.jpg", cut}},
         {"1 fault", "b/2.jpg", "Premature end of JPEG file"});
  refuse({{"a/1.jpg", colour(1)}, {"a/2.jpg", colour(1)}, {"b/2.jpg", grey(1)}},
         {"b/2.jpg", "grey where most are in colour"});
  refuse({{"a/1.png", grey_png}, {"b/1.png", grey_png}, {"b/2.jpg", grey_jpeg}},
         {"b/2.jpg", "4x6x1 where most are 2x3x1"});
  refuse({{"a/1.jpg", colour(1)}, {"b/", {}}}, {"class b", "no images"});
  refuse({{"a/1.jpg", colour(1)}, {"2.jpg", colour(1)}},
         {"2.jpg", "no folder of a class"});
  refuse({{"a/1.jpg", colour(1)}, {"a/2.webp", {1}}},
         {"a/2.webp", "neither JPEG nor PNG"});
  refuse({{"a/1.jpg", colour(1)}, {"a/2.jpg", {'G', 'I', 'F'}}},
         {"a/2.jpg", "neither JPEG nor PNG"});
  refuse({{"a/notes.txt", {1}}}, {"no JPEG or PNG files", folder / "set"});
  refuse({{"a/1.jpg", {0}}}, {"No sample is good"}, {.skip_bad = true, .progress = {}});
}

// The first and the last pixels of four images of the archive, as Pillow 13 decodes them;
// its number of
// images as its README has them, mean and std of Pillow's pixels by numpy.
TEST(ImageFolder, ReadsTheJpegFilesOfCifar10) {
  const std::string archive =
      std::string(CROSSBOW_SOURCE_DIR) + "/../shared/data/cifar10/cifar10-jpeg.tar.gz";
  if (!std::filesystem::exists(archive)) {
    GTEST_SKIP() << archive << " is not there";
  }
  const Dataset test =
      import_image_folder(archive, {.split = Split::test, .progress = {}}).data;
  EXPECT_EQ(test.n, 10000);
  EXPECT_EQ(test.h, 32);
  EXPECT_EQ(test.w, 32);
  EXPECT_EQ(test.c, 3);
  EXPECT_EQ(std::ssize(test.class_names), 10);
  EXPECT_EQ(test.class_names[0], "airplane");
  EXPECT_EQ(test.class_names[9], "truck");
  for (int label = 0; label < 10; ++label) {
    EXPECT_EQ(std::count(test.labels.begin(), test.labels.end(), label), 1000);
  }
  EXPECT_NEAR(test.mean, 0.476504, 1e-4);
  EXPECT_NEAR(test.std, 0.250051, 1e-4);
  struct Known {
    std::int64_t sample;
    Bytes first, last;  // pixels
  };
  for (const Known& known : {Known{0, {141, 159, 179}, {49, 72, 64}},
                             Known{1234, {255, 254, 255}, {251, 255, 255}},
                             Known{5000, {80, 66, 37}, {21, 26, 30}},
                             Known{9999, {255, 255, 246}, {113, 94, 90}}}) {
    const Image image = decode_jpeg(jpeg_of(test, known.sample));
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(image.pixels[c], known.first[c], 1) << known.sample;
      EXPECT_NEAR(image.pixels[31 * 32 * 3 + 31 * 3 + c], known.last[c], 1);
    }
  }
}

}  // namespace
}  // namespace crossbow
