#include "kernels/concat.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {
namespace {

/// Channels of each row, from one matrix to another of other width.
struct CopyChannels {
  const float* from = nullptr;
  std::int64_t from_stride;
  float* to = nullptr;
  std::int64_t to_stride;

  KOKKOS_FUNCTION void operator()(std::int64_t row,
                                  std::int64_t,
                                  std::int64_t begin,
                                  std::int64_t end) const {
    const float* const in = from + row * from_stride;
    float* const out = to + row * to_stride;
#pragma GCC ivdep
    for (std::int64_t i = begin; i < end; ++i) {
      out[i] = in[i];
    }
  }
};

}  // namespace

template <class Exec>
void put_channels(const Exec& exec,
                  const ChannelPart& part,
                  ConstSpan<Exec> x,
                  Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, part.rows * part.channels));
  CROSSBOW_EXPECT(has_size(y, part.rows * part.all));
  for_each_pixel(exec,
                 "crossbow::put_channels",
                 {part.rows, 1, part.channels},
                 CopyChannels{x.data(), part.channels, y.data() + part.begin, part.all});
}

template <class Exec>
void take_channels(const Exec& exec,
                   const ChannelPart& part,
                   ConstSpan<Exec> x,
                   Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(x, part.rows * part.all));
  CROSSBOW_EXPECT(has_size(y, part.rows * part.channels));
  for_each_pixel(exec,
                 "crossbow::take_channels",
                 {part.rows, 1, part.channels},
                 CopyChannels{x.data() + part.begin, part.all, y.data(), part.channels});
}

#define CROSSBOW_INSTANTIATE(Exec)                                   \
  template void put_channels(                                        \
      const Exec&, const ChannelPart&, ConstSpan<Exec>, Span<Exec>); \
  template void take_channels(                                       \
      const Exec&, const ChannelPart&, ConstSpan<Exec>, Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
