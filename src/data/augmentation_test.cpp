#include "data/augmentation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// 2x3 pixels
///   1  2  3
///   4  5  6
/// in the first channel and ten more in the second.
const Bytes picture = {1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16};
constexpr ImageSize picture_size{2, 3, 2};

Bytes cut(const CropWindow& window, const ImageSize& size) {
  Bytes out(static_cast<std::size_t>(pixel_bytes(size)), 99);
  copy_window(picture.data(), picture_size, window, size, out.data());
  return out;
}

/// A window of the size of the output.
Bytes cut_at(double top, double left, bool mirror, const ImageSize& size) {
  return cut({top, left, double(size.h), double(size.w), mirror}, size);
}

CropWindow window_of(const ImageSize& image,
                     const AugmentOptions& options,
                     bool random,
                     std::int64_t sample = 5,
                     std::int64_t epoch = 3,
                     std::uint64_t seed = 7) {
  return window_in(
      image, augmented_size(image, options), {options, random, seed}, epoch, sample);
}

std::string complaint(const ImageSize& image, const AugmentOptions& options) {
  try {
    augmented_size(image, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "accepted";
}

TEST(Augmentation, the_whole_image) {
  EXPECT_EQ(cut_at(0, 0, false, {2, 3, 2}), picture);
}

TEST(Augmentation, a_mirror_changes_left_and_right_but_not_channels) {
  EXPECT_EQ(cut_at(0, 0, true, {2, 3, 2}),
            (Bytes{3, 13, 2, 12, 1, 11, 6, 16, 5, 15, 4, 14}));
}

TEST(Augmentation, outside_of_the_image_is_zero) {
  EXPECT_EQ(cut_at(-1, -1, false, {2, 3, 2}),
            (Bytes{0, 0, 0, 0, 0, 0, 0, 0, 1, 11, 2, 12}));
  EXPECT_EQ(cut_at(1, 1, false, {2, 3, 2}),
            (Bytes{5, 15, 6, 16, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(cut_at(-2, 0, false, {2, 3, 2}), Bytes(12, 0));
  EXPECT_EQ(cut_at(0, 3, false, {2, 3, 2}), Bytes(12, 0));
}

// The part is cut first and mirrored then: what was outside on the right is on the left.
TEST(Augmentation, a_mirrored_part_at_the_border) {
  EXPECT_EQ(cut_at(0, 2, true, {1, 3, 2}), (Bytes{0, 0, 0, 0, 3, 13}));
  EXPECT_EQ(cut_at(0, -1, true, {1, 3, 2}), (Bytes{2, 12, 1, 11, 0, 0}));
}

TEST(Augmentation, a_part_of_the_image) {
  EXPECT_EQ(cut_at(1, 1, false, {1, 2, 2}), (Bytes{5, 15, 6, 16}));
}

// Twice as wide, centres at half pixels: 1, 1 3/4 + 2 1/4, 1 1/4 + 2 3/4, ...; the border
// repeated. Twice as high likewise.
TEST(Augmentation, an_enlarged_image_is_interpolated) {
  const Bytes row = {0, 100};
  Bytes out(4);
  copy_window(row.data(), {1, 2, 1}, {0, 0, 1, 2, false}, {1, 4, 1}, out.data());
  EXPECT_EQ(out, (Bytes{0, 25, 75, 100}));
  copy_window(row.data(), {1, 2, 1}, {0, 0, 1, 2, true}, {1, 4, 1}, out.data());
  EXPECT_EQ(out, (Bytes{100, 75, 25, 0}));
  copy_window(row.data(), {2, 1, 1}, {0, 0, 2, 1, false}, {4, 1, 1}, out.data());
  EXPECT_EQ(out, (Bytes{0, 25, 75, 100}));
}

// Half the size: the mean of two pixels each, rounded to nearest.
TEST(Augmentation, a_halved_image_is_the_mean_of_four) {
  const Bytes square = {10,
                        20,
                        0,
                        0,  //
                        30,
                        41,
                        0,
                        8};
  Bytes out(2);
  copy_window(square.data(), {2, 4, 1}, {0, 0, 2, 4, false}, {1, 2, 1}, out.data());
  EXPECT_EQ(out, (Bytes{25, 2}));
}

// Columns 1 and 2 of four, at twice the width: their neighbours outside of the window
// count, as they do for the pixels beside them.
TEST(Augmentation, a_scaled_part_of_the_image) {
  const Bytes row = {0, 40, 80, 240};
  Bytes out(4);
  copy_window(row.data(), {1, 4, 1}, {0, 1, 1, 2, false}, {1, 4, 1}, out.data());
  EXPECT_EQ(out, (Bytes{30, 50, 70, 120}));
}

TEST(Augmentation, tests_take_the_middle) {
  const CropWindow part =
      window_of({36, 40, 3}, {.pad = 4, .crop = 32, .mirror = true}, false);
  EXPECT_EQ(part.top, 2);
  EXPECT_EQ(part.left, 4);
  EXPECT_EQ(part.h, 32);
  EXPECT_FALSE(part.mirror);
  const CropWindow whole = window_of({32, 32, 3}, {.pad = 4, .mirror = true}, false);
  EXPECT_EQ(whole.top, 0);
  EXPECT_EQ(whole.left, 0);
  EXPECT_EQ(whole.w, 32);
}

// 224 of 256 pixels of the shorter side, which has 512: 448 pixels in the middle.
TEST(Augmentation, tests_of_photographs_scale_the_shorter_side) {
  const CropWindow window =
      window_of({512, 600, 3}, {.resize = 256, .crop = 224, .resized_crop = true}, false);
  EXPECT_EQ(window.h, 448);
  EXPECT_EQ(window.w, 448);
  EXPECT_EQ(window.top, 32);
  EXPECT_EQ(window.left, 76);
}

// 225 / 224 of 224 pixels are 225, whatever the rounding.
TEST(Augmentation, a_whole_side_begins_at_its_first_pixel) {
  for (const int side : {58, 225, 232, 233, 300}) {
    const CropWindow window =
        window_of({side, side, 3}, {.resize = 224, .crop = 224}, false);
    EXPECT_EQ(window.top, 0);
    EXPECT_EQ(window.h, side);
  }
}

TEST(Augmentation, size_is_the_crops_or_the_images) {
  EXPECT_EQ(augmented_size({36, 40, 3}, {.crop = 32}), (ImageSize{32, 32, 3}));
  EXPECT_EQ(augmented_size({36, 40, 3}, {.pad = 4}), (ImageSize{36, 40, 3}));
  EXPECT_EQ(augmented_size({0, 0, 3}, {.resize = 256, .crop = 224}),
            (ImageSize{224, 224, 3}));
}

TEST(Augmentation, a_crop_larger_than_the_padded_image_is_refused) {
  EXPECT_EQ(complaint({28, 32, 1}, {.pad = 2, .crop = 33}),
            "a crop of 33 pixels does not fit (the images are 28x32 with 2 pixels of "
            "padding on each side, data.augment.crop). Set it to at most 32");
  EXPECT_EQ(complaint({28, 32, 1}, {.pad = 2, .crop = 32}), "accepted");
  // Tests do not scale without `resize`.
  EXPECT_EQ(complaint({28, 32, 1}, {.crop = 29, .resized_crop = true}),
            "a crop of 29 pixels does not fit (the images are 28x32 with 0 pixels of "
            "padding on each side, data.augment.crop). Set it to at most 28");
}

TEST(Augmentation, images_of_many_sizes_need_a_crop) {
  EXPECT_EQ(complaint({0, 0, 3}, {}),
            "the size of the network's images is not known (those of the data set have "
            "many sizes, data.augment.crop). Set it to their height and width");
  EXPECT_EQ(complaint({0, 0, 3}, {.crop = 224}), "accepted");
}

// Nine rows and nine columns of a 32-pixel image padded by four, mirrored or not: 162
// cases. Chi-square of 161 degrees of freedom has mean 161 and standard deviation
// sqrt(322) = 18; 260 is passed by chance less than once in a million times.
TEST(Augmentation, all_places_are_equally_frequent) {
  std::map<std::array<double, 3>, int> counts;
  constexpr int epochs = 100, samples = 1000;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (std::int64_t sample = 0; sample < samples; ++sample) {
      const CropWindow window =
          window_of({32, 32, 3}, {.pad = 4, .mirror = true}, true, sample, epoch);
      ++counts[{window.top, window.left, window.mirror ? 1.0 : 0.0}];
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

// Of a large square image practically all first tries fit, so that the area is uniform
// between 8 and 100 % but for those that do not; the bounds hold in any case (pixels are
// whole, hence the margin).
TEST(Augmentation, resized_crops_have_areas_and_ratios_within_bounds) {
  const AugmentOptions options = {.crop = 224, .resized_crop = true, .mirror = true};
  double sum = 0, mirrored = 0;
  double least = 1, most = 0;
  constexpr int samples = 20000;
  for (int sample = 0; sample < samples; ++sample) {
    const CropWindow window = window_of({1000, 1000, 3}, options, true, sample);
    const double area = window.h * window.w / 1e6;
    EXPECT_GE(area, 0.0795);
    EXPECT_LE(area, 1.0);
    EXPECT_GE(window.w / window.h, 0.747);
    EXPECT_LE(window.w / window.h, 1.339);
    EXPECT_GE(window.top, 0);
    EXPECT_LE(window.top + window.h, 1000);
    EXPECT_GE(window.left, 0);
    EXPECT_LE(window.left + window.w, 1000);
    least = std::min(least, window.w / window.h);
    most = std::max(most, window.w / window.h);
    sum += area;
    mirrored += window.mirror ? 1 : 0;
  }
  // An area a with ratio r fits if a <= min(r, 1/r); with u = |ln r| uniform in
  // [0, ln 4/3] a is uniform in [0.08, exp(-u)]: the mean of what fits is the integral of
  // (exp(-2u) - 0.0064) / 2 over that of (exp(-u) - 0.08): 0.478.
  EXPECT_NEAR(sum / samples, 0.478, 0.01);
  EXPECT_NEAR(mirrored / samples, 0.5, 0.02);
  EXPECT_LT(least, 0.76);
  EXPECT_GT(most, 1.32);
}

// A strip that no window of ratio 3/4 to 4/3 with 8 % of its area fits into.
TEST(Augmentation, a_strip_is_cut_in_its_middle) {
  const CropWindow window =
      window_of({10, 1000, 3}, {.crop = 8, .resized_crop = true}, true);
  EXPECT_EQ(window.h, 10);
  EXPECT_EQ(window.w, 13);
  EXPECT_EQ(window.top, 0);
  EXPECT_EQ(window.left, 493);
}

TEST(Augmentation, windows_depend_on_seed_epoch_and_sample_alone) {
  const auto at = [&](std::int64_t sample, std::int64_t epoch, std::uint64_t seed) {
    const CropWindow window =
        window_of({32, 32, 1}, {.pad = 16}, true, sample, epoch, seed);
    return std::make_pair(window.top, window.left);
  };
  EXPECT_EQ(at(1, 2, 3), at(1, 2, 3));
  EXPECT_NE(at(1, 2, 3), at(2, 2, 3));
  EXPECT_NE(at(1, 2, 3), at(1, 3, 3));
  EXPECT_NE(at(1, 2, 3), at(1, 2, 4));
}

TEST(Augmentation, without_mirror_nothing_is_mirrored) {
  for (std::int64_t sample = 0; sample < 200; ++sample) {
    EXPECT_FALSE(window_of({8, 8, 1}, {.pad = 1}, true, sample).mirror);
  }
}

// The deck asks for crops of 8 where an image has 6: the rest is black.
TEST(Augmentation, an_image_smaller_than_the_crop_lies_in_its_middle) {
  const Augmentation augmentation = {{.crop = 8}, true, 1};
  const CropWindow window = window_in({6, 9, 3}, {8, 8, 3}, augmentation, 0, 0);
  EXPECT_EQ(window.top, -1);
  EXPECT_GE(window.left, 0);
  EXPECT_LE(window.left, 1);
}

}  // namespace
}  // namespace crossbow
