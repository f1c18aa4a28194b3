#pragma once
// Which part of an image a learner sees, at which scale, and whether mirrored. Random
// windows are a pure function of (seed, epoch, sample) (DESIGN 2, "Randomness"), so they
// depend neither on threads or learners nor on where a run was interrupted. Pixels are
// cut while they are copied into the batch: augmentation costs no pass over memory of its
// own.

#include <cstdint>

#include "io/image_codec.hpp"

#include "data/data_options.hpp"

namespace crossbow {

/// How the samples of a set are cut: at random for training, in the middle for tests.
struct Augmentation {
  AugmentOptions options;
  bool random = false;     // false: the middle, not mirrored
  std::uint64_t seed = 1;  // of random windows
};

/// The part of an image that is used [pixels]. It may reach beyond the image, into the
/// padding, where it is not scaled.
struct CropWindow {
  double top = 0, left = 0;
  double h = 1, w = 1;
  bool mirror = false;
};

/// The size of a sample after cutting, for images of size `image` (h = w = 0: of many
/// sizes). Throws Error(usage) that names the key where the crop does not fit or is
/// missing.
ImageSize augmented_size(const ImageSize& image, const AugmentOptions& options);

/// The window of `sample` in `epoch` in an image of size `image`, for an output of size
/// `out`. Random ones are
/// * with `resized_crop` of an area from 8 to 100 % of the image's and an aspect ratio
///   from 3/4 to 4/3 (uniform and log-uniform; Szegedy et al. 2015, section 6), anywhere;
///   if ten tries do not fit into the image, the largest one in its middle,
/// * else of the output's size in the image that is scaled so that its shorter side has
///   `resize` pixels (0: not scaled) and padded by `pad`: every place is equally probable
///   (He et al. 2016, section 4.2).
CropWindow window_in(const ImageSize& image,
                     const ImageSize& out,
                     const Augmentation& augmentation,
                     std::int64_t epoch,
                     std::int64_t sample);

/// Write the window of an image (h, w, c) to `out` (h, w, c), mirrored if it says so:
/// bytes as they are where it has the output's size, with 0 outside of the image, else
/// interpolated between the four nearest pixels (bilinear, centres at half pixels, the
/// border repeated).
void copy_window(const std::uint8_t* image,
                 const ImageSize& size,
                 const CropWindow& window,
                 const ImageSize& out_size,
                 std::uint8_t* out);

}  // namespace crossbow
