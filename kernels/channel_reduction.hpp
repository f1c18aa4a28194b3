#pragma once
// Reductions of a matrix (rows, channels) to one result a channel, in an order that only
// the shape and the instance's concurrency decide, so that runs are bitwise equal.
//
// A team takes a block of channels, each of its threads a contiguous range of rows. A
// thread sums pieces of `reduction_rows` rows in float and the pieces in double; the
// threads' results are merged in order by one of them. No atomics.

#include <algorithm>
#include <cstdint>

#include "kernels/element_loop.hpp"

namespace crossbow {

/// Rows summed in float before the sum goes into a double: keeps the rounding of long
/// sums at that of short ones, and two passes over a piece in the first-level cache.
inline constexpr std::int64_t reduction_rows = 64;

/// Partial results of W channels over `count` rows; what a and b are, the operation
/// decides.
template <int W>
struct ChannelSums {
  double count;
  double a[W], b[W];
};

/// Two sums a channel, merged by adding: what most operations use.
struct AddMerge {
  KOKKOS_FUNCTION static void merge(ChannelSums<1>& into, const ChannelSums<1>& other) {
    into.count += other.count;
    into.a[0] += other.a[0];
    into.b[0] += other.b[0];
  }
};

/// The team's work. `Operation` has
///   template <int W> void accumulate(RowRange, first_channel, ChannelSums<W>&) const,
///   static void merge(ChannelSums<1>& into, const ChannelSums<1>& other),
///   void finish(channel, const ChannelSums<1>&) const.
template <class Exec, class Operation>
struct ChannelReduction {
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Member = typename Policy::member_type;

  // A device team has a lane for each channel of its block.
  static constexpr int block = is_host_space<Exec> ? channel_block : 32;

  std::int64_t rows, channels;
  Operation operation;

  KOKKOS_FUNCTION static std::size_t scratch_bytes(int team_size) {
    return sizeof(ChannelSums<1>) * block * team_size;
  }

  KOKKOS_FUNCTION void operator()(const Member& team) const {
    const std::int64_t first = static_cast<std::int64_t>(team.league_rank()) * block;
    const int width =
        static_cast<int>(channels - first < block ? channels - first : block);
    auto* const partial = static_cast<ChannelSums<1>*>(
        team.team_scratch(0).get_shmem(scratch_bytes(team.team_size())));
    const std::int64_t share = (rows + team.team_size() - 1) / team.team_size();
    const std::int64_t begin = smaller(share * team.team_rank(), rows);
    const RowRange range{begin, smaller(begin + share, rows)};
    ChannelSums<1>* const own = partial + team.team_rank() * block;
    if constexpr (is_host_space<Exec>) {
      for_each_channel_tile(
          range, width, OwnTile{operation, first, own});  // all channels at once
    } else {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width), [&](int lane) {
        OwnTile{operation, first, own}.template apply<1>(range, lane);
      });
    }
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, 1), [&](int) {
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(team, width), [&](int lane) {
        ChannelSums<1> total = partial[lane];
        for (int thread = 1; thread < team.team_size(); ++thread) {
          Operation::merge(total, partial[thread * block + lane]);
        }
        operation.finish(first + lane, total);
      });
    });
  }

 private:
  KOKKOS_FUNCTION static std::int64_t smaller(std::int64_t x, std::int64_t y) {
    return x < y ? x : y;
  }

  /// Accumulates W channels and spreads the result over the thread's row of `own`.
  struct OwnTile {
    const Operation& operation;
    std::int64_t first;
    ChannelSums<1>* own;

    template <int W>
    KOKKOS_FUNCTION void apply(const RowRange& range, std::int64_t lane) const {
      ChannelSums<W> sums = {};
      operation.template accumulate<W>(range, first + lane, sums);
      for (int k = 0; k < W; ++k) {
        own[lane + k] = {sums.count, {sums.a[k]}, {sums.b[k]}};
      }
    }
  };
};

/// Threads of a team: the cores that are left when every block of channels has a team; on
/// a device 16, with 32 lanes each.
template <class Exec>
int reduction_team_size(const Exec& exec, std::int64_t blocks) {
  if constexpr (is_host_space<Exec>) {
    return static_cast<int>(std::max<std::int64_t>(1, exec.concurrency() / blocks));
  } else {
    return 16;
  }
}

/// Reduce a matrix (rows, channels), see ChannelReduction.
template <class Exec, class Operation>
void reduce_channels(const Exec& exec,
                     const char* label,
                     std::int64_t rows,
                     std::int64_t channels,
                     const Operation& operation) {
  using Reduction = ChannelReduction<Exec, Operation>;
  if (channels == 0) {
    return;
  }
  const std::int64_t blocks = (channels + Reduction::block - 1) / Reduction::block;
  const int team_size = reduction_team_size(exec, blocks);
  const int lanes = is_host_space<Exec> ? 1 : Reduction::block;
  typename Reduction::Policy policy(exec, static_cast<int>(blocks), team_size, lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(Reduction::scratch_bytes(team_size)));
  Kokkos::parallel_for(label, policy, Reduction{rows, channels, operation});
}

/// sum(channel) = sum of x (rows, channels) over the rows: the bias gradient.
struct ColumnSum : AddMerge {
  std::int64_t channels = 0;
  const float* x = nullptr;
  float* sum = nullptr;

  template <int W>
  KOKKOS_FUNCTION void accumulate(const RowRange& rows,
                                  std::int64_t channel,
                                  ChannelSums<W>& sums) const {
    for (std::int64_t begin = rows.begin; begin < rows.end; begin += reduction_rows) {
      const std::int64_t end =
          begin + reduction_rows < rows.end ? begin + reduction_rows : rows.end;
      float piece[W] = {};
      for (std::int64_t row = begin; row < end; ++row) {
        for (int k = 0; k < W; ++k) {
          piece[k] += x[row * channels + channel + k];
        }
      }
      for (int k = 0; k < W; ++k) {
        sums.a[k] += piece[k];
      }
    }
  }

  KOKKOS_FUNCTION void finish(std::int64_t channel, const ChannelSums<1>& sums) const {
    sum[channel] = static_cast<float>(sums.a[0]);
  }
};

}  // namespace crossbow
