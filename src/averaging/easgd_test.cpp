// Elastic averaging SGD, the synchronous one (DESIGN 2.2).

#include <cstdint>
#include <string>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions easgd(std::int64_t period = 1) {
  MethodOptions options = options_of(AveragingMethodName::easgd, period);
  options.averaging.momentum = 0.9;  // z has none, whatever the deck says of sma's
  return options;
}

TEST(Easgd, follows_its_formula) {
  for (const Setting& setting : settings({1, 2, 3, 5})) {
    const Fleet fleet(setting.learners, easgd(setting.period));
    ElasticInDouble model(fleet, 1.0 / (setting.learners + 1));
    expect_follows(fleet, model, setting);
  }
}

TEST(Easgd, takes_alpha_from_the_deck) {
  const Setting setting{3, 1, nesterov_rule};
  MethodOptions options = easgd();
  options.averaging.alpha_rule = AlphaRule::number;
  options.averaging.alpha = 0.1;
  const Fleet by_number(3, options);
  ElasticInDouble model(by_number, 0.1);
  expect_follows(by_number, model, setting);

  options.averaging.alpha_rule = AlphaRule::one_over_k;
  const Fleet paper(3, options);
  ElasticInDouble paper_model(paper, 1.0 / 3);
  expect_follows(paper, paper_model, setting);
}

TEST(Easgd, is_sma_without_momentum_of_z) {
  for (const Setting& setting : settings({1, 4})) {
    SCOPED_TRACE(setting.text());
    MethodOptions sma = options_of(AveragingMethodName::sma, setting.period);
    sma.averaging.momentum = 0.0;
    const Fleet fleet(setting.learners, easgd(setting.period));
    const Fleet twin(setting.learners, sma);
    fleet.run(1, 7, setting.rule());
    twin.run(1, 7, setting.rule());
    expect_same_bits(state_of(fleet), state_of(twin));
  }
}

TEST(Easgd, restart_sets_replicas_to_z_and_keeps_velocities) {
  for (const std::int64_t period : {1, 3}) {
    const Fleet fleet(3, easgd(period));
    ElasticInDouble model(fleet, 0.25);
    const RuleOf rule = averaging_every(period, nesterov_rule);
    for (const std::int64_t last : {3, 6}) {
      fleet.run(last - 2, last, rule);
      for (std::int64_t t = last - 2; t <= last; ++t) {
        model.round(rule(t));
      }
      fleet.method->restart(fleet.exec);
      model.w.assign(3, model.z);
      for (int j = 0; j < 3; ++j) {
        expect_same_bits(fleet.w(j), fleet.z(), "w after a restart");
      }
      expect_equal(fleet, model, "after the restart of round " + std::to_string(last));
    }
  }
}

}  // namespace
}  // namespace crossbow
