#include "data/augmentation.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"

namespace crossbow {
namespace {

/// An integer in [0, bound), as good as uniform for bounds far below 2^32.
std::int64_t scaled(std::uint32_t word, std::int64_t bound) {
  return static_cast<std::int64_t>(
      (static_cast<std::uint64_t>(word) * static_cast<std::uint64_t>(bound)) >> 32U);
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

}  // namespace

ImageSize augmented_size(const Dataset& data, const Augmentation& augmentation) {
  const AugmentOptions& o = augmentation.options;
  if (o.crop == 0) {
    return {data.h, data.w, data.c};
  }
  const int least = std::min(data.h, data.w) + 2 * o.pad;
  CROSSBOW_VALIDATE(
      o.crop <= least,
      ExitCode::usage,
      {"a crop of " + std::to_string(o.crop) + " pixels does not fit",
       "the images are " + std::to_string(data.h) + "x" + std::to_string(data.w) +
           " with " + std::to_string(o.pad) + " pixels of padding on each side",
       "data.augment.crop",
       "Set it to at most " + std::to_string(least)});
  return {o.crop, o.crop, data.c};
}

CropPlace place_in(const Dataset& data,
                   const Augmentation& augmentation,
                   std::int64_t epoch,
                   std::int64_t sample) {
  const AugmentOptions& o = augmentation.options;
  const ImageSize size = augmented_size(data, augmentation);
  const std::int64_t rows = data.h - size.h;  // by which the image is larger
  const std::int64_t columns = data.w - size.w;
  if (!augmentation.random) {
    return {rows / 2, columns / 2, false};
  }
  const RandomBlock block = random_block(augmentation.seed,
                                         RandomPurpose::augment,
                                         static_cast<std::uint64_t>(epoch),
                                         static_cast<std::uint64_t>(sample));
  return {scaled(block.word[0], rows + 2 * o.pad + 1) - o.pad,
          scaled(block.word[1], columns + 2 * o.pad + 1) - o.pad,
          o.mirror && block.word[2] >> 31U != 0};
}

void copy_augmented(const Dataset& data,
                    std::int64_t sample,
                    const CropPlace& place,
                    const ImageSize& size,
                    std::uint8_t* out) {
  const std::uint8_t* const image = data.images.data() + sample * sample_bytes(data);
  const std::int64_t row_bytes = size.w * size.c;
  // Columns of the cut-out that lie within the image.
  const std::int64_t begin = std::clamp<std::int64_t>(-place.left, 0, size.w);
  const std::int64_t end = std::clamp<std::int64_t>(data.w - place.left, begin, size.w);
  for (std::int64_t row = 0; row < size.h; ++row, out += row_bytes) {
    const std::int64_t from = place.top + row;
    const bool inside = from >= 0 && from < data.h;
    if (!inside || end - begin < size.w) {
      std::memset(out, 0, static_cast<std::size_t>(row_bytes));
    }
    if (!inside) {
      continue;
    }
    const std::uint8_t* const in = image + (from * data.w + place.left + begin) * size.c;
    if (place.mirror) {
      copy_mirrored(in, end - begin, size.c, out + (size.w - end) * size.c);
    } else {
      std::memcpy(
          out + begin * size.c, in, static_cast<std::size_t>((end - begin) * size.c));
    }
  }
}

}  // namespace crossbow
