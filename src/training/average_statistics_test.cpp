#include "training/average_statistics.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

TrainerOptions measured(TrainerOptions options, std::int64_t samples) {
  options.model = model_of(
      {layer(LayerType::batch_norm, "bn"), layer(LayerType::tanh), linear("fc", 4)});
  options.model.batch_norm.statistics = BatchNormStatistics::recompute;
  options.model.batch_norm.samples = samples;
  options.shuffle = false;
  return options;
}

double scaled(const MadeUpData& data, std::size_t pixel) {
  const double value = data.train_data.images[pixel];
  return double{data.scale.scale} * value + double{data.scale.shift};
}

/// Mean over the first batches of their means and unbiased variances: what PyTorch's
/// running statistics average. The first layer's input is the pixels, whatever the
/// weights.
std::vector<double> statistics_by_hand(const MadeUpData& data, int batch, int batches) {
  double mean_sum = 0, variance_sum = 0;
  const std::size_t n = static_cast<std::size_t>(batch) * 64;
  for (std::size_t b = 0; b < static_cast<std::size_t>(batches); ++b) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) {
      mean += scaled(data, b * n + i);
    }
    mean /= static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i) {
      const double x = scaled(data, b * n + i);
      variance += (x - mean) * (x - mean);
    }
    mean_sum += mean;
    variance_sum += variance / static_cast<double>(n - 1);
  }
  return {mean_sum / batches, variance_sum / batches};
}

TEST(AverageStatistics, are_measured_over_the_first_samples) {
  const MadeUpData data(100);
  for (const int k : {1, 2, 5}) {
    for (auto& [name, options] : all_methods(k)) {
      // 30 samples are 4 batches of 8; an epoch has 12.
      for (const auto& [samples, batches] :
           std::vector<std::pair<std::int64_t, int>>{{30, 4}, {1, 1}, {100000, 12}}) {
        SCOPED_TRACE(name + ", " + std::to_string(k) + " learners");
        const TrainerOptions run = measured(options, samples);
        const NamedTensors tensors = final_state(run, data).tensors;
        const std::vector<double> expected =
            statistics_by_hand(data, run.training.batch, batches);
        EXPECT_NEAR(tensors.at("average_statistics/bn.running_mean").values[0],
                    expected[0],
                    1e-5);
        EXPECT_NEAR(tensors.at("average_statistics/bn.running_variance").values[0],
                    expected[1],
                    1e-5);
      }
    }
  }
}

TEST(AverageStatistics, measuring_changes_no_replica) {
  const MadeUpData data(100);
  for (auto& [name, options] : all_methods(2)) {
    TrainerOptions recomputed = measured(options, 50);
    recomputed.training.test_every = 0.25;
    TrainerOptions averaged = recomputed;
    averaged.model.batch_norm.statistics = BatchNormStatistics::average;
    SCOPED_TRACE(name);
    const TrainingState a = final_state(recomputed, data);
    const TrainingState b = final_state(averaged, data);
    for (const auto& [tensor, values] : b.tensors) {
      if (!tensor.starts_with("average_statistics/")) {
        expect_same_bits(a.tensors.at(tensor).values, values.values, tensor);
      }
    }
  }
}

}  // namespace
}  // namespace crossbow
