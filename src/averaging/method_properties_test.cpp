// What holds for all averaging methods, or for all of a kind: a method that is added is
// tested here without a change.

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// A parameter of tests that ctest shows by its name.
struct Method {
  AveragingMethodName name;
};

std::ostream& operator<<(std::ostream& out, const Method& method) {
  return out << averaging_method_name(method.name);
}

bool is_synchronous(AveragingMethodName name) {
  return !is_asynchronous(name);
}

template <class Predicate>
std::vector<Method> methods_where(Predicate holds) {
  std::vector<Method> methods;
  for (const auto& entry : averaging_method_names) {
    if (holds(entry.second)) {
      methods.push_back({entry.second});
    }
  }
  return methods;
}

class AnyMethod : public ::testing::TestWithParam<Method> {
 protected:
  /// Where the method has a choice: two devices, and local SGD from round 4 on.
  static MethodOptions options(std::int64_t period = 1) {
    const AveragingMethodName name = GetParam().name;
    MethodOptions options = options_of(name, period);
    options.tree = star_of(name == AveragingMethodName::reference ? 2 : 1);
    options.local_from_round = 4;
    options.averaging.momentum = 0.5;
    return options;
  }
};

class Synchronous : public AnyMethod {};
class Asynchronous : public AnyMethod {};
class Elastic : public AnyMethod {};
class Uncoupled : public AnyMethod {};
class SummedGradients : public AnyMethod {};

INSTANTIATE_TEST_SUITE_P(all,
                         AnyMethod,
                         ::testing::ValuesIn(methods_where([](auto) { return true; })));
INSTANTIATE_TEST_SUITE_P(all,
                         Synchronous,
                         ::testing::ValuesIn(methods_where(is_synchronous)));
INSTANTIATE_TEST_SUITE_P(all,
                         Asynchronous,
                         ::testing::ValuesIn(methods_where(is_asynchronous)));
INSTANTIATE_TEST_SUITE_P(all,
                         Elastic,
                         ::testing::Values(Method{AveragingMethodName::sma},
                                           Method{AveragingMethodName::easgd}));
INSTANTIATE_TEST_SUITE_P(all,
                         Uncoupled,
                         ::testing::Values(Method{AveragingMethodName::sma},
                                           Method{AveragingMethodName::easgd},
                                           Method{AveragingMethodName::easgd_async},
                                           Method{AveragingMethodName::local_sgd},
                                           Method{AveragingMethodName::downpour}));
INSTANTIATE_TEST_SUITE_P(all,
                         SummedGradients,
                         ::testing::Values(Method{AveragingMethodName::ssgd},
                                           Method{AveragingMethodName::post_local_sgd},
                                           Method{AveragingMethodName::polyak_ruppert}));

TEST_P(AnyMethod, a_bad_gradient_never_reaches_z) {
  for (const std::int64_t period : {1, 2}) {
    expect_bad_number_stays_out(options(period), BadPart::gradient);
  }
}

TEST_P(AnyMethod, starts_from_the_average_that_it_is_given) {
  const Fleet fleet(4, options());
  const std::vector<float> given = gradient_of(fleet.layout, 99, 0);
  expect_same_bits(fleet.z(), given, "z");
  expect_same_bits(fleet.saved("average/"), given, "saved z");
}

// ---- Synchronous methods
// -----------------------------------------------------------------

TEST_P(Synchronous, is_bitwise_the_same_whatever_the_delays) {
  for (const std::int64_t period : {1, 3}) {
    const RuleOf rule = averaging_every(period, nesterov_rule);
    const Fleet undisturbed(4, options(period));
    undisturbed.run(1, 12, rule);
    for (const std::uint64_t delay_seed : {1, 2, 3}) {
      const Fleet delayed(4, options(period));
      delayed.run(1, 12, rule, delay_seed);
      expect_same_bits(state_of(delayed), state_of(undisturbed));
      expect_same_saved(delayed, undisturbed);
    }
  }
}

// The order keeps learners on their device, of which two have three each.
TEST_P(Synchronous, permuting_learners_permutes_replicas_and_leaves_z) {
  for (const std::int64_t period : {1, 3}) {
    const RuleOf rule = averaging_every(period, nesterov_rule);
    const Fleet fleet(6, options(period)),
        permuted(6, options(period), {2, 0, 1, 4, 5, 3});
    fleet.run(1, 8, rule);
    permuted.run(1, 8, rule);
    expect_close(permuted.z(), to_double(fleet.z()), 1e-6, "z");
    if (fleet.method->distinct_replicas() > 1) {
      for (int j = 0; j < 6; ++j) {
        expect_close(permuted.w(j), to_double(fleet.w(permuted.stream(j))), 1e-6, "w");
      }
    }
  }
}

TEST_P(Synchronous, continues_from_what_it_saved) {
  for (const std::int64_t period : {1, 3}) {
    const RuleOf rule = averaging_every(period, nesterov_rule);
    const Fleet whole(4, options(period));
    whole.run(1, 8, rule);
    for (const std::int64_t stop : {1, 3, 4, 5}) {
      SCOPED_TRACE("stopped after round " + std::to_string(stop));
      const Fleet interrupted(4, options(period)), resumed(4, options(period));
      interrupted.run(1, stop, rule);
      restore_from(interrupted, stop, resumed);
      expect_same_bits(state_of(resumed), state_of(interrupted));
      resumed.run(stop + 1, 8, rule);
      expect_same_bits(state_of(resumed), state_of(whole));
      expect_same_saved(resumed, whole);
    }
  }
}

TEST_P(Synchronous, abort_wakes_those_who_wait) {
  for (const std::int64_t period : {1, 3}) {
    const Fleet fleet(4, options(period));
    expect_abort_wakes(fleet, 1, averaging_every(period));
  }
}

// ---- Asynchronous methods
// ----------------------------------------------------------------

// In one thread: a wait for the learner that is in the middle of its round, or for the
// one that never begins, would last until ctest's limit.
TEST_P(Asynchronous, a_learner_that_sleeps_holds_nobody_up) {
  const Fleet fleet(3, options());
  const RuleOf rule = averaging_every(1);
  fleet.method->begin_round(1, fleet.exec, rule(1));
  for (std::int64_t t = 1; t <= 50; ++t) {
    take_turn(fleet, {0, t}, rule);
  }
  const auto g = gradient_of(fleet.layout, 1, 1);
  EXPECT_TRUE(fleet.end_round(1, fleet.exec, rule(1), g));
  take_turn(fleet, {0, 51}, rule);
}

TEST_P(Asynchronous, continues_from_what_it_saved) {
  for (const std::int64_t period : {1, 3}) {
    const RuleOf rule = averaging_every(period, nesterov_rule);
    const Fleet whole(3, options(period)), resumed(3, options(period));
    const std::vector<Turn> turns = uneven_turns(3);
    for (std::size_t i = 0; i < turns.size(); ++i) {
      take_turn(whole, turns[i], rule);
      if (i == 10) {
        restore_from(whole, 3, resumed);
        expect_same_bits(state_of(resumed), state_of(whole));
      } else if (i > 10) {
        take_turn(resumed, turns[i], rule);
      }
    }
    expect_same_bits(state_of(resumed), state_of(whole));
    expect_same_saved(resumed, whole);
  }
}

// ---- Kinds of methods
// --------------------------------------------------------------------

// With alpha k = 1 and mu = 0, z after round t is the mean of the s_j of round t.
TEST_P(Elastic, z_is_the_mean_of_the_replicas_before_if_alpha_k_is_one) {
  for (const int k : {2, 3, 4}) {
    MethodOptions one_over_k = options();
    one_over_k.averaging.alpha_rule = AlphaRule::one_over_k;
    one_over_k.averaging.momentum = 0.0;
    const Fleet fleet(k, one_over_k);
    for (std::int64_t t = 1; t <= 5; ++t) {
      const Doubles mean = mean_of(InDouble(fleet).w);
      fleet.run(t, t, averaging_every(1, nesterov_rule));
      expect_close(fleet.z(), mean, 1e-6, "z after round " + std::to_string(t));
    }
  }
}

// With one learner that is plain SGD, and z the replica itself.
TEST_P(Uncoupled, with_period_never_learners_do_plain_sgd_and_z_is_their_mean) {
  for (const Setting& setting : settings({1, 3}, {0})) {
    const Fleet fleet(setting.learners, options(0));
    InDouble model(fleet);
    fleet.run(1, 6, setting.rule());
    for (int j = 0; j < setting.learners; ++j) {
      for (std::int64_t t = 1; t <= 6; ++t) {
        model.step(j, setting.rule()(t));
      }
    }
    model.z = mean_of(model.w);
    expect_equal(fleet, model, setting.text());
    if (setting.learners == 1) {
      expect_same_bits(fleet.z(), fleet.w(0), "z");
    }
  }
}

// Clipping changes gradients once more when all are there: a sum made before is too
// early.
TEST_P(SummedGradients, are_summed_after_backward_where_they_are_clipped) {
  for (const int k : {1, 3}) {
    MethodOptions clips = options();
    clips.clips = true;
    const Fleet fleet(k, clips), twin(k, options());
    EXPECT_TRUE(fleet.method->make_listener(0, fleet.exec) == nullptr);
    EXPECT_TRUE(twin.method->make_listener(0, twin.exec) != nullptr);
    fleet.run(1, 6, averaging_every(1, nesterov_rule));
    twin.run(1, 6, averaging_every(1, nesterov_rule));
    expect_same_bits(state_of(fleet), state_of(twin));
  }
}

}  // namespace
}  // namespace crossbow
