#include "averaging/polyak_ruppert.hpp"

#include <cstdint>

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions polyak_ruppert() {
  return options_of(AveragingMethodName::polyak_ruppert);
}

/// DESIGN 2.5 in double, from the sum of all iterates.
struct PolyakRuppertInDouble : InDouble {
  explicit PolyakRuppertInDouble(const Fleet& of) : InDouble(of), sum(z.size(), 0.0) {}

  void round(const RoundRule& rule) {
    step_together(rule);
    add_to(sum, 1, w[0]);
    z.assign(z.size(), 0.0);
    add_to(z, 1.0 / static_cast<double>(rule.number), sum);
  }

  Doubles sum;
};

TEST(PolyakRuppert, follows_its_formula) {
  for (const Setting& setting : settings({1, 2, 3, 5}, {1})) {
    const Fleet fleet(setting.learners, polyak_ruppert());
    PolyakRuppertInDouble model(fleet);
    expect_follows(fleet, model, setting);
  }
}

TEST(PolyakRuppert, the_period_does_not_matter) {
  const Fleet fleet(3, options_of(AveragingMethodName::polyak_ruppert, 3));
  PolyakRuppertInDouble model(fleet);
  expect_follows(fleet, model, {3, 3, nesterov_rule});
}

TEST(PolyakRuppert, iterates_are_those_of_ssgd) {
  for (const Setting& setting : settings({1, 3}, {1})) {
    SCOPED_TRACE(setting.text());
    const Fleet fleet(setting.learners, polyak_ruppert());
    const Fleet twin(setting.learners, options_of(AveragingMethodName::ssgd));
    fleet.run(1, 8, setting.rule());
    twin.run(1, 8, setting.rule());
    expect_same_bits(fleet.w(0), twin.w(0), "w");
    expect_same_bits(fleet.v(0), twin.v(0), "v");
  }
}

TEST(PolyakRuppert, learners_compute_with_the_iterate_and_not_with_z) {
  const Fleet fleet(3, polyak_ruppert());
  EXPECT_EQ(fleet.method->distinct_replicas(), 1);
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(fleet.method->weights(j).data(), fleet.store.replica(0).w.data());
    EXPECT_NE(fleet.method->weights(j).data(), fleet.method->average().data());
  }
}

TEST(PolyakRuppert, initial_weights_are_not_counted) {
  const Fleet fleet(2, polyak_ruppert());
  fleet.run(1, 1, averaging_every(1, {1.0F, 0.0F, 0.0F}));  // a step of about one
  expect_close(fleet.z(), to_double(fleet.w(0)), 1e-6, "z after the first round");
}

}  // namespace
}  // namespace crossbow
