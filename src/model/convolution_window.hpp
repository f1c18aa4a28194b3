#pragma once
// What a convolution's kernel covers along one side of an image: one meaning of dilation
// and of padding = "same" for shapes, kernels and export.

#include <cstdint>

#include "model/model_options.hpp"

namespace crossbow {

struct ConvolutionWindow {
  std::int64_t size;                // from the first pixel seen to the last
  std::int64_t pad_begin, pad_end;  // zeros before and behind the image
  std::int64_t padding() const { return pad_begin + pad_end; }
};

/// The window of a convolution. With "same" the output has the input's size at stride 1;
/// of an odd number of zeros the one more is behind.
inline ConvolutionWindow convolution_window(const LayerOptions& o) {
  const std::int64_t size = std::int64_t{o.kernel - 1} * o.dilation + 1;
  if (!o.padding_same) {
    return {size, o.padding, o.padding};
  }
  return {size, (size - 1) / 2, size - 1 - (size - 1) / 2};
}

}  // namespace crossbow
