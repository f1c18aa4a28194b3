#include "io/contact_sheet.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "io/test_images.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::Bytes;
using testing_support::encode_jpeg;
using testing_support::expect_error;
using testing_support::plain_image;

std::uint8_t at(const Image& sheet, int y, int x) {
  return sheet.pixels.at(static_cast<std::size_t>(y) * static_cast<std::size_t>(sheet.w) +
                         static_cast<std::size_t>(x));
}

// Samples of 32 x 32 and one grey level each, lines of two pixels between.
TEST(ContactSheet, HasARowForEachClass) {
  Dataset data;
  data.n = 12;
  data.h = data.w = 32;
  data.c = 1;
  data.classes = 2;
  for (int i = 0; i < 12; ++i) {
    data.images.insert(data.images.end(), 1024, static_cast<std::uint8_t>(10 * i));
    data.labels.push_back(i == 3 ? 1 : 0);
  }
  const Image sheet = contact_sheet(data);
  EXPECT_EQ(sheet.h, 2 * 34 + 2);
  EXPECT_EQ(sheet.w, 10 * 34 + 2);
  EXPECT_EQ(sheet.c, 1);
  EXPECT_EQ(at(sheet, 0, 0), 128);
  EXPECT_EQ(at(sheet, 2, 2), 0);
  EXPECT_EQ(at(sheet, 33, 33), 0);
  EXPECT_EQ(at(sheet, 2, 34), 128);
  EXPECT_EQ(at(sheet, 2, 36), 10);
  EXPECT_EQ(at(sheet, 2, 36 + 2 * 34), 40);  // sample 3 is of the other class
  EXPECT_EQ(at(sheet, 36, 2), 30);
  EXPECT_EQ(at(sheet, 36, 36), 128);         // no more of that class
  EXPECT_EQ(at(sheet, 2, 2 + 9 * 34), 100);  // the eleventh has no place
}

TEST(ContactSheet, ShowsCompressedSamplesOfDifferentSizes) {
  Dataset data;
  data.n = 2;
  data.c = 1;
  data.classes = 1;
  data.labels = {0, 0};
  data.offsets = {0};
  for (const Image& image : {plain_image(8, 16, {50}), plain_image(200, 100, {70})}) {
    const Bytes jpeg = encode_jpeg(image);
    data.jpeg.insert(data.jpeg.end(), jpeg.begin(), jpeg.end());
    data.offsets.push_back(std::ssize(data.jpeg));
  }
  const Image sheet = contact_sheet(data);
  EXPECT_EQ(sheet.h, 96 + 4);
  EXPECT_EQ(at(sheet, 2 + 47, 2 + 95), 50);  // 48 x 96
  EXPECT_EQ(at(sheet, 2 + 48, 2 + 95), 128);
  EXPECT_EQ(at(sheet, 2 + 95, 100 + 47), 70);  // 96 x 48
  EXPECT_EQ(at(sheet, 2 + 95, 100 + 48), 128);
  data.jpeg[0] = 0;
  expect_error([&] { contact_sheet(data); }, {"sample 0 is damaged"});
}

}  // namespace
}  // namespace crossbow
