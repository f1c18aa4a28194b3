#include "averaging/ssgd.hpp"

#include <atomic>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "averaging/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

MethodOptions ssgd() {
  MethodOptions options;
  options.averaging.method = AveragingMethodName::ssgd;
  options.eta = 0.9;
  return options;
}

constexpr double tolerance = 1e-5;  // as for SMA

/// DESIGN 2.3 in double.
struct SsgdInDouble {
  explicit SsgdInDouble(const Fleet& fleet)
      : fleet(fleet), z(to_double(fleet.z())), v(to_double(fleet.v(0))) {}

  void round(const RoundRule& rule) {
    Doubles mean(z.size(), 0.0);
    for (int j = 0; j < fleet.learners(); ++j) {
      const auto g = gradient_of(fleet.layout, fleet.stream(j), rule.number);
      for (std::size_t i = 0; i < mean.size(); ++i) {
        mean[i] += double{g[i]} / fleet.learners();
      }
    }
    for (std::size_t i = 0; i < z.size(); ++i) {
      v[i] = double{rule.step.eta} * v[i] + mean[i] + double{rule.step.lambda} * z[i];
      z[i] -= double{rule.step.rate} * v[i];
    }
  }

  const Fleet& fleet;
  Doubles z, v;
};

TEST(Ssgd, follows_its_formula) {
  for (const int k : {1, 2, 3, 5}) {
    Fleet fleet(k, ssgd());
    SsgdInDouble model(fleet);
    for (const std::int64_t last : {1, 4, 12}) {
      const std::int64_t first = last == 1 ? 1 : (last == 4 ? 2 : 5);
      fleet.run(first, last, averaging_every(1));
      for (std::int64_t t = first; t <= last; ++t) {
        model.round(averaging_every(1)(t));
      }
      const std::string what =
          ", " + std::to_string(k) + " learners, round " + std::to_string(last);
      expect_close(fleet.z(), model.z, tolerance, "z" + what);
      expect_close(fleet.v(0), model.v, tolerance, "v" + what);
      expect_close(fleet.saved("average/"), model.z, tolerance, "saved z" + what);
    }
  }
}

TEST(Ssgd, all_learners_compute_with_z) {
  const Fleet fleet(3, ssgd());
  EXPECT_EQ(fleet.method->distinct_replicas(), 1);
  for (int j = 0; j < 3; ++j) {
    EXPECT_EQ(fleet.method->weights(j).data(), fleet.method->average().data());
  }
}

// Fewer cache lines of parameters than learners: some have no share of the step.
TEST(Ssgd, more_learners_than_parameters) {
  ParameterLayout layout;
  layout.add("a.bias", {3}, identity_layout(3));
  const Host exec = make_instance<Host>(1);
  const ReplicaStore<Host> store(exec, {5, layout.size(), 0});
  for (int j = 0; j < 5; ++j) {
    store.touch(exec, j);
  }
  const auto method = make_averaging_method(exec, ssgd(), store, layout);
  in_threads(5, [&](int j) {
    const Host own_exec = make_instance<Host>(1);
    const auto listener = method->make_listener(j, own_exec);
    store.replica(j).g(2) = static_cast<float>(j);  // mean 2
    listener->gradient_ready(0, 3);
    EXPECT_EQ(method->finish_round(j, own_exec, {1, {0.5F, 0.0F, 0.0F}, true}),
              RoundOutcome::good);
  });
  EXPECT_EQ(method->average()(0), 0.0F);
  EXPECT_EQ(method->average()(2), -1.0F);
}

TEST(Ssgd, is_bitwise_the_same_whatever_the_delays) {
  Fleet undisturbed(4, ssgd());
  undisturbed.run(1, 20, averaging_every(1));
  for (const std::uint64_t delay_seed : {1, 2, 3, 4}) {
    Fleet delayed(4, ssgd());
    delayed.run(1, 20, averaging_every(1), delay_seed);
    expect_same_bits(state_of(delayed), state_of(undisturbed));
  }
}

TEST(Ssgd, permuting_learners_leaves_z) {
  Fleet fleet(4, ssgd()), permuted(4, ssgd(), {2, 0, 3, 1});
  fleet.run(1, 10, averaging_every(1));
  permuted.run(1, 10, averaging_every(1));
  expect_close(permuted.z(), to_double(fleet.z()), 1e-6, "z");
}

TEST(Ssgd, continues_from_what_it_saved) {
  Fleet whole(3, ssgd()), interrupted(3, ssgd()), resumed(3, ssgd());
  whole.run(1, 9, averaging_every(1));
  interrupted.run(1, 4, averaging_every(1));
  const NamedTensors tensors = interrupted.saved_tensors();
  resumed.set(resumed.store.replica(0).w, interrupted.w(0));
  resumed.set(resumed.store.replica(0).v, interrupted.v(0));
  resumed.method->restore(resumed.exec, tensors, 4);
  resumed.run(5, 9, averaging_every(1));
  expect_same_bits(state_of(resumed), state_of(whole));
}

TEST(Ssgd, a_bad_gradient_of_any_learner_leaves_z_and_v_as_they_were) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const int k : {1, 3}) {
    for (int bad = 0; bad < k; ++bad) {
      for (const std::size_t place : {std::size_t{0}, std::size_t{33000}}) {
        Fleet fleet(k, ssgd());
        fleet.run(1, 2, averaging_every(1));
        const FleetState before = state_of(fleet);
        std::atomic<int> good{0};
        in_threads(k, [&](int j) {
          std::vector<float> g = gradient_of(fleet.layout, j, 3);
          if (j == bad) {
            g[place] = infinity;
          }
          const RoundRule rule = averaging_every(1)(3);
          good += fleet.one_round(j, make_instance<Host>(1), rule, g) ? 1 : 0;
        });
        EXPECT_EQ(good, 0) << "learner " << bad << " of " << k;
        expect_same_bits(state_of(fleet), before);
      }
    }
  }
}

TEST(Ssgd, abort_wakes_who_waits_for_a_learner_that_never_comes) {
  Fleet fleet(3, ssgd());
  std::atomic<int> aborted{0};
  in_threads(3, [&](int j) {
    if (j == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      fleet.method->abort();
      return;
    }
    try {
      const auto g = gradient_of(fleet.layout, j, 1);
      fleet.one_round(j, make_instance<Host>(1), averaging_every(1)(1), g);
    } catch (const Aborted&) {
      ++aborted;
    }
  });
  EXPECT_EQ(aborted, 2);
}

}  // namespace
}  // namespace crossbow
