#pragma once
// How kernels go over elements and channels, one source for host and device.
//
// A device thread takes one element; a host work item takes a block that one core goes
// through with vector instructions. Vectorisation is left to the compiler, so bodies are
// written for it: raw pointers, no calls, no branches other than `condition ? a : b`.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// Whether Exec works on the host's memory with the host's cores.
template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// Channels that are kept in registers together on the host: two AVX2 or one AVX-512
/// vector.
inline constexpr int channel_block = 16;

/// Elements of a host work item: 16 KiB of floats, so that its overhead does not count.
inline constexpr std::int64_t element_block = 4096;

/// Whether `view` has `size` elements, for contracts.
template <class View, class Size>
bool has_size(const View& view, Size size) {
  return static_cast<std::int64_t>(view.size()) == static_cast<std::int64_t>(size);
}

/// Launch work(i) for 0 <= i < items on `exec`.
template <class Exec, class Work>
void launch(const Exec& exec, const char* label, std::int64_t items, const Work& work) {
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  if (items > 0) {
    Kokkos::parallel_for(label, Policy(exec, 0, items), work);
  }
}

/// Call f(i) for 0 <= i < n; iterations must not depend on each other.
template <class Exec, class F>
void for_each_element(const Exec& exec, const char* label, std::int64_t n, const F& f) {
  if constexpr (is_host_space<Exec>) {
    launch(exec, label, (n + element_block - 1) / element_block, [=](std::int64_t block) {
      const F body = f;  // a copy that no store can change stays in registers
      const std::int64_t begin = block * element_block;
      const std::int64_t end = begin + element_block < n ? begin + element_block : n;
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) {
        body(i);
      }
    });
  } else {
    launch(exec, label, n, f);
  }
}

/// A range of rows of a matrix (rows, channels).
struct RowRange {
  std::int64_t begin, end;
};

/// Call tile.template apply<W>(rows, first_channel) for tiles that cover all
/// `channels` from 0: widths W of channel_block first, 4 and 1 for the rest.
template <class Tile>
KOKKOS_INLINE_FUNCTION void for_each_channel_tile(const RowRange& rows,
                                                  std::int64_t channels,
                                                  const Tile& tile) {
  std::int64_t channel = 0;
  for (; channel + channel_block <= channels; channel += channel_block) {
    tile.template apply<channel_block>(rows, channel);
  }
  for (; channel + 4 <= channels; channel += 4) {
    tile.template apply<4>(rows, channel);
  }
  for (; channel < channels; ++channel) {
    tile.template apply<1>(rows, channel);
  }
}

/// A matrix (rows, channels) and how many rows a host work item takes.
struct TileGrid {
  std::int64_t rows, channels, rows_per_item;
};

/// A work item of for_each_tile.
template <class Exec, class Tile>
struct TileWork {
  TileGrid grid;
  Tile tile;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    if constexpr (is_host_space<Exec>) {
      const std::int64_t begin = item * grid.rows_per_item;
      const std::int64_t end = begin + grid.rows_per_item;
      for_each_channel_tile(
          {begin, end < grid.rows ? end : grid.rows}, grid.channels, tile);
    } else {
      const std::int64_t row = item / grid.channels;
      tile.template apply<1>({row, row + 1}, item % grid.channels);
    }
  }
};

/// Cover a matrix (rows, channels) with tiles: `tile` has a member
/// `template <int W> void apply(RowRange rows, std::int64_t first_channel) const` for W
/// channels.
template <class Exec, class Tile>
void for_each_tile(const Exec& exec,
                   const char* label,
                   const TileGrid& grid,
                   const Tile& tile) {
  const std::int64_t items =
      is_host_space<Exec> ? (grid.rows + grid.rows_per_item - 1) / grid.rows_per_item
                          : grid.rows * grid.channels;
  launch(exec, label, items, TileWork<Exec, Tile>{grid, tile});
}

/// Call f(i, width) so that [begin, end) is covered by pieces [i, i + width): `width` is
/// an integral constant, channel_block and 1 for the rest, so that inner loops have no
/// overhead.
template <class F>
KOKKOS_INLINE_FUNCTION void for_each_piece(std::int64_t begin,
                                           std::int64_t end,
                                           const F& f) {
  for (; begin + channel_block <= end; begin += channel_block) {
    f(begin, std::integral_constant<int, channel_block>{});
  }
  for (; begin < end; ++begin) {
    f(begin, std::integral_constant<int, 1>{});
  }
}

/// An image batch as rows of pixels: rows = n h, columns = w.
struct PixelGrid {
  std::int64_t rows, columns, channels;
};

/// A work item of for_each_pixel.
template <class Exec, class F>
struct PixelWork {
  PixelGrid grid;
  F f;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    if constexpr (is_host_space<Exec>) {
      const F body = f;  // see for_each_element
      const std::int64_t columns = grid.columns, channels = grid.channels;
      for (std::int64_t column = 0; column < columns; ++column) {
        body(item, column, 0, channels);
      }
    } else {
      const std::int64_t channel = item % grid.channels, pixel = item / grid.channels;
      f(pixel / grid.columns, pixel % grid.columns, channel, channel + 1);
    }
  }
};

/// Call f(row, column, first_channel, end_channel) so that every channel of every pixel
/// is covered once: on the host all channels of a pixel in one call, a row to a work
/// item.
template <class Exec, class F>
void for_each_pixel(const Exec& exec,
                    const char* label,
                    const PixelGrid& grid,
                    const F& f) {
  const std::int64_t items =
      is_host_space<Exec> ? grid.rows : grid.rows * grid.columns * grid.channels;
  launch(exec, label, items, PixelWork<Exec, F>{grid, f});
}

}  // namespace crossbow
