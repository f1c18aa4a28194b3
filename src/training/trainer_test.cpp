// Properties of whole trainings (DESIGN section 2) that hold whatever the numbers are.

#include "training/trainer.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "data/batch_stream.hpp"
#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

// ---- Formulas
// ---------------------------------------------------------------------------

// With alpha k = 1 and mu = 0, z after round t is the mean of the s_j of round t, the
// replicas as round t - 1 left them.
TEST(Trainer, z_is_the_mean_of_the_replicas_before_if_alpha_k_is_one) {
  const MadeUpData data(100);
  for (const int k : {2, 3, 4}) {
    TrainerOptions options = sma_run(k);
    options.averaging.alpha_rule = AlphaRule::one_over_k;
    options.averaging.momentum = 0;
    checkpoint_each_round(options, data);
    Recorder recorder;
    const TrainingEnd end = run(options, data, recorder);
    ASSERT_EQ(static_cast<std::int64_t>(recorder.checkpoints.size()), end.rounds);
    for (std::size_t t = 1; t < recorder.checkpoints.size(); ++t) {
      const NamedTensors& before = recorder.checkpoints[t - 1].tensors;
      NamedTensors mean;
      for (const std::string name :
           {"conv.weight", "conv.bias", "fc1.weight", "fc2.bias"}) {
        NamedTensor& tensor = mean["average/" + name];
        tensor.values.resize(before.at("replica0/" + name).values.size());
        for (std::size_t i = 0; i < tensor.values.size(); ++i) {
          double sum = 0;
          for (int j = 0; j < k; ++j) {
            sum += before.at("replica" + std::to_string(j) + "/" + name).values[i];
          }
          tensor.values[i] = static_cast<float>(sum / k);
        }
      }
      EXPECT_LT(distance(recorder.checkpoints[t].tensors, mean, "average/"), 1e-6)
          << k << " learners, round " << t + 1;
    }
  }
}

/// Logistic regression by SGD with momentum and weight decay, in double.
class LogisticInDouble {
 public:
  LogisticInDouble(const MadeUpData& data, const TrainerOptions& o, const NamedTensors& z)
      : data_(data),
        o_(o),
        weight_(to_double(z.at("average/fc.weight").values)),
        bias_(to_double(z.at("average/fc.bias").values)),
        weight_velocity_(weight_.size(), 0.0),
        bias_velocity_(bias_.size(), 0.0) {}

  /// One step with the mean gradient of `samples`.
  void step(const std::vector<std::int64_t>& samples, double rate) {
    std::vector<double> dweight(weight_.size(), 0.0), dbias(bias_.size(), 0.0);
    for (const std::int64_t sample : samples) {
      const std::vector<double> p = probabilities(sample);
      for (std::size_t c = 0; c < 4; ++c) {
        const bool is_label = data_.train_data.labels[static_cast<std::size_t>(sample)] ==
                              static_cast<int>(c);
        const double d =
            (p[c] - (is_label ? 1 : 0)) / static_cast<double>(samples.size());
        dbias[c] += d;
        for (std::size_t i = 0; i < 64; ++i) {
          dweight[64 * c + i] += d * pixel(sample, i);
        }
      }
    }
    update(dweight, weight_velocity_, weight_, rate);
    update(dbias, bias_velocity_, bias_, rate);
  }

  NamedTensors tensors() const {
    NamedTensors tensors;
    tensors["average/fc.weight"].values.assign(weight_.begin(), weight_.end());
    tensors["average/fc.bias"].values.assign(bias_.begin(), bias_.end());
    return tensors;
  }

 private:
  double pixel(std::int64_t sample, std::size_t i) const {
    const double byte =
        data_.train_data.images[static_cast<std::size_t>(sample) * 64 + i];
    return byte * data_.scale.scale + data_.scale.shift;
  }

  std::vector<double> probabilities(std::int64_t sample) const {
    std::vector<double> p = bias_;
    double sum = 0;
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t i = 0; i < 64; ++i) {
        p[c] += weight_[64 * c + i] * pixel(sample, i);
      }
      p[c] = std::exp(p[c]);
      sum += p[c];
    }
    for (double& value : p) {
      value /= sum;
    }
    return p;
  }

  void update(const std::vector<double>& g,
              std::vector<double>& v,
              std::vector<double>& w,
              double rate) const {
    for (std::size_t i = 0; i < w.size(); ++i) {
      v[i] = o_.optimizer.momentum * v[i] + g[i] + o_.optimizer.weight_decay * w[i];
      w[i] -= rate * v[i];
    }
  }

  const MadeUpData& data_;
  const TrainerOptions& o_;
  std::vector<double> weight_, bias_, weight_velocity_, bias_velocity_;
};

/// Samples of the batches first to last of the stream: floor(N/b) batches an epoch.
std::vector<std::int64_t> samples_of(const TrainerOptions& o,
                                     std::int64_t n,
                                     std::int64_t first,
                                     std::int64_t last) {
  const std::int64_t b = o.training.batch, per_epoch = n / b;
  std::vector<std::int64_t> samples;
  for (std::int64_t batch = first; batch <= last; ++batch) {
    const auto order = epoch_permutation(n, o.seed, batch / per_epoch);
    const std::int64_t start = batch % per_epoch * b;
    samples.insert(samples.end(), order.begin() + start, order.begin() + start + b);
  }
  return samples;
}

/// Expect that all learners together make steps of SGD with batches k b of a stream of
/// batches b, whose rounds straddle epochs (50 samples are 6 batches of 8, and 2 over).
void expect_plain_sgd(TrainerOptions options) {
  const MadeUpData data(50);
  options.model = logistic();
  options.training.epochs = 5;
  options.optimizer.schedule = {SchedulePolicy::multistep, {2.5}, 0.3};  // sample 120
  Recorder recorder;
  const TrainingEnd end = run(options, data, recorder);
  LogisticInDouble truth(data, options, initial_average(options, data));
  for (std::int64_t t = 1; t <= end.rounds; ++t) {
    const std::int64_t k = options.learners, before = (t - 1) * k * 8;
    truth.step(samples_of(options, 50, (t - 1) * k, t * k - 1),
               before >= 120 ? 0.05 * 0.3 : 0.05);
  }
  EXPECT_LT(distance(recorder.checkpoints.back().tensors, truth.tensors(), "average/"),
            3e-6)
      << options.learners << " learners";
}

TEST(Trainer, sma_with_one_learner_and_period_never_is_plain_sgd) {
  expect_plain_sgd(sma_run(1, 0));
}

TEST(Trainer, ssgd_is_plain_sgd_with_the_batches_of_all_learners) {
  for (const int k : {1, 2, 4, 5}) {
    expect_plain_sgd(ssgd_run(k));
  }
}

// Also with dropout, whose mask belongs to the sample, and with a drop of the rate.
TEST(Trainer, ssgd_with_k_learners_is_one_learner_with_batch_k_b) {
  const MadeUpData data(96);
  for (const int k : {2, 3, 4}) {
    TrainerOptions several = ssgd_run(k);
    several.model.layers.insert(several.model.layers.begin() + 3, dropout("drop", 0.3));
    several.optimizer.schedule = {SchedulePolicy::multistep, {1}, 0.1};
    TrainerOptions one = several;
    one.learners = 1;
    one.training.batch = 8 * k;
    Recorder of_several, of_one;
    run(several, data, of_several);
    run(one, data, of_one);
    EXPECT_LT(distance(of_several.checkpoints.back().tensors,
                       of_one.checkpoints.back().tensors,
                       "average/"),
              3e-6)
        << k;
    EXPECT_LT(distance(of_several.checkpoints.back().tensors,
                       of_one.checkpoints.back().tensors,
                       "velocity0/"),
              1e-5)
        << k;
    ASSERT_EQ(of_several.tests.size(), of_one.tests.size());
    for (std::size_t i = 0; i < of_one.tests.size(); ++i) {
      EXPECT_NEAR(of_several.tests[i].train_loss, of_one.tests[i].train_loss, 1e-5);
      EXPECT_NEAR(of_several.tests[i].test_loss, of_one.tests[i].test_loss, 1e-5);
    }
  }
}

TEST(Trainer, all_start_from_the_weights_of_the_seed) {
  const MadeUpData data(50);
  for (int k = 1; k <= 3; ++k) {
    for (auto& [name, options] : all_methods(k)) {
      options.optimizer.learning_rate = 0;
      options.training.epochs = 0.1;
      const NamedTensors initial = initial_average(options, data);
      EXPECT_LT(distance(final_state(options, data).tensors, initial, "average/"), 1e-6)
          << name;
      options.seed = 2;
      EXPECT_GT(distance(final_state(options, data).tensors, initial, "average/"), 0.1)
          << name;
    }
  }
}

TEST(Trainer, statistics_of_z_are_the_mean_of_the_replicas) {
  const MadeUpData data(50);
  for (auto& [name, options] : all_methods(3)) {
    options.model = network_with_memory();
    const NamedTensors tensors = final_state(options, data).tensors;
    NamedTensors mean;
    for (const std::string part : {"bn.running_mean", "bn.running_variance"}) {
      NamedTensor& tensor = mean["average_statistics/" + part];
      tensor.values.assign(4, 0.0F);
      for (int j = 0; j < 3; ++j) {
        for (std::size_t i = 0; i < 4; ++i) {
          tensor.values[i] +=
              tensors.at("statistics" + std::to_string(j) + "/" + part).values[i] / 3;
        }
      }
    }
    EXPECT_LT(distance(tensors, mean, "average_statistics/"), 1e-6) << name;
    EXPECT_NE(tensors.at("statistics0/bn.running_mean").values,
              tensors.at("statistics1/bn.running_mean").values)
        << name << ": each learner has its own";
  }
}

TEST(Trainer, learns) {
  const MadeUpData data(400, 100);
  for (auto& [name, options] : all_methods(2)) {
    options.optimizer.learning_rate = 0.02;  // calm: any seed ends near 0.01
    options.training.epochs = 6;
    Recorder recorder;
    run(options, data, recorder);
    EXPECT_GT(recorder.tests.back().test_accuracy, 0.9) << name;
    EXPECT_LT(recorder.tests.back().train_loss, 0.2 * recorder.tests.front().train_loss)
        << name;
  }
}

// ---- Nothing depends on timing, threads or cores
// ------------------------------------------

TEST(Trainer, is_bitwise_the_same_whatever_the_delays) {
  const MadeUpData data(100, 130);
  for (auto& [name, options] : all_methods(3)) {
    SCOPED_TRACE(name);
    options.model = network_with_memory();
    options.training.test_every = 0.5;
    options.optimizer.schedule = {SchedulePolicy::multistep, {0.7}, 0.1};
    Recorder undisturbed;
    run(options, data, undisturbed);
    for (const std::uint64_t seed : {1, 2, 3}) {
      Recorder delayed;
      delayed.delay_seed = seed;
      run(options, data, delayed);
      expect_same_state(delayed.checkpoints.back(), undisturbed.checkpoints.back());
      expect_same_rows(delayed.tests, undisturbed.tests);
    }
  }
}

TEST(Trainer, learners_with_several_threads_learn_the_same) {
  const MadeUpData data(100);
  for (TrainerOptions options : {sma_run(2), ssgd_run(2)}) {
    options.training.epochs = 0.6;  // four rounds
    const TrainingState one_thread = final_state(options, data);
    options.threads = 2;
    Recorder recorder;
    train<Kokkos::OpenMP>(options, data.train(), data.test(), nullptr, recorder);
    EXPECT_LT(
        distance(recorder.checkpoints.back().tensors, one_thread.tensors, "average/"),
        1e-5);
  }
}

TEST(Trainer, more_learners_than_cores) {
  const MadeUpData data(200);
  for (auto& [name, options] : all_methods(11)) {
    options.model = logistic();
    Recorder recorder;
    recorder.delay_seed = 5;
    const TrainingEnd end = run(options, data, recorder);
    EXPECT_TRUE(end.finished) << name;
    EXPECT_EQ(end.rounds, 5) << name;  // 400 samples, 88 a round
    EXPECT_EQ(recorder.rounds.size(), 55U) << name;
  }
}

TEST(Trainer, says_where_learners_could_not_be_bound) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(3);
  options.training.epochs = 0.1;
  options.bind = true;
  options.placement.pus_of_learner = {{0}, {1}, {2}};  // of no machine that is known
  Recorder recorder;
  EXPECT_FALSE(run(options, data, recorder).bound);
  EXPECT_EQ(recorder.told_not_bound, 1) << "once, not for each learner";
  options.bind = false;
  Recorder unasked;
  EXPECT_TRUE(run(options, data, unasked).bound);
  EXPECT_EQ(unasked.told_not_bound, 0);
}

TEST(Trainer, kernel_sets_learn_the_same) {
  const MadeUpData data(50);
  TrainerOptions options = sma_run(2);
  options.kernels = KernelSet::reference;
  const TrainingState truth = final_state(options, data);
  for (const KernelSet kernels : {KernelSet::vendor, KernelSet::kokkos}) {
    options.kernels = kernels;
    const NamedTensors tensors = final_state(options, data).tensors;
    EXPECT_LT(distance(tensors, truth.tensors, "average/"), 1e-5);
    EXPECT_LT(distance(tensors, truth.tensors, "replica1/"), 1e-5);
  }
}

// ---- Errors
// -------------------------------------------------------------------------------

TEST(Trainer, a_batch_larger_than_the_data_is_an_input_error) {
  const MadeUpData data(7);
  Recorder recorder;
  try {
    run(sma_run(1), data, recorder);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
  }
}

TEST(Trainer, what_the_observer_throws_ends_the_run) {
  class Failing : public Recorder {
   public:
    void checkpoint(TrainingState&& /*state*/) override {
      throw Error(ExitCode::data, std::string("no space left"));
    }
  };
  const MadeUpData data(50);
  for (auto& [name, options] : all_methods(3)) {
    Failing recorder;
    try {
      run(options, data, recorder);
      ADD_FAILURE() << name << ": no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "no space left") << name;
      EXPECT_EQ(error.exit_code(), ExitCode::data) << name;
    }
  }
}

}  // namespace
}  // namespace crossbow
