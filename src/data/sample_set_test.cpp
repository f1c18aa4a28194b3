#include "data/sample_set.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

#include "io/test_images.hpp"

namespace crossbow {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

Dataset compressed(const std::vector<Bytes>& files, int h, int w, int c) {
  Dataset data;
  data.n = static_cast<std::int64_t>(files.size());
  data.h = h;
  data.w = w;
  data.c = c;
  data.classes = 2;
  data.labels.assign(files.size(), 1);
  data.offsets = {0};
  data.place = "some/photographs.h5";
  for (const Bytes& file : files) {
    data.jpeg.insert(data.jpeg.end(), file.begin(), file.end());
    data.offsets.push_back(static_cast<std::int64_t>(data.jpeg.size()));
  }
  return data;
}

Bytes read(const Dataset& data,
           std::int64_t sample,
           const AugmentOptions& options = {},
           bool random = false) {
  const SampleSet samples{data, {}, {options, random, 1}};
  Bytes out(static_cast<std::size_t>(pixel_bytes(samples.image())), 99);
  SampleReader(samples).read(sample, 0, out.data());
  return out;
}

std::string complaint(const Dataset& data, std::int64_t sample) {
  try {
    read(data, sample);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::data);
    return error.what();
  }
  return "accepted";
}

// Pillow's pixels of the same file.
TEST(SampleReader, decodes_jpeg_samples) {
  const Dataset data = compressed({grey_jpeg, colour_jpeg}, 5, 7, 3);
  EXPECT_EQ(read(data, 1), colour_jpeg_pixels);
}

// Grey ones among colour ones are repeated, as the data set has three channels.
TEST(SampleReader, gives_every_sample_the_channels_of_the_set) {
  const Bytes pixels = read(compressed({grey_jpeg}, 4, 6, 3), 0);
  ASSERT_EQ(pixels.size(), 3 * grey_jpeg_pixels.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_EQ(pixels[i], grey_jpeg_pixels[i / 3]);
  }
}

TEST(SampleReader, cuts_and_mirrors_jpeg_samples_as_others) {
  const Dataset raw = [] {
    Dataset data = compressed({}, 5, 7, 3);
    data.n = 1;
    data.images = colour_jpeg_pixels;
    data.offsets.clear();
    return data;
  }();
  const Dataset jpeg = compressed({colour_jpeg}, 5, 7, 3);
  for (const bool random : {false, true}) {
    for (const AugmentOptions& options : {AugmentOptions{.pad = 2, .mirror = true},
                                          AugmentOptions{.crop = 4, .mirror = true}}) {
      EXPECT_EQ(read(jpeg, 0, options, random), read(raw, 0, options, random));
    }
  }
}

// Images of two sizes and colours: the parts that are used have one size.
TEST(SampleReader, scales_images_of_many_sizes) {
  const Dataset data = compressed({encode_jpeg(plain_image(64, 48, {200, 100, 50})),
                                   encode_jpeg(plain_image(20, 90, {10, 20, 30}))},
                                  0,
                                  0,
                                  3);
  for (const bool random : {false, true}) {
    const AugmentOptions options = {.resize = 9, .crop = 8, .resized_crop = true};
    for (const auto& [sample, colour] :
         {std::pair{0, Bytes{200, 100, 50}}, std::pair{1, Bytes{10, 20, 30}}}) {
      const Bytes pixels = read(data, sample, options, random);
      ASSERT_EQ(pixels.size(), 8 * 8 * 3U);
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        EXPECT_NEAR(pixels[i], colour[i % 3], 2) << "sample " << sample;
      }
    }
  }
}

/// A picture whose levels rise from left to right by one a pixel.
Image ramp(int h, int w) {
  Image image = plain_image(h, w, {0});
  for (std::size_t i = 0; i < image.pixels.size(); ++i) {
    image.pixels[i] = static_cast<std::uint8_t>(i % static_cast<std::size_t>(w));
  }
  return image;
}

// 240 of 256 columns of the middle (8 to 247) become 60, at a quarter of the size: pixel
// i shows columns 8 + 4 i to 11 + 4 i, on average 9.5 + 4 i.
TEST(SampleReader, decodes_smaller_what_is_to_become_smaller) {
  const Dataset data = compressed({encode_jpeg(ramp(256, 256), 100)}, 256, 256, 1);
  const Bytes pixels = read(data, 0, {.resize = 64, .crop = 60});
  for (int column = 0; column < 60; ++column) {
    EXPECT_NEAR(pixels[static_cast<std::size_t>(30 * 60 + column)], 9.5 + 4 * column, 1.5)
        << column;
  }
}

TEST(SampleReader, names_the_sample_that_cannot_be_decoded) {
  Bytes cut = colour_jpeg;
  cut.resize(cut.size() / 2);
  EXPECT_THAT(complaint(compressed({colour_jpeg, cut}, 5, 7, 3), 1),
              HasSubstr("sample 1 of some/photographs.h5: the JPEG image cannot be"));
}

}  // namespace
}  // namespace crossbow
