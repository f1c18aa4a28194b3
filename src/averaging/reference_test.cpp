#include "averaging/reference.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

std::string reference_prefix(std::size_t d) {
  return "reference" + std::to_string(d) + "/";
}

MethodOptions two_levels(int devices, std::int64_t period = 1) {
  MethodOptions options = options_of(AveragingMethodName::reference, period);
  options.tree = star_of(devices);
  options.averaging.momentum = 0.5;
  return options;
}

/// DESIGN 2.8 in double.
struct ReferenceInDouble : InDouble {
  ReferenceInDouble(const Fleet& of, int devices, double momentum)
      : InDouble(of), z_prev(to_double(of.saved("previous/"))), mu(momentum) {
    for (int d = 0; d < devices; ++d) {
      q.push_back(to_double(of.saved(reference_prefix(static_cast<std::size_t>(d)))));
    }
  }

  void round(const RoundRule& rule) {
    for (std::size_t d = 0; d < q.size(); ++d) {
      average_inside(d, rule);
    }
    if (rule.averages) {
      average_across();
    }
  }

  /// Device d's learners step and are pulled to q_d, and q_d to them.
  void average_inside(std::size_t d, const RoundRule& rule) {
    const std::size_t m = w.size() / q.size();
    const double alpha = 1.0 / static_cast<double>(m + 1);
    Doubles sum(z.size(), 0.0);
    for (std::size_t j = d * m; j < (d + 1) * m; ++j) {
      Doubles c(z.size(), 0.0);
      add_to(c, alpha, w[j]);
      add_to(c, -alpha, q[d]);
      step(static_cast<int>(j), rule);
      add_to(w[j], -1, c);
      add_to(sum, 1, c);
    }
    add_to(q[d], 1, sum);
  }

  /// The same between the devices and z, which has momentum.
  void average_across() {
    const double alpha = 1.0 / static_cast<double>(q.size() + 1);
    const Doubles before = z;
    for (Doubles& reference : q) {
      Doubles c(z.size(), 0.0);
      add_to(c, alpha, reference);
      add_to(c, -alpha, before);
      add_to(reference, -1, c);
      add_to(z, 1, c);
    }
    add_to(z, mu, before);
    add_to(z, -mu, z_prev);
    z_prev = before;
  }

  void restart() {
    w.assign(w.size(), z);
    q.assign(q.size(), z);
    z_prev = z;
  }

  std::vector<Doubles> q;
  Doubles z_prev;
  double mu;
};

void expect_equal_levels(const Fleet& fleet,
                         const ReferenceInDouble& model,
                         const std::string& what) {
  expect_equal(fleet, model, what);
  expect_close(
      fleet.saved("previous/"), model.z_prev, formula_tolerance, "z_prev, " + what);
  for (std::size_t d = 0; d < model.q.size(); ++d) {
    const std::string prefix = reference_prefix(d);
    SCOPED_TRACE(prefix);
    expect_close(fleet.saved(prefix), model.q[d], formula_tolerance, what);
  }
}

/// How learners lie on devices.
struct Shape {
  int learners, devices;
};

TEST(Reference, follows_its_formula) {
  for (const Shape& shape :
       {Shape{1, 1}, Shape{3, 1}, Shape{2, 2}, Shape{4, 2}, Shape{6, 3}}) {
    for (const Setting& setting : settings({shape.learners})) {
      SCOPED_TRACE(std::to_string(shape.devices) + " devices");
      const Fleet fleet(shape.learners, two_levels(shape.devices, setting.period));
      ReferenceInDouble model(fleet, shape.devices, 0.5);
      expect_follows(fleet, model, setting);
      expect_equal_levels(fleet, model, setting.text());
    }
  }
}

TEST(Reference, momentum_auto_is_nine_tenths_although_learners_have_momentum) {
  MethodOptions options = two_levels(2);
  options.averaging.momentum.reset();
  const Fleet fleet(4, options);
  ReferenceInDouble model(fleet, 2, 0.9);
  expect_follows(fleet, model, {4, 1, nesterov_rule});
}

TEST(Reference, restart_sets_replicas_and_references_to_z_and_keeps_velocities) {
  for (const std::int64_t period : {1, 3}) {
    const Fleet fleet(4, two_levels(2, period));
    ReferenceInDouble model(fleet, 2, 0.5);
    const RuleOf rule = averaging_every(period, nesterov_rule);
    for (const std::int64_t last : {3, 6}) {
      fleet.run(last - 2, last, rule);
      for (std::int64_t t = last - 2; t <= last; ++t) {
        model.round(rule(t));
      }
      fleet.method->restart(fleet.exec);
      model.restart();
      for (int j = 0; j < 4; ++j) {
        expect_same_bits(fleet.w(j), fleet.z(), "w after a restart");
      }
      for (std::size_t d = 0; d < 2; ++d) {
        expect_same_bits(fleet.saved(reference_prefix(d)),
                         fleet.saved("average/"),
                         "q after a restart");
      }
      expect_equal_levels(fleet, model, "restart of round " + std::to_string(last));
    }
    fleet.run(7, 9, rule);
    for (std::int64_t t = 7; t <= 9; ++t) {
      model.round(rule(t));
    }
    expect_equal_levels(fleet, model, "three rounds after the last restart");
  }
}

// In one thread: a wait would last until ctest's limit.
TEST(Reference, a_device_goes_on_alone_until_models_are_averaged_across) {
  const Fleet fleet(2, two_levels(2, 3));
  const RuleOf rule = averaging_every(3);
  for (const Turn& turn : {Turn{0, 1}, Turn{0, 2}, Turn{0, 3}, Turn{1, 1}, Turn{1, 2}}) {
    take_turn(fleet, turn, rule);
  }
}

TEST(Reference, devices_with_unequal_numbers_of_learners_are_an_error) {
  for (const Shape& shape : {Shape{3, 2}, Shape{1, 2}, Shape{5, 3}}) {
    try {
      const Fleet fleet(shape.learners, two_levels(shape.devices));
      ADD_FAILURE() << shape.learners << " learners on " << shape.devices << " devices";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::usage) << error.what();
    }
  }
}

}  // namespace
}  // namespace crossbow
