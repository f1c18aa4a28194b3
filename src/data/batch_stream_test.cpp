#include "data/batch_stream.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

using Samples = std::vector<std::int64_t>;

Samples batch_of(const BatchStream& stream, std::int64_t number) {
  Samples samples(stream.batch());
  stream.indices(number, samples);
  return samples;
}

// Expected: a program of the definition in another language (Philox checked by its known
// answers).
TEST(BatchStream, permutations_stay_the_same_for_ever) {
  EXPECT_EQ(epoch_permutation(10, 1, 0), (Samples{1, 0, 5, 2, 3, 8, 7, 6, 4, 9}));
  EXPECT_EQ(epoch_permutation(10, 1, 1), (Samples{1, 7, 4, 8, 6, 9, 3, 2, 0, 5}));
  EXPECT_EQ(epoch_permutation(10, 2, 0), (Samples{0, 4, 8, 2, 7, 1, 3, 9, 6, 5}));
  EXPECT_EQ(epoch_permutation(10, (1ULL << 40) + 7, (1LL << 33) + 5),
            (Samples{8, 0, 2, 4, 5, 7, 3, 9, 1, 6}));
}

TEST(BatchStream, permutations_have_every_sample_once) {
  for (const std::int64_t n : {1, 2, 1000}) {
    Samples sorted = epoch_permutation(n, 3, 5);
    std::sort(sorted.begin(), sorted.end());
    Samples all(n);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(sorted, all);
  }
}

// 24 permutations of four, 1000 times each: chi-square of 23 degrees of freedom has mean
// 23 and standard deviation sqrt(46) = 6.8; 60 is passed by chance less than once in ten
// thousand times.
TEST(BatchStream, permutations_are_equally_frequent) {
  std::map<Samples, int> counts;
  for (int epoch = 0; epoch < 24000; ++epoch) {
    ++counts[epoch_permutation(4, 99, epoch)];
  }
  ASSERT_EQ(counts.size(), 24U);
  double chi_square = 0;
  for (const auto& [order, count] : counts) {
    chi_square += (count - 1000.0) * (count - 1000.0) / 1000;
  }
  EXPECT_LT(chi_square, 60);
}

TEST(BatchStream, counts_full_batches_only) {
  const BatchStream stream(10, 3, 1, true);
  EXPECT_EQ(stream.batches_per_epoch(), 3);
  EXPECT_EQ(stream.samples_per_epoch(), 9);
  EXPECT_EQ(BatchStream(10, 10, 1, true).batches_per_epoch(), 1);
}

TEST(BatchStream, cuts_permutations_and_skips_what_is_left_over) {
  const BatchStream stream(10, 3, 1, true);  // permutations of the first test
  EXPECT_EQ(batch_of(stream, 0), (Samples{1, 0, 5}));
  EXPECT_EQ(batch_of(stream, 1), (Samples{2, 3, 8}));
  EXPECT_EQ(batch_of(stream, 2), (Samples{7, 6, 4}));
  EXPECT_EQ(batch_of(stream, 3), (Samples{1, 7, 4}));
  EXPECT_EQ(batch_of(stream, 5), (Samples{3, 2, 0}));
  EXPECT_EQ(batch_of(stream, 0), (Samples{1, 0, 5}));  // back again
}

TEST(BatchStream, keeps_file_order_without_shuffle) {
  const BatchStream stream(10, 4, 1, false);
  EXPECT_EQ(batch_of(stream, 0), (Samples{0, 1, 2, 3}));
  EXPECT_EQ(batch_of(stream, 1), (Samples{4, 5, 6, 7}));
  EXPECT_EQ(batch_of(stream, 2), (Samples{0, 1, 2, 3}));
}

TEST(BatchStream, learners_together_see_each_sample_once) {
  const BatchStream stream(12, 4, 7, true);
  std::array<Samples, 3> seen;
  std::vector<std::thread> learners;
  for (std::int64_t j = 0; j < 3; ++j) {
    learners.emplace_back([&stream, &seen, j] {
      BatchStream::Cursor cursor(stream);
      Samples samples(4);
      for (std::int64_t round = 0; round < 500; ++round) {
        cursor.indices(3 * round + j, samples);
        seen[j].insert(seen[j].end(), samples.begin(), samples.end());
      }
    });
  }
  for (std::thread& learner : learners) {
    learner.join();
  }
  for (std::int64_t round = 0; round < 500; ++round) {
    Samples together;
    for (const Samples& own : seen) {
      together.insert(
          together.end(), own.begin() + 4 * round, own.begin() + 4 * round + 4);
    }
    EXPECT_EQ(together, epoch_permutation(12, 7, round)) << "epoch " << round;
  }
}

TEST(BatchStream, number_of_learners_does_not_change_the_stream) {
  const BatchStream stream(50, 4, 7, true);  // 12 batches: rounds of five straddle epochs
  BatchStream::Cursor first(stream);
  BatchStream::Cursor second(stream);
  Samples samples(4);
  for (std::int64_t number = 0; number < 60; ++number) {
    (number % 5 < 2 ? first : second).indices(number, samples);
    const Samples order = epoch_permutation(50, 7, number / 12);
    const auto begin = order.begin() + number % 12 * 4;
    EXPECT_EQ(samples, Samples(begin, begin + 4));
  }
}

TEST(BatchStream, refuses_a_batch_larger_than_the_data) {
  try {
    const BatchStream stream(50, 64, 1, true);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_STREQ(error.what(),
                 "a batch of 64 is larger than the training data (50 samples). "
                 "Set training.batch to at most 50");
  }
}

TEST(BatchStream, refuses_empty_batches_and_empty_data) {
  const auto code_of = [](std::int64_t n_samples, std::int64_t batch) {
    try {
      const BatchStream stream(n_samples, batch, 1, true);
    } catch (const Error& error) {
      return error.exit_code();
    }
    return ExitCode::done;
  };
  EXPECT_EQ(code_of(10, 0), ExitCode::usage);
  EXPECT_EQ(code_of(10, -1), ExitCode::usage);
  EXPECT_EQ(code_of(0, 1), ExitCode::data);
}

}  // namespace
}  // namespace crossbow
