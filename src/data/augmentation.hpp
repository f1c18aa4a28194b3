#pragma once
// Which part of an image a learner sees, and whether mirrored. Random places are a pure
// function of (seed, epoch, sample) (DESIGN 2, "Randomness"), so they depend neither on
// threads or learners nor on where a run was interrupted. Pixels are cut while they are
// copied into the batch: augmentation costs no pass over memory of its own.

#include <cstdint>

#include "io/dataset_file.hpp"

#include "data/data_options.hpp"

namespace crossbow {

/// Height, width and channels of one sample.
struct ImageSize {
  std::int64_t h = 1, w = 1, c = 1;
  std::int64_t size() const { return h * w * c; }
  bool operator==(const ImageSize&) const = default;
};

/// How the samples of a set are cut: anywhere for training, in the middle for tests.
struct Augmentation {
  AugmentOptions options;
  bool random = false;     // false: the middle, not mirrored
  std::uint64_t seed = 1;  // of random places
};

/// Where a cut-out of an image lies: its first row and column, which are negative where
/// it begins in the padding.
struct CropPlace {
  std::int64_t top = 0, left = 0;
  bool mirror = false;
};

/// The size of a sample after cutting. Throws Error(usage) if the crop is larger than the
/// padded image.
ImageSize augmented_size(const Dataset& data, const Augmentation& augmentation);

/// The place of `sample` in `epoch`. With padding p and a crop of s pixels, rows of the
/// top are uniform in [-p, h + p - s] (likewise columns), as in He et al. 2016, 4.2.
CropPlace place_in(const Dataset& data,
                   const Augmentation& augmentation,
                   std::int64_t epoch,
                   std::int64_t sample);

/// Write the cut-out (size.h, size.w, size.c) of a sample to `out`; what lies outside of
/// the image is 0.
void copy_augmented(const Dataset& data,
                    std::int64_t sample,
                    const CropPlace& place,
                    const ImageSize& size,
                    std::uint8_t* out);

}  // namespace crossbow
