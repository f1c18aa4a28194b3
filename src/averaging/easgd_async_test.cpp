#include "averaging/easgd_async.hpp"

#include <cstdint>
#include <string>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions easgd_async(std::int64_t period = 1) {
  MethodOptions options = options_of(AveragingMethodName::easgd_async, period);
  options.averaging.momentum = 0.9;  // z has none, whatever the deck says of sma's
  return options;
}

// With Nesterov's step it is EAMSGD.
TEST(EasgdAsync, follows_its_formula) {
  for (const Setting& setting : settings({1, 2, 3, 5})) {
    const Fleet fleet(setting.learners, easgd_async(setting.period));
    ElasticInDouble model(fleet, 1.0 / (setting.learners + 1));
    expect_follows_in_turns(fleet, model, setting);
  }
}

TEST(EasgdAsync, takes_alpha_from_the_deck) {
  MethodOptions options = easgd_async();
  options.averaging.alpha_rule = AlphaRule::number;
  options.averaging.alpha = 0.1;
  const Fleet fleet(3, options);
  ElasticInDouble model(fleet, 0.1);
  expect_follows_in_turns(fleet, model, {3, 1, nesterov_rule});
}

TEST(EasgdAsync, with_one_learner_is_easgd_bitwise) {
  for (const Setting& setting : settings({1})) {
    SCOPED_TRACE(setting.text());
    const Fleet fleet(1, easgd_async(setting.period));
    const Fleet twin(1, options_of(AveragingMethodName::easgd, setting.period));
    fleet.run(1, 12, setting.rule());
    twin.run(1, 12, setting.rule());
    expect_same_bits(state_of(fleet), state_of(twin));
  }
}

// An exchange takes from a replica what it adds to z. Without weight decay steps depend
// on nothing else, so that the sum of z and all replicas is known whatever the order.
TEST(EasgdAsync, exchanges_lose_nothing_whatever_the_delays) {
  for (const std::int64_t period : {1, 3}) {
    for (const std::uint64_t delay_seed : {1, 2, 3}) {
      const RuleOf rule = averaging_every(period, {0.05F, 0.9F, 0.0F, true});
      const Fleet fleet(4, easgd_async(period));
      Doubles expected = sum_of_steps(fleet, 12, rule);
      add_to(expected, 1, to_double(fleet.z()));
      for (int j = 0; j < 4; ++j) {
        add_to(expected, 1, to_double(fleet.w(j)));
      }
      fleet.run(1, 12, rule, delay_seed);
      for (int j = 0; j < 4; ++j) {
        add_to(expected, -1, to_double(fleet.w(j)));
      }
      expect_close(fleet.z(),
                   expected,
                   formula_tolerance,
                   "z, period " + std::to_string(period) + ", delays " +
                       std::to_string(delay_seed));
    }
  }
}

TEST(EasgdAsync, bad_corrections_never_reach_z) {
  for (const std::int64_t period : {1, 3}) {
    expect_bad_number_stays_out(easgd_async(period), BadPart::weights);
  }
}

}  // namespace
}  // namespace crossbow
