#include "io/image_codec.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/test_images.hpp"
#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::alpha_png;
using testing_support::Bytes;
using testing_support::cmyk_jpeg;
using testing_support::colour_jpeg;
using testing_support::colour_jpeg_grey;
using testing_support::colour_jpeg_pixels;
using testing_support::colour_png;
using testing_support::encode_jpeg;
using testing_support::expect_error;
using testing_support::grey_jpeg;
using testing_support::grey_jpeg_pixels;
using testing_support::grey_png;
using testing_support::palette_png;
using testing_support::plain_image;
using testing_support::read_bytes;
using testing_support::TestFolder;

// Decoders may differ by a grey level.
void expect_near(const Bytes& pixels, const Bytes& expected) {
  ASSERT_EQ(pixels.size(), expected.size());
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_NEAR(pixels[i], expected[i], 1) << "value " << i;
  }
}

Bytes decoded(const Bytes& jpeg, int channels, int shrink, std::size_t bytes) {
  Bytes pixels(bytes);
  JpegDecoder().decode(jpeg, channels, shrink, pixels);
  return pixels;
}

TEST(Jpeg, IsDecodedAsAnotherProgramDoes) {
  EXPECT_TRUE(is_jpeg(colour_jpeg));
  JpegDecoder decoder;
  EXPECT_EQ(decoder.size(colour_jpeg), (ImageSize{5, 7, 3}));
  EXPECT_EQ(decoder.size(grey_jpeg), (ImageSize{4, 6, 1}));
  expect_near(decoded(colour_jpeg, 3, 1, 105), colour_jpeg_pixels);
  expect_near(decoded(grey_jpeg, 1, 1, 24), grey_jpeg_pixels);
  const Image image = decode_jpeg(grey_jpeg);
  EXPECT_EQ(image.h, 4);
  EXPECT_EQ(image.w, 6);
  EXPECT_EQ(image.c, 1);
  expect_near(image.pixels, grey_jpeg_pixels);
}

TEST(Jpeg, HasTheChannelsThatAreAskedFor) {
  expect_near(decoded(colour_jpeg, 1, 1, 35), colour_jpeg_grey);
  const Bytes repeated = decoded(grey_jpeg, 3, 1, 72);
  for (std::size_t i = 0; i < 72; ++i) {
    EXPECT_NEAR(repeated[i], grey_jpeg_pixels[i / 3], 1);
  }
}

// Every block of 8 x 8 pixels has one colour: so has what comes of it, whatever the size.
TEST(Jpeg, ShrinksWhileDecoding) {
  Image image = plain_image(24, 32, {40});
  for (std::size_t y = 0; y < 24; ++y) {
    for (std::size_t x = 0; x < 32; ++x) {
      image.pixels[32 * y + x] =
          static_cast<std::uint8_t>(40 + 16 * (y / 8) + 48 * (x / 8));
    }
  }
  const Bytes jpeg = encode_jpeg(image, 100);
  for (const std::size_t shrink : {1, 2, 4, 8}) {
    const std::size_t h = 24 / shrink;
    const std::size_t w = 32 / shrink;
    const Bytes pixels = decoded(jpeg, 1, static_cast<int>(shrink), h * w);
    for (std::size_t y = 0; y < h; ++y) {
      for (std::size_t x = 0; x < w; ++x) {
        const std::size_t level = 40 + 16 * (y * shrink / 8) + 48 * (x * shrink / 8);
        EXPECT_NEAR(pixels[w * y + x], static_cast<double>(level), 1);
      }
    }
  }
  EXPECT_EQ(shrunk({5, 7, 3}, 4), (ImageSize{2, 2, 3}));
  expect_near(decoded(encode_jpeg(plain_image(5, 7, {90})), 1, 4, 4), Bytes(4, 90));
}

TEST(Jpeg, OneDecoderTakesManyImagesAndForgetsAFault) {
  JpegDecoder decoder;
  Bytes pixels(105);
  const Bytes cut(colour_jpeg.begin(), colour_jpeg.end() - 20);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(decoder.decode(cut, 3, 1, pixels), Error);
    decoder.decode(colour_jpeg, 3, 1, pixels);
    expect_near(pixels, colour_jpeg_pixels);
  }
}

TEST(Jpeg, ACutImageIsAnErrorAtEveryLength) {
  for (std::size_t size = 0; size < colour_jpeg.size() - 2; ++size) {
    const Bytes cut(colour_jpeg.begin(), colour_jpeg.begin() + std::ptrdiff_t(size));
    expect_error([&] { decode_jpeg(cut); }, {"JPEG image cannot be decoded"});
  }
}

TEST(Jpeg, WhatIsWrongIsNamed) {
  const Bytes cut(colour_jpeg.begin(), colour_jpeg.end() - 10);
  expect_error([&] { decode_jpeg(cut); }, {"Premature end of JPEG file"});
  expect_error([] { decode_jpeg(grey_png); }, {"Not a JPEG file", "0x89 0x50"});
  expect_error([] { decode_jpeg(cmyk_jpeg); }, {"CMYK"});
  expect_error([] { decoded(colour_jpeg, 3, 1, 104); }, {"105 bytes", "104"});
  Bytes huge = colour_jpeg;
  const std::size_t size = 163;  // of the height in the frame's header
  ASSERT_EQ(huge[size + 1], 5);
  ASSERT_EQ(huge[size + 3], 7);
  huge[size] = huge[size + 2] = 0xff;
  expect_error([&] { decode_jpeg(huge); }, {"65285x65287", "200000000 pixels"});
}

TEST(Png, IsDecodedExactly) {
  EXPECT_TRUE(is_png(colour_png));
  const Image colour = decode_png(colour_png);
  EXPECT_EQ(colour.h, 2);
  EXPECT_EQ(colour.w, 3);
  EXPECT_EQ(colour.c, 3);
  EXPECT_EQ(colour.pixels,
            (Bytes{255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 40, 50, 60, 255, 255, 255}));
  const Image grey = decode_png(grey_png);
  EXPECT_EQ(grey.c, 1);
  EXPECT_EQ(grey.pixels, (Bytes{0, 1, 2, 100, 200, 255}));
  EXPECT_EQ(decode_png(alpha_png).pixels, (Bytes{10, 20, 30, 200, 100, 50}));
  EXPECT_EQ(decode_png(palette_png).pixels,
            (Bytes{9, 8, 7, 255, 128, 0, 255, 128, 0, 9, 8, 7}));
}

TEST(Png, ACutOrChangedImageIsAnError) {
  const std::size_t end = colour_png.size() - 12;  // of the pixels
  for (std::size_t size = 0; size < end; ++size) {
    const Bytes cut(colour_png.begin(), colour_png.begin() + std::ptrdiff_t(size));
    expect_error([&] { decode_png(cut); }, {"PNG image cannot be decoded"});
  }
  for (std::size_t at = 16; at < end; ++at) {  // from the size on: all under checksums
    Bytes other = colour_png;
    other[at] ^= 1U;
    EXPECT_THROW(decode_png(other), Error) << at;
  }
}

TEST(Png, WhatIsWrittenIsReadBack) {
  const TestFolder folder;
  for (const Bytes& colour : {Bytes{77}, Bytes{1, 128, 255}}) {
    const Image image = plain_image(3, 5, colour);
    write_png(folder / "a.png", image);
    const Image back = decode_png(read_bytes(folder / "a.png"));
    EXPECT_EQ(back.h, 3);
    EXPECT_EQ(back.w, 5);
    EXPECT_EQ(back.c, image.c);
    EXPECT_EQ(back.pixels, image.pixels);
  }
  expect_error([] { write_png("/nowhere/a.png", plain_image(1, 1, {0})); },
               {"/nowhere/a.png", "No such file"});
}

}  // namespace
}  // namespace crossbow
