#include "averaging/hogwild.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions hogwild() {
  return options_of(AveragingMethodName::hogwild);
}

/// DESIGN 2.7 in double, one learner at a time.
struct HogwildInDouble : InDouble {
  using InDouble::InDouble;

  void begin(int j) { w[static_cast<std::size_t>(j)] = z; }

  /// The step from the copy goes to z; the copy stays.
  void end(int j, const RoundRule& rule) {
    const auto own = static_cast<std::size_t>(j);
    const Doubles direction =
        direction_of(rule.step, gradient(j, rule.number), w[own], v[own]);
    add_to(z, -double{rule.step.rate}, direction);
  }

  void round(int j, const RoundRule& rule) {
    begin(j);
    end(j, rule);
  }
};

TEST(Hogwild, follows_its_formula) {
  for (const Setting& setting : settings({1, 2, 3, 5}, {1})) {
    const Fleet fleet(setting.learners, hogwild());
    HogwildInDouble model(fleet);
    expect_follows_in_turns(fleet, model, setting);
  }
}

TEST(Hogwild, one_learner_is_ssgd_to_rounding) {
  for (const Setting& setting : settings({1}, {1})) {
    const Fleet fleet(1, hogwild());
    expect_is_ssgd(fleet, setting);
  }
}

TEST(Hogwild, a_round_begins_with_a_copy_of_the_shared_model) {
  const Fleet fleet(2, hogwild());
  const RuleOf rule = averaging_every(1);
  for (const Turn& turn : {Turn{0, 1}, Turn{0, 2}, Turn{1, 1}, Turn{0, 3}}) {
    const int j = turn.learner;
    const std::vector<float> z = fleet.z();
    EXPECT_FALSE(fleet.method->begin_round(j, fleet.exec, rule(turn.round)));
    expect_same_bits(fleet.w(j), z, "w");
    EXPECT_EQ(fleet.method->weights(j).data(), fleet.store.replica(j).w.data());
    const auto g = gradient_of(fleet.layout, j, turn.round);
    EXPECT_TRUE(fleet.end_round(j, fleet.exec, rule(turn.round), g));
  }
}

// Weight decay tells where a step was taken: at the copy, although z has moved since.
TEST(Hogwild, a_step_is_taken_where_the_gradient_was) {
  const Fleet fleet(2, hogwild());
  HogwildInDouble model(fleet);
  const RuleOf rule = averaging_every(1, {0.05F, 0.9F, 0.5F, true});
  fleet.method->begin_round(1, fleet.exec, rule(1));
  model.begin(1);
  for (std::int64_t t = 1; t <= 5; ++t) {
    take_turn(fleet, {0, t}, rule);
    model.round(0, rule(t));
  }
  const auto g = gradient_of(fleet.layout, 1, 1);
  EXPECT_TRUE(fleet.end_round(1, fleet.exec, rule(1), g));
  model.end(1, rule(1));
  expect_equal(fleet, model, "learner 1 five rounds late");
}

// One cache line that all fight for. Learner j adds 2^j in each round: sums of integers
// below 2^24 are exact in any order, so what is missing in the end has been lost.
TEST(Hogwild, loses_no_step_of_learners_that_add_at_once) {
  constexpr int k = 4;
  constexpr std::int64_t rounds = 5000;
  ParameterLayout layout;
  layout.add("a.bias", {parameter_alignment}, identity_layout(parameter_alignment));
  const Host exec = make_instance<Host>(1);
  const ReplicaStore<Host> store(exec, {k, layout.size(), 0});
  for (int j = 0; j < k; ++j) {
    store.touch(exec, j);
  }
  const auto method = make_averaging_method(exec, hogwild(), store, layout);
  in_threads(k, [&](int j) {
    const Host own_exec = make_instance<Host>(1);
    for (std::int64_t t = 1; t <= rounds; ++t) {
      const RoundRule rule{t, {0.5F, 0.0F, 0.0F}, true};
      method->begin_round(j, own_exec, rule);
      const auto gradient = static_cast<float>(-(2 << j));
      Kokkos::deep_copy(own_exec, store.replica(j).g, gradient);
      EXPECT_EQ(method->finish_round(j, own_exec, rule), RoundOutcome::good);
    }
  });
  const float sum = static_cast<float>(rounds) * ((1 << k) - 1);
  EXPECT_EQ(to_host<Host>(exec, method->average()),
            std::vector<float>(parameter_alignment, sum));
}

TEST(Hogwild, adds_every_step_whatever_the_delays) {
  for (const std::uint64_t delay_seed : {0, 1, 2}) {
    const RuleOf rule = averaging_every(1, {0.05F, 0.9F, 0.0F, true});
    const Fleet fleet(4, hogwild());
    Doubles expected = sum_of_steps(fleet, 12, rule);
    add_to(expected, 1, to_double(fleet.z()));
    fleet.run(1, 12, rule, delay_seed);
    expect_close(fleet.z(),
                 expected,
                 formula_tolerance,
                 "z, delays " + std::to_string(delay_seed));
  }
}

TEST(Hogwild, a_bad_velocity_never_reaches_z) {
  expect_bad_number_stays_out(hogwild(), BadPart::velocity);
}

}  // namespace
}  // namespace crossbow
