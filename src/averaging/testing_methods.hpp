#pragma once
// Helpers of the tests of averaging methods beside sma and ssgd: settings to try, DESIGN
// 2's formulas in double, and failures that every method must stand.

#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "base/random.hpp"

#include "averaging/testing.hpp"

namespace crossbow::testing {

// ---- Settings
// ----------------------------------------------------------------------------

inline MethodOptions options_of(AveragingMethodName method, std::int64_t period = 1) {
  MethodOptions options;
  options.averaging.method = method;
  options.averaging.period = period;
  options.eta = 0.9;
  return options;
}

/// With momentum and weight decay, the same with Nesterov's step, and with neither.
inline constexpr std::array<StepRule, 3> step_rules = {{{0.05F, 0.9F, 0.01F, false},
                                                        {0.05F, 0.9F, 0.01F, true},
                                                        {0.05F, 0.0F, 0.0F, false}}};
inline constexpr StepRule nesterov_rule = step_rules[1];

/// What a formula is tried with.
struct Setting {
  int learners = 1;
  std::int64_t period = 1;
  StepRule step;

  RuleOf rule() const { return averaging_every(period, step); }
  std::string text() const {
    return std::to_string(learners) + " learners, period " + std::to_string(period) +
           ", eta " + std::to_string(step.eta) + (step.nesterov ? ", Nesterov" : "");
  }
};

/// All of these numbers of learners and periods with all steps.
inline std::vector<Setting> settings(const std::vector<int>& learners,
                                     const std::vector<std::int64_t>& periods = {1, 3}) {
  std::vector<Setting> all;
  for (const int k : learners) {
    for (const std::int64_t period : periods) {
      for (const StepRule& step : step_rules) {
        all.push_back({k, period, step});
      }
    }
  }
  return all;
}

/// A learner and which of its own rounds it does.
struct Turn {
  int learner;
  std::int64_t round;
};

/// Rounds of k learners one after another, eight each on average, in an order in which
/// some come often and some late: what asynchronous methods allow.
inline std::vector<Turn> uneven_turns(int k) {
  std::vector<std::int64_t> done(static_cast<std::size_t>(k), 0);
  std::vector<Turn> turns;
  for (std::uint64_t i = 0; i < 8 * done.size(); ++i) {
    const std::uint64_t j = random_below(5, RandomPurpose::shuffle, 0, i, done.size());
    turns.push_back({static_cast<int>(j), ++done[j]});
  }
  return turns;
}

inline void take_turn(const Fleet& fleet, const Turn& turn, const RuleOf& rule) {
  const auto g = gradient_of(fleet.layout, fleet.stream(turn.learner), turn.round);
  EXPECT_TRUE(fleet.one_round(turn.learner, fleet.exec, rule(turn.round), g))
      << "learner " << turn.learner << ", round " << turn.round;
}

// ---- Formulas
// ----------------------------------------------------------------------------

// A dozen rounds of about ten roundings each, of numbers below 10, partly cancelling.
inline constexpr double formula_tolerance = 1e-5;

/// x += factor y.
inline void add_to(Doubles& x, double factor, const Doubles& y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] += factor * y[i];
  }
}

inline Doubles mean_of(const std::vector<Doubles>& vectors) {
  Doubles mean(vectors.front().size(), 0.0);
  for (const Doubles& vector : vectors) {
    add_to(mean, 1.0 / static_cast<double>(vectors.size()), vector);
  }
  return mean;
}

/// What the rate is multiplied by, with the gradient g taken at w; v becomes the new one.
inline Doubles direction_of(const StepRule& rule,
                            const Doubles& g,
                            const Doubles& w,
                            Doubles& v) {
  Doubles direction(g.size());
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double slope = g[i] + double{rule.lambda} * w[i];
    v[i] = double{rule.eta} * v[i] + slope;
    direction[i] = rule.nesterov ? slope + double{rule.eta} * v[i] : v[i];
  }
  return direction;
}

/// What a fleet holds, in double, and the steps that learners make with it.
struct InDouble {
  explicit InDouble(const Fleet& of) : fleet(of), z(to_double(of.saved("average/"))) {
    for (int j = 0; j < of.learners(); ++j) {
      w.push_back(to_double(of.w(j)));
      v.push_back(to_double(of.v(j)));
    }
  }

  Doubles gradient(int j, std::int64_t t) const {
    return to_double(gradient_of(fleet.layout, fleet.stream(j), t));
  }

  /// Learner j's step with its own gradient.
  void step(int j, const RoundRule& rule) {
    const auto own = static_cast<std::size_t>(j);
    const Doubles direction =
        direction_of(rule.step, gradient(j, rule.number), w[own], v[own]);
    add_to(w[own], -double{rule.step.rate}, direction);
  }

  /// The step with the mean gradient of w[0] and v[0], which all learners have in common.
  void step_together(const RoundRule& rule) {
    Doubles mean(z.size(), 0.0);
    for (int j = 0; j < fleet.learners(); ++j) {
      add_to(mean, 1.0 / fleet.learners(), gradient(j, rule.number));
    }
    const Doubles direction = direction_of(rule.step, mean, w[0], v[0]);
    add_to(w[0], -double{rule.step.rate}, direction);
  }

  const Fleet& fleet;
  std::vector<Doubles> w, v;
  Doubles z;
};

/// DESIGN 2.2 in double, in step and not.
struct ElasticInDouble : InDouble {
  ElasticInDouble(const Fleet& of, double pull) : InDouble(of), alpha(pull) {}

  /// All learners together.
  void round(const RoundRule& rule) {
    Doubles sum(z.size(), 0.0);
    for (int j = 0; j < fleet.learners(); ++j) {
      add_to(sum, 1, step_and_pull(j, rule));
    }
    add_to(z, 1, sum);
  }

  /// Learner j alone.
  void round(int j, const RoundRule& rule) { add_to(z, 1, step_and_pull(j, rule)); }

  /// Learner j's round but for z; returns the correction.
  Doubles step_and_pull(int j, const RoundRule& rule) {
    Doubles& own = w[static_cast<std::size_t>(j)];
    const Doubles s = own;
    step(j, rule);
    Doubles c(s.size(), 0.0);
    if (rule.averages) {
      add_to(c, alpha, s);
      add_to(c, -alpha, z);
      add_to(own, -1, c);
    }
    return c;
  }

  double alpha;
};

/// DESIGN 2.4 in double.
struct LocalSgdInDouble : InDouble {
  using InDouble::InDouble;

  void round(const RoundRule& rule) {
    for (int j = 0; j < fleet.learners(); ++j) {
      step(j, rule);
    }
    if (rule.averages) {
      z = mean_of(w);
      w.assign(w.size(), z);
    }
  }
};

/// Expect that the fleet holds what `model` does.
inline void expect_equal(const Fleet& fleet,
                         const InDouble& model,
                         const std::string& what) {
  fleet.method->collect(fleet.exec);
  for (int j = 0; j < fleet.method->distinct_replicas(); ++j) {
    const auto own = static_cast<std::size_t>(j);
    const std::string of = " of " + std::to_string(j) + ", " + what;
    expect_close(fleet.w(j), model.w[own], formula_tolerance, "w" + of);
    expect_close(fleet.v(j), model.v[own], formula_tolerance, "v" + of);
  }
  expect_close(fleet.z(), model.z, formula_tolerance, "z, " + what);
  expect_close(fleet.saved("average/"), model.z, formula_tolerance, "saved z, " + what);
}

/// Run fleet and model side by side for seven rounds and compare them after some. Between
/// two comparisons learners go at their own pace.
template <class Model>
void expect_follows(const Fleet& fleet, Model& model, const Setting& setting) {
  const RuleOf rule = setting.rule();
  std::int64_t first = 1;
  for (const std::int64_t last : {1, 3, 7}) {
    fleet.run(first, last, rule);
    for (std::int64_t t = first; t <= last; ++t) {
      model.round(rule(t));
    }
    expect_equal(fleet, model, setting.text() + ", round " + std::to_string(last));
    first = last + 1;
  }
}

/// The same for a method whose learners need not keep pace.
template <class Model>
void expect_follows_in_turns(const Fleet& fleet, Model& model, const Setting& setting) {
  const RuleOf rule = setting.rule();
  for (const Turn& turn : uneven_turns(fleet.learners())) {
    take_turn(fleet, turn, rule);
    model.round(turn.learner, rule(turn.round));
  }
  expect_equal(fleet, model, setting.text());
}

/// Expect that eight rounds of the fleet and of ssgd end alike, to rounding.
inline void expect_is_ssgd(const Fleet& fleet, const Setting& setting) {
  const Fleet twin(setting.learners, options_of(AveragingMethodName::ssgd));
  fleet.run(1, 8, setting.rule());
  twin.run(1, 8, setting.rule());
  const Doubles velocity = mean_of(InDouble(fleet).v);
  expect_close(fleet.z(), to_double(twin.z()), formula_tolerance, "z, " + setting.text());
  expect_close(twin.v(0), velocity, formula_tolerance, "v, " + setting.text());
}

/// What all learners' steps of rounds 1 to `last` come to, to be asked for before the
/// first. Without weight decay they do not depend on the weights, and so on no order.
inline Doubles sum_of_steps(const Fleet& fleet, std::int64_t last, const RuleOf& rule) {
  InDouble alone(fleet);
  Doubles sum(alone.z.size(), 0.0);
  for (int j = 0; j < fleet.learners(); ++j) {
    const Doubles& own = alone.w[static_cast<std::size_t>(j)];
    add_to(sum, -1, own);
    for (std::int64_t t = 1; t <= last; ++t) {
      alone.step(j, rule(t));
    }
    add_to(sum, 1, own);
  }
  return sum;
}

// ---- Stopping and going on
// ---------------------------------------------------------------

inline void expect_same_saved(const Fleet& a, const Fleet& b) {
  const NamedTensors of_a = a.saved_tensors(), of_b = b.saved_tensors();
  ASSERT_EQ(of_a.size(), of_b.size());
  for (const auto& [name, tensor] : of_a) {
    ASSERT_EQ(of_b.count(name), 1U) << name;
    expect_same_bits(tensor.values, of_b.at(name).values, "saved " + name);
  }
}

/// Make `fresh` go on where `saved` is after `round` rounds, as a run does that is
/// resumed.
inline void restore_from(const Fleet& saved, std::int64_t round, const Fleet& fresh) {
  for (int j = 0; j < saved.method->distinct_replicas(); ++j) {
    fresh.set(fresh.store.replica(j).w, saved.w(j));
    fresh.set(fresh.store.replica(j).v, saved.v(j));
  }
  fresh.method->restore(fresh.exec, saved.saved_tensors(), round);
}

// ---- Failures
// ----------------------------------------------------------------------------

/// Where a NaN comes from.
enum class BadPart { gradient, velocity, weights };

struct BadNumber {
  BadPart part = BadPart::gradient;
  int learner = 0;
  std::size_t place = 0;
};

/// A round of all learners in which one has a NaN; who said that the round was good.
inline std::vector<char> run_with(const BadNumber& bad,
                                  const Fleet& fleet,
                                  const RoundRule& rule) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Replica<Host> replica = fleet.store.replica(bad.learner);
  if (bad.part != BadPart::gradient) {
    (bad.part == BadPart::velocity ? replica.v : replica.w)(bad.place) = nan;
  }
  std::vector<char> good(static_cast<std::size_t>(fleet.learners()), 2);
  in_threads(fleet.learners(), [&](int j) {
    std::vector<float> g = gradient_of(fleet.layout, fleet.stream(j), rule.number);
    if (j == bad.learner && bad.part == BadPart::gradient) {
      g[bad.place] = nan;
    }
    const bool all_good = fleet.one_round(j, make_instance<Host>(1), rule, g);
    good[static_cast<std::size_t>(j)] = all_good ? 1 : 0;
  });
  return good;
}

inline void expect_finite(const std::vector<float>& values, const std::string& what) {
  std::size_t bad = 0;
  for (const float value : values) {
    bad += std::isfinite(value) ? 0 : 1;
  }
  EXPECT_EQ(bad, 0U) << "of " << values.size() << " numbers of " << what;
}

/// Two good rounds and a third with a NaN: who has it says so, and all that could be
/// tested or saved is finite.
inline void expect_bad_number_stays_out(const MethodOptions& options, BadPart part) {
  const RuleOf rule = averaging_every(options.averaging.period, nesterov_rule);
  for (const int learner : {0, 3}) {
    for (const std::size_t place : {std::size_t{0}, std::size_t{33000}}) {
      SCOPED_TRACE("learner " + std::to_string(learner) + ", place " +
                   std::to_string(place) + ", period " +
                   std::to_string(options.averaging.period));
      const Fleet fleet(4, options);
      fleet.run(1, 2, rule);
      const std::vector<char> good = run_with({part, learner, place}, fleet, rule(3));
      EXPECT_EQ(good[static_cast<std::size_t>(learner)], 0);
      expect_finite(fleet.z(), "z");
      for (const auto& [name, tensor] : fleet.saved_tensors()) {
        expect_finite(tensor.values, name);
      }
    }
  }
}

/// The last learner never comes to round `first`, and the others get stuck there or a few
/// rounds later; abort() must get them out.
inline void expect_abort_wakes(const Fleet& fleet,
                               std::int64_t first,
                               const RuleOf& rule) {
  const auto go_on = [&](int j) {
    const Host own_exec = make_instance<Host>(1);
    for (std::int64_t t = first; t < first + 12; ++t) {
      const auto g = gradient_of(fleet.layout, fleet.stream(j), t);
      fleet.one_round(j, own_exec, rule(t), g);
    }
  };
  in_threads(fleet.learners(), [&](int j) {
    if (j == fleet.learners() - 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      fleet.method->abort();
    } else {
      EXPECT_THROW(go_on(j), Aborted) << "learner " << j;
    }
  });
}

}  // namespace crossbow::testing
