#pragma once
// A picture of some samples of a data set, to see at a glance what it holds.

#include "io/dataset_file.hpp"
#include "io/image_codec.hpp"

namespace crossbow {

/// Return a picture with a row for each of the first ten classes and in it that class's
/// first ten samples, in cells as large as the samples (32 to 96 pixels; others are
/// brought to that by taking the nearest pixel) with a grey line between. Throws
/// Error(data) if a sample cannot be decoded.
Image contact_sheet(const Dataset& data);

}  // namespace crossbow
