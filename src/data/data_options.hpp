#pragma once
// What a deck says about data: [data].

#include <optional>
#include <string>

namespace crossbow {

/// How training images are varied (data/augmentation.hpp says what each does).
struct AugmentOptions {
  int resize = 0;  // the shorter side becomes this first; 0: as it is [pixels]
  int pad = 0;     // rows and columns of zeros on each side; not with resize [pixels]
  int crop = 0;    // square part that is used; 0: the image's own size [pixels]
  bool resized_crop = false;  // training takes parts of random size and shape
  bool mirror = false;        // left and right change places in half of the cases

  bool operator==(const AugmentOptions&) const = default;
};

struct DataOptions {
  std::string train = "digits";  // HDF5 file, source, or name
  std::string test = "digits";
  bool shuffle = true;
  std::optional<double> mean;  // none: the training set's own
  std::optional<double> std;   // none: the training set's own

  AugmentOptions augment;

  bool operator==(const DataOptions&) const = default;
};

}  // namespace crossbow
