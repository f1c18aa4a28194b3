#include "averaging/averaging_traffic.hpp"

#include <gtest/gtest.h>

namespace crossbow {
namespace {

using Name = AveragingMethodName;

/// Arrays moved in a round: bytes for one element of four bytes, by four.
double arrays(Name method, const std::vector<int>& learners, std::int64_t period = 1) {
  AveragingOptions options;
  options.method = method;
  options.period = period;
  return averaging_bytes(options, learners, 1).value() / 4;
}

// By hand: z, z_prev in and z' out for one learner; each more stores a correction, reads
// z for it, and has it read by the last.
TEST(AveragingTraffic, sma_moves_three_arrays_for_each_learner_of_a_device) {
  EXPECT_EQ(arrays(Name::sma, {1}), 3);
  EXPECT_EQ(arrays(Name::sma, {2}), 6);
  EXPECT_EQ(arrays(Name::easgd, {8}), 24);
}

// By hand, two devices of two: four times z in and c out; on each device two corrections
// in and one sum out; the sum of one below in, with the root's in and out; z, z_prev and
// the sum in, z' out.
TEST(AveragingTraffic, sums_along_a_tree_move_more) {
  EXPECT_EQ(arrays(Name::sma, {2, 2}), 8 + 2 * 3 + 3 + 4);
  // A device of one learner has nothing to add up.
  EXPECT_EQ(arrays(Name::sma, {2, 1}), 6 + 3 + 3 + 4);
}

// By hand: two means of halves (w_0, w_1 in, z out), twice z in and w_j out.
TEST(AveragingTraffic, local_sgd_writes_all_replicas) {
  EXPECT_EQ(arrays(Name::local_sgd, {2}), 3 + 4);
  EXPECT_EQ(arrays(Name::local_sgd, {2}, 7), 1);
}

// By hand: q in and c out of two learners, c, c, q in and q out; then q, z, z_prev in and
// out, every second round.
TEST(AveragingTraffic, reference_works_inside_a_device_in_every_round) {
  EXPECT_EQ(arrays(Name::reference, {2}, 2), 4 + 4 + 6 / 2.0);
}

TEST(AveragingTraffic, a_period_shares_it_among_its_rounds) {
  EXPECT_EQ(arrays(Name::sma, {2}, 3), 2);
}

TEST(AveragingTraffic, grows_with_the_model) {
  EXPECT_EQ(averaging_bytes({}, {2}, 1'000'000), 24e6);
}

TEST(AveragingTraffic, is_not_there_where_nothing_could_be_left_out) {
  for (const Name method : {Name::ssgd, Name::polyak_ruppert, Name::downpour}) {
    AveragingOptions options;
    options.method = method;
    EXPECT_EQ(averaging_bytes(options, {2}, 1), std::nullopt);
  }
  AveragingOptions never;
  never.period = 0;
  EXPECT_EQ(averaging_bytes(never, {2}, 1), std::nullopt);
}

}  // namespace
}  // namespace crossbow
