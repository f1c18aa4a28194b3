#include "averaging/reduction_executor.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/testing.hpp"
#include "base/wait.hpp"

namespace crossbow {
namespace {

using testing::in_threads;

struct Cut {
  std::int64_t elements, chunk_elements;
  int chunks;
};

constexpr std::array<Cut, 8> cuts = {{{1, 16384, 1},
                                      {16383, 16384, 1},
                                      {16384, 16384, 1},
                                      {16385, 16384, 2},
                                      {32769, 16384, 3},
                                      {1111952, 16384, 68},  // LeNet
                                      {7, 1, 7},
                                      {1025, 16, 65}}};

TEST(ReductionExecutor, chunks_of_each_learner_cover_all_elements_once) {
  for (const Cut& cut : cuts) {
    for (const int k : {1, 2, 3, 7}) {
      const ReductionExecutor executor(k, cut.elements, cut.chunk_elements);
      ASSERT_EQ(executor.chunks(), cut.chunks);
      for (int j = 0; j < k; ++j) {
        std::vector<int> covered(static_cast<std::size_t>(cut.elements), 0);
        std::vector<int> met(static_cast<std::size_t>(cut.chunks), 0);
        for (int step = 0; step < cut.chunks; ++step) {
          const Chunk chunk = executor.chunk(j, step);
          ++met.at(static_cast<std::size_t>(chunk.index));
          for (std::int64_t i = chunk.offset; i < chunk.offset + chunk.size; ++i) {
            ++covered.at(static_cast<std::size_t>(i));
          }
        }
        EXPECT_EQ(covered, std::vector<int>(covered.size(), 1)) << cut.elements;
        EXPECT_EQ(met, std::vector<int>(met.size(), 1)) << cut.elements;
      }
    }
  }
}

TEST(ReductionExecutor, all_learners_mean_the_same_by_a_chunk) {
  const ReductionExecutor executor(3, 1000, 16);
  for (int j = 0; j < 3; ++j) {
    for (int step = 0; step < executor.chunks(); ++step) {
      const Chunk chunk = executor.chunk(j, step);
      EXPECT_EQ(chunk.offset, 16 * chunk.index);
    }
  }
}

TEST(ReductionExecutor, learner_j_starts_at_its_share_and_goes_round) {
  for (const int k : {1, 2, 3, 5, 8}) {
    const ReductionExecutor executor(k, 100, 15);  // 7 chunks
    for (int j = 0; j < k; ++j) {
      for (int step = 0; step < 7; ++step) {
        EXPECT_EQ(executor.chunk(j, step).index, (j * 7 / k + step) % 7);
      }
    }
  }
}

TEST(ReductionExecutor, the_last_arrival_is_told_so) {
  ReductionExecutor executor(3, 10, 10);
  for (std::int32_t turn = 1; turn <= 3; ++turn) {
    EXPECT_FALSE(executor.others_arrived(0, turn));
    EXPECT_FALSE(executor.arrive(0, turn));
    EXPECT_FALSE(executor.others_arrived(0, turn));
    EXPECT_FALSE(executor.arrive(0, turn));
    EXPECT_TRUE(executor.others_arrived(0, turn));
    EXPECT_TRUE(executor.arrive(0, turn));
    executor.complete(0, turn);
    executor.wait_complete(0, turn);  // must not block
    executor.wait_complete(0, turn - 1);
  }
}

TEST(ReductionExecutor, turn_zero_is_complete_from_the_start) {
  const ReductionExecutor executor(2, 100, 10);
  for (int chunk = 0; chunk < executor.chunks(); ++chunk) {
    executor.wait_complete(chunk, 0);
  }
}

/// What k learners see who go through `turns` turns as SMA does.
struct Counts {
  std::vector<std::atomic<int>> last;    // by (turn, chunk): who was told to be last
  std::vector<std::int64_t> sums;        // by chunk: plain, guarded by the ledger
  std::atomic<int> wrong_prediction{0};  // others_arrived, but not last
  std::atomic<int> incomplete{0};        // went on before the sum was there
};

void bring_parts(ReductionExecutor& executor, int k, int turns, int j, Counts& counts) {
  const int chunks = executor.chunks();
  for (std::int32_t turn = 1; turn <= turns; ++turn) {
    for (int step = 0; step < chunks; ++step) {
      const auto c = static_cast<std::size_t>(executor.chunk(j, step).index);
      executor.wait_complete(static_cast<int>(c), turn - 1);
      counts.incomplete += counts.sums[c] == std::int64_t{k} * (turn - 1) ? 0 : 1;
      const bool predicted = executor.others_arrived(static_cast<int>(c), turn);
      if (executor.arrive(static_cast<int>(c), turn)) {
        ++counts.last[static_cast<std::size_t>(turn - 1) * chunks + c];
        counts.sums[c] += k;
        executor.complete(static_cast<int>(c), turn);
      } else {
        counts.wrong_prediction += predicted ? 1 : 0;
      }
    }
  }
}

TEST(ReductionExecutor, each_chunk_is_completed_once_a_turn_by_the_last) {
  for (const int k : {2, 5}) {
    constexpr int turns = 100;
    constexpr std::size_t chunks = 7;
    ReductionExecutor executor(k, 111, 16);
    Counts counts;
    counts.last = std::vector<std::atomic<int>>(turns * chunks);
    counts.sums.assign(chunks, 0);
    in_threads(k, [&](int j) { bring_parts(executor, k, turns, j, counts); });
    for (const std::atomic<int>& last : counts.last) {
      ASSERT_EQ(last, 1);
    }
    EXPECT_EQ(counts.sums, std::vector<std::int64_t>(chunks, std::int64_t{k} * turns));
    EXPECT_EQ(counts.wrong_prediction, 0);
    EXPECT_EQ(counts.incomplete, 0);
  }
}

/// Whether wait_complete leaves by Aborted.
bool is_aborted(const ReductionExecutor& executor, int chunk, std::int32_t turn) {
  try {
    executor.wait_complete(chunk, turn);
  } catch (const Aborted&) {
    return true;
  }
  return false;
}

TEST(ReductionExecutor, abort_wakes_all_who_wait) {
  ReductionExecutor executor(3, 100, 10);
  std::atomic<int> aborted{0};
  in_threads(5, [&](int j) {
    if (j == 4) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the others sleep
      executor.abort();
    } else {
      aborted += is_aborted(executor, 3 * j % executor.chunks(), 1) ? 1 : 0;
    }
  });
  EXPECT_EQ(aborted, 4);
}

TEST(ReductionExecutor, who_waits_after_an_abort_leaves_at_once) {
  ReductionExecutor executor(1, 20, 10);
  EXPECT_TRUE(executor.arrive(0, 1));
  executor.abort();
  executor.complete(0, 1);  // by a learner that was busy meanwhile: changes nothing
  EXPECT_TRUE(is_aborted(executor, 0, 1));
  EXPECT_TRUE(is_aborted(executor, 0, 2));
  EXPECT_TRUE(is_aborted(executor, 1, 1));
}

}  // namespace
}  // namespace crossbow
