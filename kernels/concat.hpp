#pragma once
// Concatenation along channels and its backward: parts of the channels of a matrix of
// pixels.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// Channels [begin, begin + channels) of a matrix (rows, all).
struct ChannelPart {
  std::int64_t rows = 1;
  std::int64_t channels = 1;
  std::int64_t all = 1;
  std::int64_t begin = 0;
};

/// Channels of y (rows, all) = x (rows, channels); the others stay.
template <class Exec>
void put_channels(const Exec& exec,
                  const ChannelPart& part,
                  ConstSpan<Exec> x,
                  Span<Exec> y);

/// y (rows, channels) = channels of x (rows, all).
template <class Exec>
void take_channels(const Exec& exec,
                   const ChannelPart& part,
                   ConstSpan<Exec> x,
                   Span<Exec> y);

}  // namespace crossbow
