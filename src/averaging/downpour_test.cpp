#include "averaging/downpour.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions downpour(std::int64_t period = 1) {
  return options_of(AveragingMethodName::downpour, period);
}

/// DESIGN 2.6 in double.
struct DownpourInDouble : InDouble {
  explicit DownpourInDouble(const Fleet& of) : InDouble(of), pulled(w) {}

  /// Learner j alone.
  void round(int j, const RoundRule& rule) {
    const auto own = static_cast<std::size_t>(j);
    step(j, rule);
    if (rule.averages) {
      add_to(z, 1, w[own]);
      add_to(z, -1, pulled[own]);
      w[own] = z;
      pulled[own] = z;
    }
  }

  std::vector<Doubles> pulled;
};

TEST(Downpour, follows_its_formula) {
  for (const Setting& setting : settings({1, 2, 3, 5})) {
    const Fleet fleet(setting.learners, downpour(setting.period), {}, Start::together);
    DownpourInDouble model(fleet);
    expect_follows_in_turns(fleet, model, setting);
  }
}

TEST(Downpour, one_learner_with_period_one_is_ssgd_to_rounding) {
  for (const Setting& setting : settings({1}, {1})) {
    const Fleet fleet(1, downpour(), {}, Start::together);
    expect_is_ssgd(fleet, setting);
  }
}

TEST(Downpour, a_learner_takes_z_when_it_hands_in_its_steps) {
  const Fleet fleet(2, downpour(2), {}, Start::together);
  const RuleOf rule = averaging_every(2);
  const std::vector<float> before = fleet.z();
  take_turn(fleet, {0, 1}, rule);
  expect_same_bits(fleet.z(), before, "z before the first exchange");
  take_turn(fleet, {0, 2}, rule);
  EXPECT_NE(fleet.z(), before);
  expect_same_bits(fleet.w(0), fleet.z(), "w of learner 0");
  expect_same_bits(fleet.w(1), before, "w of learner 1");
}

// Whatever the order, z is where it was plus all steps once all are handed in.
TEST(Downpour, loses_no_step_of_learners_at_their_own_pace) {
  for (const std::int64_t period : {1, 3}) {
    for (const std::uint64_t delay_seed : {1, 2, 3}) {
      const RuleOf rule = averaging_every(period, {0.05F, 0.9F, 0.0F, true});
      const Fleet fleet(4, downpour(period), {}, Start::together);
      Doubles expected = sum_of_steps(fleet, 12, rule);
      add_to(expected, 1, to_double(fleet.z()));
      fleet.run(1, 12, rule, delay_seed);
      expect_close(fleet.z(),
                   expected,
                   formula_tolerance,
                   "z, period " + std::to_string(period) + ", delays " +
                       std::to_string(delay_seed));
    }
  }
}

TEST(Downpour, bad_weights_are_not_handed_in) {
  for (const std::int64_t period : {1, 3}) {
    expect_bad_number_stays_out(downpour(period), BadPart::weights);
  }
}

}  // namespace
}  // namespace crossbow
