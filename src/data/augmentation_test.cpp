#include "data/augmentation.hpp"

#include <array>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Two images; the second is
///   1  2  3
///   4  5  6
/// in the first channel and ten more in the second.
Dataset pictures() {
  Dataset data;
  data.n = 2;
  data.h = 2;
  data.w = 3;
  data.c = 2;
  data.classes = 1;
  data.labels = {0, 0};
  data.images = {0, 0,  0, 0,  0, 0,  0, 0,  0, 0,  0, 0,
                 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16};
  return data;
}

Bytes cut(const CropPlace& place, const ImageSize& size) {
  const Dataset data = pictures();
  Bytes out(static_cast<std::size_t>(size.size()), 99);
  copy_augmented(data, 1, place, size, out.data());
  return out;
}

Dataset sized(int h, int w) {
  Dataset data;
  data.n = 1;
  data.h = h;
  data.w = w;
  data.c = 1;
  return data;
}

TEST(Augmentation, the_whole_image) {
  EXPECT_EQ(cut({0, 0, false}, {2, 3, 2}),
            (Bytes{1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16}));
}

TEST(Augmentation, a_mirror_changes_left_and_right_but_not_channels) {
  EXPECT_EQ(cut({0, 0, true}, {2, 3, 2}),
            (Bytes{3, 13, 2, 12, 1, 11, 6, 16, 5, 15, 4, 14}));
}

TEST(Augmentation, outside_of_the_image_is_zero) {
  EXPECT_EQ(cut({-1, -1, false}, {2, 3, 2}),
            (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 1, 11, 2, 12}));
  EXPECT_EQ(cut({1, 1, false}, {2, 3, 2}), (Bytes{5, 15, 6, 16, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cut({-2, 0, false}, {2, 3, 2}), Bytes(12, 0));
  EXPECT_EQ(cut({0, 3, false}, {2, 3, 2}), Bytes(12, 0));
}

// The part is cut first and mirrored then: what was outside on the right is on the left.
TEST(Augmentation, a_mirrored_part_at_the_border) {
  EXPECT_EQ(cut({0, 2, true}, {1, 3, 2}), (Bytes{0, 0, 0, 0, 3, 13}));
  EXPECT_EQ(cut({0, -1, true}, {1, 3, 2}), (Bytes{2, 12, 1, 11, 0, 0}));
}

TEST(Augmentation, a_part_of_the_image) {
  EXPECT_EQ(cut({1, 1, false}, {1, 2, 2}), (Bytes{5, 15, 6, 16}));
}

TEST(Augmentation, tests_take_the_middle) {
  const CropPlace place = place_in(sized(36, 40), {{4, 32, true}, false, 7}, 3, 5);
  EXPECT_EQ(place.top, 2);
  EXPECT_EQ(place.left, 4);
  EXPECT_FALSE(place.mirror);
  const CropPlace whole = place_in(sized(32, 32), {{4, 0, true}, false, 7}, 3, 5);
  EXPECT_EQ(whole.top, 0);
  EXPECT_EQ(whole.left, 0);
}

TEST(Augmentation, size_is_the_crops_or_the_images) {
  EXPECT_EQ(augmented_size(sized(36, 40), {{0, 32, false}}), (ImageSize{32, 32, 1}));
  EXPECT_EQ(augmented_size(sized(36, 40), {{4, 0, false}}), (ImageSize{36, 40, 1}));
}

TEST(Augmentation, a_crop_larger_than_the_padded_image_is_refused) {
  try {
    augmented_size(sized(28, 32), {{2, 33, false}});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_STREQ(
        error.what(),
        "a crop of 33 pixels does not fit (the images are 28x32 with 2 pixels of "
        "padding on each side, data.augment.crop). Set it to at most 32");
  }
}

// Nine rows and nine columns of a 32-pixel image padded by four, mirrored or not: 162
// cases. Chi-square of 161 degrees of freedom has mean 161 and standard deviation
// sqrt(322) = 18; 260 is passed by chance less than once in a million times.
TEST(Augmentation, all_places_are_equally_frequent) {
  const Dataset data = sized(32, 32);
  const Augmentation augmentation = {{4, 0, true}, true, 11};
  std::map<std::array<std::int64_t, 3>, int> counts;
  constexpr int epochs = 100, samples = 1000;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const CropPlace place = place_in(data, augmentation, epoch, sample);
      ++counts[{place.top, place.left, place.mirror ? 1 : 0}];
    }
  }
  ASSERT_EQ(counts.size(), 162U);
  const double expected = epochs * samples / 162.0;
  double chi_square = 0;
  for (const auto& [place, count] : counts) {
    EXPECT_GE(place[0], -4);
    EXPECT_LE(place[0], 4);
    chi_square += (count - expected) * (count - expected) / expected;
  }
  EXPECT_LT(chi_square, 260);
}

TEST(Augmentation, places_depend_on_seed_epoch_and_sample_alone) {
  const Dataset data = sized(32, 32);
  const auto at = [&](std::uint64_t seed, std::int64_t epoch, std::int64_t sample) {
    const CropPlace place = place_in(data, {{16, 0, true}, true, seed}, epoch, sample);
    return std::make_pair(place.top, place.left);
  };
  EXPECT_EQ(at(1, 2, 3), at(1, 2, 3));
  EXPECT_NE(at(1, 2, 3), at(2, 2, 3));
  EXPECT_NE(at(1, 2, 3), at(1, 3, 3));
  EXPECT_NE(at(1, 2, 3), at(1, 2, 4));
}

TEST(Augmentation, without_mirror_nothing_is_mirrored) {
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    EXPECT_FALSE(place_in(sized(8, 8), {{1, 0, false}, true, 1}, 0, sample).mirror);
  }
}

}  // namespace
}  // namespace crossbow
