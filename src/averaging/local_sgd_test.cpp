#include "averaging/local_sgd.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions local_sgd(std::int64_t period) {
  return options_of(AveragingMethodName::local_sgd, period);
}

TEST(LocalSgd, follows_its_formula) {
  for (const Setting& setting : settings({1, 2, 3, 5})) {
    const Fleet fleet(setting.learners, local_sgd(setting.period));
    LocalSgdInDouble model(fleet);
    expect_follows(fleet, model, setting);
  }
}

TEST(LocalSgd, averaging_leaves_every_replica_at_z) {
  const Fleet fleet(3, local_sgd(3));
  fleet.run(1, 3, averaging_every(3));
  for (int j = 0; j < 3; ++j) {
    expect_same_bits(fleet.w(j), fleet.z(), "w of " + std::to_string(j));
  }
  EXPECT_NE(fleet.v(0), fleet.v(1));  // velocities stay each learner's own
}

// The mean of steps is the step of the mean as long as all step from the same weights.
TEST(LocalSgd, with_period_one_is_ssgd_to_rounding) {
  for (const Setting& setting : settings({1, 2, 3, 5}, {1})) {
    const Fleet fleet(setting.learners, local_sgd(1), {}, Start::together);
    expect_is_ssgd(fleet, setting);
  }
}

// In one thread: a wait would last until ctest's limit.
TEST(LocalSgd, waits_for_nobody_in_rounds_that_do_not_average) {
  const Fleet fleet(2, local_sgd(4));
  const RuleOf rule = averaging_every(4);
  for (const Turn& turn : {Turn{0, 1}, Turn{0, 2}, Turn{0, 3}, Turn{1, 1}, Turn{1, 2}}) {
    take_turn(fleet, turn, rule);
  }
}

TEST(LocalSgd, a_bad_gradient_in_an_averaging_round_leaves_z_as_it_was) {
  for (int bad = 0; bad < 3; ++bad) {
    const Fleet fleet(3, local_sgd(3));
    fleet.run(1, 5, averaging_every(3));
    const std::vector<float> before = fleet.z();
    const std::vector<char> good =
        run_with({BadPart::gradient, bad, 17}, fleet, averaging_every(3)(6));
    EXPECT_EQ(good, std::vector<char>(3, 0)) << "all have waited for learner " << bad;
    expect_same_bits(fleet.z(), before, "z");
    expect_same_bits(fleet.saved("average/"), before, "saved z");
  }
}

TEST(LocalSgd, a_bad_gradient_is_seen_in_rounds_that_do_not_average) {
  const Fleet fleet(2, local_sgd(3));
  const std::vector<char> good =
      run_with({BadPart::gradient, 1, 33000}, fleet, averaging_every(3)(1));
  EXPECT_EQ(good, (std::vector<char>{1, 0}));
}

}  // namespace
}  // namespace crossbow
