#include "averaging/sma.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "averaging/testing.hpp"
#include "averaging/testing_methods.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions sma(std::int64_t period, double mu) {
  MethodOptions options;
  options.averaging.method = AveragingMethodName::sma;
  options.averaging.period = period;
  options.averaging.momentum = mu;
  options.eta = 0.9;
  return options;
}

// A dozen rounds of about ten roundings each, of numbers below 10, partly cancelling.
constexpr double tolerance = 1e-5;

/// DESIGN 2.1 in double.
class SmaInDouble {
 public:
  SmaInDouble(const Fleet& fleet, double alpha, double mu)
      : fleet_(fleet), alpha_(alpha), mu_(mu) {
    for (int j = 0; j < fleet.learners(); ++j) {
      w.push_back(to_double(fleet.w(j)));
      v.push_back(to_double(fleet.v(j)));
    }
    z = to_double(fleet.saved("average/"));
    z_prev = to_double(fleet.saved("previous/"));
  }

  void round(const RoundRule& rule) {
    Doubles sum(z.size(), 0.0);
    for (std::size_t j = 0; j < w.size(); ++j) {
      const auto g =
          gradient_of(fleet_.layout, fleet_.stream(static_cast<int>(j)), rule.number);
      for (std::size_t i = 0; i < z.size(); ++i) {
        const double s = w[j][i];
        v[j][i] = double{rule.step.eta} * v[j][i] + g[i] + double{rule.step.lambda} * s;
        w[j][i] = s - double{rule.step.rate} * v[j][i];
        if (rule.averages) {
          const double c = alpha_ * (s - z[i]);
          w[j][i] -= c;
          sum[i] += c;
        }
      }
    }
    if (rule.averages) {
      const Doubles before = z;
      for (std::size_t i = 0; i < z.size(); ++i) {
        z[i] += sum[i] + mu_ * (before[i] - z_prev[i]);
      }
      z_prev = before;
    }
  }

  void rounds(std::int64_t first, std::int64_t last, const RuleOf& rule) {
    for (std::int64_t t = first; t <= last; ++t) {
      round(rule(t));
    }
  }

  void restart() {
    for (Doubles& replica : w) {
      replica = z;
    }
    z_prev = z;
  }

  std::vector<Doubles> w, v;
  Doubles z, z_prev;

 private:
  const Fleet& fleet_;
  double alpha_, mu_;
};

void expect_equal(const Fleet& fleet, const SmaInDouble& model, const std::string& what) {
  for (int j = 0; j < fleet.learners(); ++j) {
    const std::string of = " of " + std::to_string(j) + ", " + what;
    expect_close(fleet.w(j), model.w[static_cast<std::size_t>(j)], tolerance, "w" + of);
    expect_close(fleet.v(j), model.v[static_cast<std::size_t>(j)], tolerance, "v" + of);
  }
  expect_close(fleet.z(), model.z, tolerance, "z, " + what);
  expect_close(fleet.saved("average/"), model.z, tolerance, "saved z, " + what);
  expect_close(fleet.saved("previous/"), model.z_prev, tolerance, "z_prev, " + what);
}

TEST(Sma, follows_its_formula_whatever_the_period) {
  for (const int k : {1, 2, 3, 5}) {
    for (const std::int64_t period : {1, 3}) {
      Fleet fleet(k, sma(period, 0.5));
      SmaInDouble model(fleet, 1.0 / (k + 1), 0.5);
      const RuleOf rule = averaging_every(period);
      for (const std::int64_t last : {1, 3, 7, 11}) {
        const std::int64_t first = last == 1 ? 1 : (last == 3 ? 2 : last - 3);
        fleet.run(first, last, rule);
        model.rounds(first, last, rule);
        expect_equal(fleet,
                     model,
                     std::to_string(k) + " learners, period " + std::to_string(period) +
                         ", round " + std::to_string(last));
      }
    }
  }
}

TEST(Sma, takes_alpha_and_momentum_from_the_deck) {
  MethodOptions options = sma(1, 0.9);
  const RuleOf rule = averaging_every(1, {0.05F, 0.0F, 0.0F});
  options.averaging.alpha_rule = AlphaRule::number;
  options.averaging.alpha = 0.1;
  Fleet by_number(3, options);
  SmaInDouble model(by_number, 0.1, 0.9);
  by_number.run(1, 6, rule);
  model.rounds(1, 6, rule);
  expect_equal(by_number, model, "alpha 0.1");

  options.averaging.alpha_rule = AlphaRule::one_over_k;
  options.averaging.momentum.reset();  // "auto": 0.9 without momentum of the learners
  options.eta = 0;
  Fleet paper(3, options);
  SmaInDouble paper_model(paper, 1.0 / 3, 0.9);
  paper.run(1, 6, rule);
  paper_model.rounds(1, 6, rule);
  expect_equal(paper, paper_model, "alpha 1/k, momentum auto");
}

TEST(Sma, restart_sets_replicas_and_z_prev_to_z_and_keeps_velocities) {
  for (const std::int64_t period : {1, 3}) {
    Fleet fleet(3, sma(period, 0.9));
    SmaInDouble model(fleet, 0.25, 0.9);
    const RuleOf rule = averaging_every(period);
    for (const std::int64_t last : {3, 6, 9}) {
      fleet.run(last - 2, last, rule);
      model.rounds(last - 2, last, rule);
      fleet.method->restart(fleet.exec);
      model.restart();
      for (int j = 0; j < 3; ++j) {
        expect_same_bits(fleet.w(j), fleet.z(), "w after a restart");
      }
      expect_same_bits(fleet.saved("previous/"), fleet.z(), "z_prev after a restart");
      expect_equal(fleet, model, "after the restart of round " + std::to_string(last));
    }
  }
}

TEST(Sma, with_period_never_z_is_the_mean_of_untouched_replicas) {
  for (const int k : {1, 2, 5}) {
    Fleet fleet(k, sma(0, 0.5)), without_look(k, sma(0, 0.5));
    SmaInDouble model(fleet, 0, 0);  // nothing pulls, each learner for itself
    const RuleOf rule = averaging_every(0);
    for (const std::int64_t last : {2, 4}) {
      fleet.run(last - 1, last, rule);
      model.rounds(last - 1, last, rule);
      const FleetState before = state_of(fleet);
      fleet.method->collect(fleet.exec);
      Doubles mean(model.z.size(), 0.0);
      for (int j = 0; j < k; ++j) {
        const auto& w = model.w[static_cast<std::size_t>(j)];
        expect_close(fleet.w(j), w, tolerance, "w");
        expect_same_bits(
            fleet.w(j), before.w[static_cast<std::size_t>(j)], "collected w");
        expect_same_bits(
            fleet.v(j), before.v[static_cast<std::size_t>(j)], "collected v");
        for (std::size_t i = 0; i < mean.size(); ++i) {
          mean[i] += w[i] / k;
        }
      }
      expect_close(fleet.z(), mean, tolerance, "z");
      expect_close(fleet.saved("average/"), mean, tolerance, "saved z");
    }
    without_look.run(1, 4, rule);
    without_look.method->collect(without_look.exec);
    expect_same_bits(state_of(fleet), state_of(without_look));
  }
}

// With alpha k = 1 and mu = 0, z after round t is the mean of the s_j of round t.
TEST(Sma, z_is_the_mean_of_the_replicas_before_if_alpha_k_is_one) {
  for (const int k : {2, 3, 4}) {
    MethodOptions options = sma(1, 0);
    options.averaging.alpha_rule = AlphaRule::one_over_k;
    Fleet fleet(k, options);
    for (std::int64_t t = 1; t <= 5; ++t) {
      Doubles mean(static_cast<std::size_t>(fleet.layout.size()), 0.0);
      for (int j = 0; j < k; ++j) {
        const std::vector<float> s = fleet.w(j);
        for (std::size_t i = 0; i < mean.size(); ++i) {
          mean[i] += double{s[i]} / k;
        }
      }
      fleet.run(t, t, averaging_every(1));
      expect_close(fleet.z(), mean, 1e-6, "z after round " + std::to_string(t));
    }
  }
}

TEST(Sma, permuting_learners_permutes_replicas_and_leaves_z) {
  Fleet fleet(4, sma(1, 0.5)), permuted(4, sma(1, 0.5), {2, 0, 3, 1});
  fleet.run(1, 10, averaging_every(1));
  permuted.run(1, 10, averaging_every(1));
  expect_close(permuted.z(), to_double(fleet.z()), 1e-6, "z");
  for (int j = 0; j < 4; ++j) {
    expect_close(permuted.w(j), to_double(fleet.w(permuted.stream(j))), 1e-6, "w");
  }
}

TEST(Sma, is_bitwise_the_same_whatever_the_delays) {
  for (const std::int64_t period : {1, 3}) {
    Fleet undisturbed(4, sma(period, 0.5));
    undisturbed.run(1, 20, averaging_every(period));
    for (const std::uint64_t delay_seed : {1, 2, 3, 4}) {
      Fleet delayed(4, sma(period, 0.5));
      delayed.run(1, 20, averaging_every(period), delay_seed);
      expect_same_bits(state_of(delayed), state_of(undisturbed));
    }
  }
}

TEST(Sma, continues_from_what_it_saved) {
  for (const std::int64_t period : {1, 3}) {
    for (const std::int64_t stop : {1, 5, 6, 7}) {
      const RuleOf rule = averaging_every(period);
      Fleet whole(3, sma(period, 0.9)), interrupted(3, sma(period, 0.9));
      whole.run(1, 11, rule);
      interrupted.run(1, stop, rule);
      const NamedTensors tensors = interrupted.saved_tensors();
      Fleet resumed(3, sma(period, 0.9));
      for (int j = 0; j < 3; ++j) {
        resumed.set(resumed.store.replica(j).w, interrupted.w(j));
        resumed.set(resumed.store.replica(j).v, interrupted.v(j));
      }
      resumed.method->restore(resumed.exec, tensors, stop);
      expect_same_bits(resumed.z(), interrupted.z(), "z at the start");
      resumed.run(stop + 1, 11, rule);
      expect_same_bits(state_of(resumed), state_of(whole));
      expect_same_bits(resumed.saved("previous/"), whole.saved("previous/"), "z_prev");
    }
  }
}

// ---- Failures
// ----------------------------------------------------------------------------

/// Where a bad number is put: into the gradient, or into the weights and so into c.
enum class BadPart { gradient, correction };

struct BadNumber {
  int learner;
  BadPart part;
  std::size_t place;
  bool late;  // the bad learner comes last, else first
};

/// Two good rounds, then one where a learner has a bad number.
class FailingFleet {
 public:
  FailingFleet() : fleet_(3, sma(1, 0.5)) {
    for (std::int64_t t = 1; t <= 2; ++t) {
      fleet_.run(t, t, averaging_every(1));
      spans_.push_back(fleet_.method->average());
      values_.push_back(fleet_.z());
    }
  }

  void fail(const BadNumber& bad) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    if (bad.part == BadPart::correction) {
      fleet_.store.replica(bad.learner).w(bad.place) = nan;
    }
    std::vector<char> good(3, 2);
    in_threads(3, [&](int j) {
      std::vector<float> g = gradient_of(fleet_.layout, j, 3);
      if (j == bad.learner && bad.part == BadPart::gradient) {
        g[bad.place] = nan;
      }
      if ((j == bad.learner) == bad.late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      good[static_cast<std::size_t>(j)] =
          fleet_.one_round(j, make_instance<Host>(1), averaging_every(1)(3), g) ? 1 : 0;
    });
    for (int j = 0; j < 3; ++j) {
      const bool is_bad = j == bad.learner;
      EXPECT_EQ(good[static_cast<std::size_t>(j)], is_bad ? 0 : 1) << "learner " << j;
      EXPECT_EQ(fleet_.store.replica(j).not_finite(0), is_bad ? 1U : 0U) << j;
    }
  }

  /// The others go on for as long as they are let, two rounds at most.
  void let_the_others_go_on(int bad_learner) {
    in_threads(4, [&](int j) {
      if (j == 3) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        fleet_.method->abort();
      } else if (j != bad_learner) {
        EXPECT_THROW(go_on(j), Aborted);
      }
    });
  }

  /// z of the round before the failure and its z_prev are what they were.
  void expect_intact(const std::string& when) const {
    expect_same_bits(fleet_.get(spans_[1]), values_[1], "z " + when);
    expect_same_bits(fleet_.get(spans_[0]), values_[0], "z_prev " + when);
  }

 private:
  void go_on(int j) {
    const Host exec = make_instance<Host>(1);
    for (std::int64_t t = 4; t <= 5; ++t) {
      fleet_.one_round(j, exec, averaging_every(1)(t), gradient_of(fleet_.layout, j, t));
    }
  }

  Fleet fleet_;
  std::vector<Span<Host>> spans_;
  std::vector<std::vector<float>> values_;
};

TEST(Sma, a_bad_number_is_flagged_and_leaves_the_last_two_average_models) {
  for (int learner = 0; learner < 3; ++learner) {
    for (const BadPart part : {BadPart::gradient, BadPart::correction}) {
      for (const std::size_t place : {std::size_t{0}, std::size_t{33000}}) {
        for (const bool late : {false, true}) {
          SCOPED_TRACE("learner " + std::to_string(learner) + ", place " +
                       std::to_string(place) + (late ? ", late" : ", early"));
          FailingFleet fleet;
          fleet.fail({learner, part, place, late});
          fleet.expect_intact("after the bad round");
          fleet.let_the_others_go_on(learner);
          fleet.expect_intact("after the others went on");
        }
      }
    }
  }
}

TEST(Sma, a_bad_gradient_is_flagged_in_rounds_that_do_not_average) {
  Fleet fleet(2, sma(3, 0.5));
  std::vector<float> g = gradient_of(fleet.layout, 1, 1);
  g.back() = std::numeric_limits<float>::infinity();
  const RuleOf rule = averaging_every(3);
  EXPECT_TRUE(fleet.one_round(0, fleet.exec, rule(1), gradient_of(fleet.layout, 0, 1)));
  EXPECT_FALSE(fleet.one_round(1, fleet.exec, rule(1), g));
  EXPECT_TRUE(fleet.one_round(0, fleet.exec, rule(2), gradient_of(fleet.layout, 0, 2)));
}

// In one thread: whatever waited for the other learner would wait for ever. z is wanted
// in the next averaging round only, so that the sum of this one overlaps with learning
// until then.
TEST(Sma, a_learner_goes_on_before_the_others_have_come) {
  const Fleet each_round(2, sma(1, 0.5));
  take_turn(each_round, {0, 1}, averaging_every(1));
  take_turn(each_round, {1, 1}, averaging_every(1));
  const Fleet each_third(2, sma(3, 0.5));
  for (const std::int64_t t : {1, 2, 3, 4, 5}) {
    take_turn(each_third, {0, t}, averaging_every(3));
  }
}

}  // namespace
}  // namespace crossbow
