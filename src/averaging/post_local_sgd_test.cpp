#include "averaging/post_local_sgd.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions post_local_sgd(std::int64_t local_from_round, std::int64_t period = 1) {
  MethodOptions options = options_of(AveragingMethodName::post_local_sgd, period);
  options.local_from_round = local_from_round;
  return options;
}

/// DESIGN 2.4, last sentence, in double: who changes to local SGD takes the weights and
/// the velocity along that all have had in common.
struct PostLocalInDouble : LocalSgdInDouble {
  PostLocalInDouble(const Fleet& of, std::int64_t from)
      : LocalSgdInDouble(of), local_from_round(from) {}

  void round(const RoundRule& rule) {
    if (rule.number < local_from_round) {
      step_together(rule);
      z = w[0];
      return;
    }
    if (rule.number == local_from_round) {
      w.assign(w.size(), Doubles(w[0]));
      v.assign(v.size(), Doubles(v[0]));
    }
    LocalSgdInDouble::round(rule);
  }

  std::int64_t local_from_round;
};

TEST(PostLocalSgd, follows_its_formula) {
  for (const std::int64_t from : {1, 2, 4, 6}) {
    for (const Setting& setting : settings({1, 3})) {
      SCOPED_TRACE("local from round " + std::to_string(from));
      const Fleet fleet(setting.learners, post_local_sgd(from, setting.period));
      PostLocalInDouble model(fleet, from);
      expect_follows(fleet, model, setting);
    }
  }
}

TEST(PostLocalSgd, is_ssgd_while_it_lasts) {
  const Fleet fleet(3, post_local_sgd(100, 3));
  const Fleet twin(3, options_of(AveragingMethodName::ssgd));
  fleet.run(1, 6, averaging_every(3, nesterov_rule));
  twin.run(1, 6, averaging_every(3, nesterov_rule));
  expect_same_bits(state_of(fleet), state_of(twin));
}

TEST(PostLocalSgd, from_the_first_round_on_is_local_sgd) {
  for (const std::int64_t period : {1, 3}) {
    const MethodOptions local_sgd = options_of(AveragingMethodName::local_sgd, period);
    const Fleet fleet(3, post_local_sgd(1, period));
    const Fleet twin(3, local_sgd, {}, Start::together);
    fleet.run(1, 7, averaging_every(period, nesterov_rule));
    twin.run(1, 7, averaging_every(period, nesterov_rule));
    expect_same_bits(state_of(fleet), state_of(twin));
  }
}

// Learner 0 computes with the same array as before, but its gradients are no longer to be
// summed: it needs another listener, too.
TEST(PostLocalSgd, tells_every_learner_when_its_weights_move) {
  const Fleet fleet(3, post_local_sgd(3, 2));
  const RuleOf rule = averaging_every(2);
  EXPECT_EQ(fleet.method->distinct_replicas(), 1);
  in_threads(3, [&](int j) {
    const Host own_exec = make_instance<Host>(1);
    for (std::int64_t t = 1; t <= 5; ++t) {
      EXPECT_EQ(fleet.method->begin_round(j, own_exec, rule(t)), t == 3) << t;
      const Span<Host> expected = fleet.store.replica(t < 3 ? 0 : j).w;
      EXPECT_EQ(fleet.method->weights(j).data(), expected.data()) << t;
      EXPECT_EQ(fleet.method->make_listener(j, own_exec) != nullptr, t < 3) << t;
      const auto g = gradient_of(fleet.layout, j, t);
      EXPECT_TRUE(fleet.end_round(j, own_exec, rule(t), g)) << t;
    }
  });
  EXPECT_EQ(fleet.method->distinct_replicas(), 3);
}

TEST(PostLocalSgd, with_period_never_z_is_the_mean_of_the_replicas_in_the_end) {
  const Fleet fleet(3, post_local_sgd(3, 0));
  PostLocalInDouble model(fleet, 3);
  const RuleOf rule = averaging_every(0, nesterov_rule);
  fleet.run(1, 6, rule);
  for (std::int64_t t = 1; t <= 6; ++t) {
    model.round(rule(t));
  }
  model.z = mean_of(model.w);
  expect_equal(fleet, model, "after round 6");
}

TEST(PostLocalSgd, a_bad_gradient_never_reaches_z_in_either_phase) {
  for (const std::int64_t from : {1, 3, 9}) {
    for (const std::int64_t period : {1, 2}) {
      SCOPED_TRACE("local from round " + std::to_string(from));
      expect_bad_number_stays_out(post_local_sgd(from, period), BadPart::gradient);
    }
  }
}

TEST(PostLocalSgd, abort_wakes_those_who_wait_to_change) {
  const Fleet fleet(3, post_local_sgd(4, 3));
  const RuleOf rule = averaging_every(3);
  fleet.run(1, 3, rule);
  expect_abort_wakes(fleet, 4, rule);
}

TEST(PostLocalSgd, abort_wakes_those_who_wait_for_the_mean) {
  const Fleet fleet(3, post_local_sgd(2, 3));
  const RuleOf rule = averaging_every(3);
  fleet.run(1, 5, rule);
  expect_abort_wakes(fleet, 6, rule);
}

}  // namespace
}  // namespace crossbow
