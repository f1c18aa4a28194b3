#include "data/augmentation.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace crossbow {
namespace {

double between(std::uint32_t word, double low, double high) {
  return low + (high - low) * to_unit_float(word);
}

bool upper_half(std::uint32_t word) {
  return word >> 31U != 0;
}

/// Where a window of `window` pixels begins in `image` pixels with `pad` more on each
/// side: every place is equally probable; in the middle if there is no room.
double anywhere(std::uint32_t word, double image, double window, int pad) {
  const auto room =
      static_cast<std::int64_t>(std::floor(image - window)) + std::int64_t{2} * pad;
  if (room < 0) {
    return std::floor((image - window) / 2);
  }
  // As good as uniform for extents far below 2^32.
  const std::uint64_t place = word * (static_cast<std::uint64_t>(room) + 1) >> 32U;
  return static_cast<double>(place) - pad;
}

std::string size_text(const ImageSize& size) {
  return std::to_string(size.h) + "x" + std::to_string(size.w);
}

/// The largest window of the output's aspect ratio in the middle of an image.
CropWindow middle(const ImageSize& image, double h, double w) {
  return {std::floor((image.h - h) / 2), std::floor((image.w - w) / 2), h, w, false};
}

CropWindow random_resized(const ImageSize& image,
                          const Augmentation& augmentation,
                          std::uint64_t epoch,
                          std::uint64_t sample) {
  constexpr double least_area = 0.08;
  const double least_ratio = std::log(3.0 / 4), most_ratio = std::log(4.0 / 3);
  constexpr std::uint32_t tries = 10;
  const double area = static_cast<double>(image.h) * image.w;
  bool mirror = false;
  for (std::uint32_t attempt = 0; attempt < tries; ++attempt) {
    // Two blocks a try: shape and place.
    const RandomBlock shape = random_block(
        augmentation.seed, RandomPurpose::augment, epoch, sample, 2 * attempt);
    const RandomBlock place = random_block(
        augmentation.seed, RandomPurpose::augment, epoch, sample, 2 * attempt + 1);
    mirror = augmentation.options.mirror && upper_half(place.word[2]);
    const double part = area * between(shape.word[0], least_area, 1);
    const double ratio = std::exp(between(shape.word[1], least_ratio, most_ratio));
    const double h = std::round(std::sqrt(part / ratio));
    const double w = std::round(std::sqrt(part * ratio));
    if (h >= 1 && w >= 1 && h <= image.h && w <= image.w) {
      return {anywhere(place.word[0], image.h, h, 0),
              anywhere(place.word[1], image.w, w, 0),
              h,
              w,
              mirror};
    }
  }
  const double h = std::min<double>(image.h, std::round(image.w * 4.0 / 3));
  const double w = std::min<double>(image.w, std::round(image.h * 4.0 / 3));
  CropWindow window = middle(image, h, w);
  window.mirror = mirror;
  return window;
}

/// Copy `count` pixels of `channels` bytes in reverse order.
void copy_mirrored(const std::uint8_t* in,
                   std::int64_t count,
                   std::int64_t channels,
                   std::uint8_t* out) {
  for (std::int64_t pixel = 0; pixel < count; ++pixel) {
    const std::uint8_t* const from = in + (count - 1 - pixel) * channels;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      out[pixel * channels + channel] = from[channel];
    }
  }
}

void copy_unscaled(const std::uint8_t* image,
                   const ImageSize& size,
                   const CropWindow& window,
                   const ImageSize& out_size,
                   std::uint8_t* out) {
  const std::int64_t channels = size.c, width = out_size.w;
  const auto top = static_cast<std::int64_t>(window.top);
  const auto left = static_cast<std::int64_t>(window.left);
  // Columns of the window that lie within the image.
  const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, width);
  const std::int64_t end = std::clamp<std::int64_t>(size.w - left, begin, width);
  const auto row_bytes = static_cast<std::size_t>(width * channels);
  for (std::int64_t row = 0; row < out_size.h; ++row, out += row_bytes) {
    const std::int64_t from = top + row;
    const bool inside = from >= 0 && from < size.h;
    if (!inside || end - begin < width) {
      std::memset(out, 0, row_bytes);
    }
    if (!inside) {
      continue;
    }
    const std::uint8_t* const in = image + (from * size.w + left + begin) * channels;
    if (window.mirror) {
      copy_mirrored(in, end - begin, channels, out + (width - end) * channels);
    } else {
      std::memcpy(
          out + begin * channels, in, static_cast<std::size_t>((end - begin) * channels));
    }
  }
}

/// The two pixels that a place lies between, and how far it is from the first.
struct Neighbours {
  std::int64_t first, second;
  float share;
};

Neighbours neighbours(double begin, double step, std::int64_t index, int size) {
  const double place = begin + (static_cast<double>(index) + 0.5) * step - 0.5;
  const double inside = std::clamp<double>(place, 0, size - 1);
  const auto first = static_cast<std::int64_t>(inside);
  return {first,
          std::min<std::int64_t>(first + 1, size - 1),
          static_cast<float>(inside - static_cast<double>(first))};
}

void copy_scaled(const std::uint8_t* image,
                 const ImageSize& size,
                 const CropWindow& window,
                 const ImageSize& out_size,
                 std::uint8_t* out) {
  const double row_step = window.h / out_size.h, column_step = window.w / out_size.w;
  for (std::int64_t row = 0; row < out_size.h; ++row) {
    const Neighbours y = neighbours(window.top, row_step, row, size.h);
    const std::uint8_t* const upper = image + y.first * size.w * size.c;
    const std::uint8_t* const lower = image + y.second * size.w * size.c;
    for (std::int64_t column = 0; column < out_size.w; ++column) {
      const std::int64_t from = window.mirror ? out_size.w - 1 - column : column;
      const Neighbours x = neighbours(window.left, column_step, from, size.w);
      for (std::int64_t c = 0; c < size.c; ++c) {
        const std::int64_t left = x.first * size.c + c, right = x.second * size.c + c;
        const auto mixed = [&](const std::uint8_t* line) {
          const auto a = static_cast<float>(line[left]);
          return a + x.share * (static_cast<float>(line[right]) - a);
        };
        const float above = mixed(upper);
        const float value = above + y.share * (mixed(lower) - above);
        *out++ = static_cast<std::uint8_t>(std::lround(value));
      }
    }
  }
}

}  // namespace

ImageSize augmented_size(const ImageSize& image, const AugmentOptions& options) {
  const AugmentOptions& o = options;
  if (o.crop == 0) {
    CROSSBOW_VALIDATE(image.h > 0 && o.resize == 0,
                      ExitCode::usage,
                      {"the size of the network's images is not known",
                       image.h > 0 ? "scaled images have many sizes"
                                   : "those of the data set have many sizes",
                       "data.augment.crop",
                       "Set it to their height and width"});
    return image;
  }
  const int side = o.resize > 0 ? o.resize : std::min(image.h, image.w);
  const bool fits = o.crop <= side + 2 * o.pad;
  CROSSBOW_VALIDATE(
      fits || (image.h == 0 && o.resize == 0),
      ExitCode::usage,
      {"a crop of " + std::to_string(o.crop) + " pixels does not fit",
       "the images are " +
           (o.resize > 0 ? "scaled to " + std::to_string(o.resize) : size_text(image)) +
           " with " + std::to_string(o.pad) + " pixels of padding on each side",
       "data.augment.crop",
       "Set it to at most " + std::to_string(side + 2 * o.pad)});
  return {o.crop, o.crop, image.c};
}

CropWindow window_in(const ImageSize& image,
                     const ImageSize& out,
                     const Augmentation& augmentation,
                     std::int64_t epoch,
                     std::int64_t sample) {
  const AugmentOptions& o = augmentation.options;
  const auto e = static_cast<std::uint64_t>(epoch),
             s = static_cast<std::uint64_t>(sample);
  if (augmentation.random && o.resized_crop) {
    return random_resized(image, augmentation, e, s);
  }
  // Multiplied first, so that what is a whole number stays one.
  const double side = std::min(image.h, image.w);
  const double h = o.resize > 0 ? out.h * side / o.resize : out.h;
  const double w = o.resize > 0 ? out.w * side / o.resize : out.w;
  if (!augmentation.random) {
    return middle(image, h, w);
  }
  const RandomBlock block = random_block(augmentation.seed, RandomPurpose::augment, e, s);
  return {anywhere(block.word[0], image.h, h, o.pad),
          anywhere(block.word[1], image.w, w, o.pad),
          h,
          w,
          o.mirror && upper_half(block.word[2])};
}

void copy_window(const std::uint8_t* image,
                 const ImageSize& size,
                 const CropWindow& window,
                 const ImageSize& out_size,
                 std::uint8_t* out) {
  const bool is_whole =
      window.top == std::floor(window.top) && window.left == std::floor(window.left);
  if (window.h == out_size.h && window.w == out_size.w && is_whole) {
    copy_unscaled(image, size, window, out_size, out);
  } else {
    copy_scaled(image, size, window, out_size, out);
  }
}

}  // namespace crossbow
