#pragma once
// Helpers of the tests of training: small made-up data, an observer that keeps what it is
// told, and runs in short.

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/testing.hpp"

#include "model/testing.hpp"
#include "training/trainer.hpp"

namespace crossbow::testing {

/// n images of 8x8 pixels in four classes: noise, and the label's quadrant brighter.
inline Dataset made_up_images(std::int64_t n, std::uint64_t seed = 1) {
  Dataset data;
  data.n = n;
  data.h = data.w = 8;
  data.c = 1;
  data.classes = 4;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto id = static_cast<std::uint64_t>(i);
    const auto label =
        static_cast<int>(random_below(seed, RandomPurpose::initialise, 1, id, 4));
    data.labels.push_back(label);
    for (int pixel = 0; pixel < 64; ++pixel) {
      const int quadrant = (pixel / 32) * 2 + (pixel % 8) / 4;
      const auto place = id * 64 + static_cast<std::uint64_t>(pixel);
      const float noise = random_uniform(seed, RandomPurpose::initialise, 2, place);
      const float value = 150 * noise + (quadrant == label ? 60.0F : 0.0F);
      data.images.push_back(static_cast<std::uint8_t>(value));
    }
  }
  return data;
}

/// A training and a test set with the usual scale.
struct MadeUpData {
  explicit MadeUpData(std::int64_t n_train, std::int64_t n_test = 20)
      : train_data(made_up_images(n_train, 1)), test_data(made_up_images(n_test, 2)) {}

  SampleSet train() const { return {train_data, scale}; }
  SampleSet test() const { return {test_data, scale}; }

  Dataset train_data, test_data;
  PixelScale scale = pixel_scale(0.35, 0.2);
};

/// Keeps what a training tells; delays learners and asks for a stop if wanted.
class Recorder : public TrainingObserver {
 public:
  /// Learner and its loss in a round.
  struct Round {
    int learner;
    std::int64_t t;
    double loss;
  };

  void round_done(int j, std::int64_t t, double loss) override {
    if (delay_seed > 0) {
      random_delay(delay_seed,
                   static_cast<std::uint64_t>(j),
                   static_cast<std::uint64_t>(t),
                   std::chrono::microseconds(400));
    }
    if (j == 0) {
      rounds_of_first_ = t;
    }
    const std::lock_guard lock(mutex_);
    rounds.push_back({j, t, loss});
  }
  bool stop_requested() override {
    return stop_after >= 0 && rounds_of_first_ >= stop_after;
  }
  bool checkpoint_requested() override {
    return save_after >= 0 && rounds_of_first_ >= save_after;
  }
  TestVerdict tested(const TestResult& result) override {
    tests.push_back(result);
    const auto n = static_cast<std::int64_t>(tests.size());
    return {n == tests_until_target, n == saved_test};
  }
  void not_bound() override { ++told_not_bound; }
  void checkpoint(TrainingState&& state) override {
    if (save_after >= 0) {
      save_after = rounds_of_first_ + save_distance;
    }
    state.unpack();
    checkpoints.push_back(std::move(state));
  }

  /// The mean loss of all batches of rounds first to last.
  double mean_loss(std::int64_t first, std::int64_t last) const {
    double sum = 0, count = 0;
    for (const Round& round : rounds) {
      if (round.t >= first && round.t <= last) {
        sum += round.loss;
        ++count;
      }
    }
    return sum / count;
  }

  std::uint64_t delay_seed = 0;          // 0: no delays
  std::int64_t stop_after = -1;          // rounds of learner 0; -1: never
  std::int64_t tests_until_target = -1;  // -1: not reached
  std::int64_t saved_test = -1;          // after which a checkpoint is wanted
  std::int64_t save_after = -1;          // rounds of learner 0; -1: as the schedule says
  std::int64_t save_distance = 1;        // rounds of learner 0 until the next is wanted

  int told_not_bound = 0;
  std::vector<Round> rounds;
  std::vector<TestResult> tests;
  std::vector<TrainingState> checkpoints;

 private:
  std::int64_t rounds_of_first_ = 0;
  std::mutex mutex_;
};

/// Few parameters, but a convolution, a pooling and two fused ReLUs.
inline ModelOptions small_network() {
  return model_of({convolution("conv", 4, 3),
                   layer(LayerType::relu),
                   pool(LayerType::max_pool, 2),
                   linear("fc1", 10),
                   layer(LayerType::relu),
                   linear("fc2", 4)});
}

/// With everything whose state or randomness a restart could lose.
inline ModelOptions network_with_memory() {
  return model_of({convolution("conv", 4, 3),
                   layer(LayerType::batch_norm, "bn"),
                   layer(LayerType::relu),
                   pool(LayerType::max_pool, 2),
                   dropout("drop", 0.3),
                   linear("fc", 4)});
}

inline ModelOptions logistic() {
  ModelOptions model;
  model.name = "logistic";
  return model;
}

/// sma with tau = period on k learners of 8 samples each; change what a test is about.
inline TrainerOptions sma_run(int k, std::int64_t period = 1) {
  TrainerOptions options;
  options.model = small_network();
  options.training.batch = 8;
  options.training.epochs = 2;
  options.optimizer.learning_rate = 0.05;
  options.optimizer.weight_decay = 0.001;
  options.averaging.period = period;
  options.learners = k;
  options.bind = false;
  return options;
}

inline TrainerOptions ssgd_run(int k) {
  TrainerOptions options = sma_run(k);
  options.averaging.method = AveragingMethodName::ssgd;
  return options;
}

/// Another method in the deck of sma_run.
inline TrainerOptions run_of(AveragingMethodName method, int k, std::int64_t period = 1) {
  TrainerOptions options = sma_run(k, period);
  options.averaging.method = method;
  options.averaging.local_from_epoch = 0.5;
  options.tree = star_of(method == AveragingMethodName::reference && k % 2 == 0 ? 2 : 1);
  return options;
}

inline TrainerOptions clipped(TrainerOptions options) {
  options.optimizer.gradient_clip = 0.5;
  options.optimizer.nesterov = true;
  return options;
}

/// The options of every kind of run that ends bitwise the same, with a name for messages.
inline std::vector<std::pair<std::string, TrainerOptions>> all_methods(int k) {
  using Name = AveragingMethodName;
  return {{"sma", sma_run(k)},
          {"sma, period 3", sma_run(k, 3)},
          {"sma, period never", sma_run(k, 0)},
          {"sma, clipped", clipped(sma_run(k))},
          {"easgd", run_of(Name::easgd, k)},
          {"ssgd", ssgd_run(k)},
          {"ssgd, clipped", clipped(ssgd_run(k))},
          {"local_sgd, period 3", run_of(Name::local_sgd, k, 3)},
          {"post_local_sgd, period 2", run_of(Name::post_local_sgd, k, 2)},
          {"polyak_ruppert", run_of(Name::polyak_ruppert, k)},
          {"reference, period 2", run_of(Name::reference, k, 2)}};
}

/// Those in which learners go at their own pace.
inline std::vector<std::pair<std::string, TrainerOptions>> asynchronous_methods(int k) {
  using Name = AveragingMethodName;
  return {{"easgd_async", run_of(Name::easgd_async, k)},
          {"easgd_async, period 3", run_of(Name::easgd_async, k, 3)},
          {"downpour", run_of(Name::downpour, k)},
          {"downpour, period 3", run_of(Name::downpour, k, 3)},
          {"hogwild", run_of(Name::hogwild, k)}};
}

/// A checkpoint after each round.
inline void checkpoint_each_round(TrainerOptions& options, const MadeUpData& data) {
  const std::int64_t batch = options.training.batch;
  const std::int64_t per_epoch = data.train_data.n / batch * batch;
  options.checkpoint_epochs =
      static_cast<double>(options.learners * batch) / static_cast<double>(per_epoch);
}

inline TrainingEnd run(const TrainerOptions& options,
                       const MadeUpData& data,
                       Recorder& recorder,
                       const TrainingState* state = nullptr) {
  return train<Kokkos::Serial>(options, data.train(), data.test(), state, recorder);
}

/// The state at the end of an undisturbed run.
inline TrainingState final_state(const TrainerOptions& options, const MadeUpData& data) {
  Recorder recorder;
  run(options, data, recorder);
  return recorder.checkpoints.back();
}

/// The initial weights of a run, as z.
inline NamedTensors initial_average(const TrainerOptions& options,
                                    const MadeUpData& data) {
  const Kokkos::Serial exec = test_instance<Kokkos::Serial>();
  const Network<Kokkos::Serial> network(
      exec, plan_for(options.model, data.train()), options_of(1, options.kernels));
  return initial_state(network.parameters(), network.statistics(), options.seed).tensors;
}

/// Everything that the future depends on is the same to the last bit.
inline void expect_same_state(const TrainingState& a, const TrainingState& b) {
  EXPECT_EQ(a.round, b.round);
  EXPECT_EQ(a.restart_pending, b.restart_pending);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.last_round_samples, b.last_round_samples);
  EXPECT_EQ(a.row_samples, b.row_samples);
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.loss_sums, b.loss_sums);
  ASSERT_EQ(a.tensors.size(), b.tensors.size());
  for (const auto& [name, tensor] : a.tensors) {
    ASSERT_EQ(b.tensors.count(name), 1U) << name;
    EXPECT_EQ(tensor.shape, b.tensors.at(name).shape) << name;
    expect_same_bits(tensor.values, b.tensors.at(name).values, name);
  }
}

/// What a row of the history says is the same, but for times.
inline void expect_same_row(const TestResult& a, const TestResult& b) {
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.rounds, b.rounds);
  EXPECT_EQ(a.rate, b.rate);
  EXPECT_EQ(a.learners, b.learners);
  EXPECT_EQ(a.train_loss, b.train_loss) << "round " << a.rounds;
  EXPECT_EQ(a.test_loss, b.test_loss) << "round " << a.rounds;
  EXPECT_EQ(a.test_accuracy, b.test_accuracy) << "round " << a.rounds;
}

inline void expect_same_rows(const std::vector<TestResult>& a,
                             const std::vector<TestResult>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    expect_same_row(a[i], b[i]);
  }
}

/// The largest |a - b| of all tensors under `prefix`, relative to the largest |b|.
inline double distance(const NamedTensors& a,
                       const NamedTensors& b,
                       const std::string& prefix) {
  double difference = 0, scale = 0;
  int compared = 0;
  for (const auto& [name, tensor] : b) {
    if (name.starts_with(prefix)) {
      ++compared;
      for (std::size_t i = 0; i < tensor.values.size(); ++i) {
        const double value = tensor.values[i];
        difference = std::fmax(difference, std::abs(a.at(name).values[i] - value));
        scale = std::fmax(scale, std::abs(value));
      }
    }
  }
  EXPECT_GT(compared, 0) << prefix;
  return difference / scale;
}

}  // namespace crossbow::testing
