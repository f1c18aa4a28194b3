#include "training/evaluator.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;
using Host = Kokkos::Serial;

/// Logistic regression on made-up images with weights that know something.
class Logistic {
 public:
  explicit Logistic(std::int64_t n)
      : data(4, n),
        plan(plan_for(logistic(), data.test())),
        evaluator(exec, plan, data.test(), KernelSet::vendor, nullptr),
        weights_(initial_weights(evaluator.network().parameters(), 3)) {
    for (std::size_t c = 0; c < 4; ++c) {
      for (std::size_t pixel = 0; pixel < 64; ++pixel) {
        const std::size_t quadrant = (pixel / 32) * 2 + (pixel % 8) / 4;
        weights_.at("fc.weight").values[64 * c + pixel] += quadrant == c ? 0.1F : 0;
      }
    }
    const ParameterLayout& layout = evaluator.network().parameters();
    std::vector<float> vector(static_cast<std::size_t>(layout.size()));
    layout.pack(weights_, "", vector);
    w = std::make_unique<Array<Host>>(exec, vector);
  }

  /// Mean loss and accuracy in double.
  EvaluationResult truth() const {
    double loss = 0, correct = 0;
    const Dataset& d = data.test_data;
    for (std::size_t sample = 0; sample < d.labels.size(); ++sample) {
      std::vector<double> logits = to_double(weights_.at("fc.bias").values);
      double sum = 0, largest = -1e300;
      for (std::size_t c = 0; c < 4; ++c) {
        for (std::size_t i = 0; i < 64; ++i) {
          const double x =
              double{data.scale.scale} * d.images[64 * sample + i] + data.scale.shift;
          logits[c] += weights_.at("fc.weight").values[64 * c + i] * x;
        }
        sum += std::exp(logits[c]);
        largest = std::fmax(largest, logits[c]);
      }
      const double own = logits[static_cast<std::size_t>(d.labels[sample])];
      loss += std::log(sum) - own;
      correct += own == largest ? 1 : 0;
    }
    const auto n = static_cast<double>(d.labels.size());
    return {loss / n, correct / n};
  }

  Host exec = test_instance<Host>();
  MadeUpData data;
  NetworkPlan plan;
  Evaluator<Host> evaluator;
  std::unique_ptr<Array<Host>> w;

 private:
  NamedTensors weights_;
};

TEST(Evaluator, covers_the_whole_set_with_its_last_short_batch) {
  for (const std::int64_t n : {1, 2, 124, 125, 126, 127, 250, 251}) {
    Logistic model(n);
    std::vector<BlockResult> blocks(static_cast<std::size_t>(model.evaluator.blocks()));
    model.evaluator.run(model.exec, model.w->span(), {}, 0, 1, blocks);
    const EvaluationResult result = mean_of(blocks, n), truth = model.truth();
    EXPECT_NEAR(result.loss, truth.loss, 1e-5) << n;
    EXPECT_NEAR(result.accuracy, truth.accuracy, 1e-12) << n;
    EXPECT_TRUE(n < 100 || (truth.accuracy > 0.3 && truth.accuracy < 0.99))
        << truth.accuracy << " says too little";
  }
}

TEST(Evaluator, gives_the_same_bits_however_many_learners_test) {
  for (const std::int64_t n : {1, 127, 600}) {
    Logistic model(n);
    const auto count = static_cast<std::size_t>(model.evaluator.blocks());
    std::vector<BlockResult> alone(count);
    model.evaluator.run(model.exec, model.w->span(), {}, 0, 1, alone);
    const EvaluationResult expected = mean_of(alone, n);
    for (std::int64_t k = 2; k <= 7; ++k) {
      std::vector<BlockResult> shared(count);
      for (std::int64_t j = k - 1; j >= 0; --j) {
        model.evaluator.run(model.exec, model.w->span(), {}, j, k, shared);
      }
      EXPECT_EQ(mean_of(shared, n).loss, expected.loss) << k;
      EXPECT_EQ(mean_of(shared, n).accuracy, expected.accuracy) << k;
    }
  }
}

// With a rate of zero all learners test the weights of the seed.
TEST(Evaluator, a_training_tests_the_same_with_any_number_of_learners) {
  for (const std::int64_t n : {1, 127, 250}) {
    const MadeUpData data(50, n);
    std::vector<TestResult> results;
    for (const int k : {1, 2, 3}) {
      TrainerOptions options = ssgd_run(k);
      options.model = network_with_memory();
      options.optimizer.learning_rate = 0;
      options.training.epochs = 0.5;
      options.model.batch_norm.momentum = 0;  // statistics stay, too
      Recorder recorder;
      run(options, data, recorder);
      results.push_back(recorder.tests.back());
      EXPECT_EQ(results.back().test_loss, results.front().test_loss) << k << ", " << n;
      EXPECT_EQ(results.back().test_accuracy, results.front().test_accuracy) << k;
    }
  }
}

TEST(Evaluator, testing_changes_nothing) {
  const MadeUpData data(100, 130);
  for (auto& [name, options] : all_methods(2)) {
    SCOPED_TRACE(name);
    options.model = network_with_memory();
    options.training.test_every = 0;  // only at the end
    Recorder seldom, often;
    run(options, data, seldom);
    options.training.test_every = 1.0 / 6;  // each round
    run(options, data, often);
    EXPECT_EQ(seldom.tests.size(), 1U);
    EXPECT_GE(often.tests.size(), 12U);
    const NamedTensors &a = often.checkpoints.back().tensors,
                       &b = seldom.checkpoints.back().tensors;
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [tensor_name, tensor] : a) {
      expect_same_bits(tensor.values, b.at(tensor_name).values, tensor_name);
    }
    EXPECT_EQ(often.tests.back().test_loss, seldom.tests.back().test_loss);
  }
}

}  // namespace
}  // namespace crossbow
