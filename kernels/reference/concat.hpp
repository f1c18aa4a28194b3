#pragma once
// Concatenation along channels as plain loops: what the other implementations are tested
// on.

#include <cstdint>

#include "kernels/concat.hpp"

namespace crossbow::reference {

/// The same as crossbow::put_channels.
template <class Real>
void put_channels(const ChannelPart& part, const Real* x, Real* y) {
  for (std::int64_t row = 0; row < part.rows; ++row) {
    for (std::int64_t c = 0; c < part.channels; ++c) {
      y[row * part.all + part.begin + c] = x[row * part.channels + c];
    }
  }
}

/// The same as crossbow::take_channels.
template <class Real>
void take_channels(const ChannelPart& part, const Real* x, Real* y) {
  for (std::int64_t row = 0; row < part.rows; ++row) {
    for (std::int64_t c = 0; c < part.channels; ++c) {
      y[row * part.channels + c] = x[row * part.all + part.begin + c];
    }
  }
}

}  // namespace crossbow::reference
