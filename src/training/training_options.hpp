#pragma once
// What a deck says about training: [training], [optimizer], [learners], [autotune] and
// the rate's schedule.

#include <cstdint>
#include <optional>
#include <vector>

namespace crossbow {

enum class SchedulePolicy {
  fixed,
  multistep,
  step,
  exponential,
  inverse,
  polynomial,
  cosine
};

/// The learning rate as a function of epochs done (DESIGN 2, "Learning rate").
struct ScheduleOptions {
  SchedulePolicy policy = SchedulePolicy::fixed;
  std::vector<double> steps;  // multistep: boundaries [epochs]
  double gamma = 0.1;  // multistep, step, exponential: factor; inverse: coefficient
  double size = 1;     // step: from one boundary to the next [epochs]
  double power = 1;    // inverse, polynomial
  double minimum = 0;  // cosine: the rate at the end
  double warmup_epochs = 0;
  double warmup_factor = 0.1;  // of the rate at the start of the warm-up

  bool operator==(const ScheduleOptions&) const = default;
};

struct OptimizerOptions {
  double learning_rate = 0.01;
  double momentum = 0.9;
  bool nesterov = false;
  double weight_decay = 0;
  double gradient_clip = 0;  // largest norm of a learner's gradient; 0: any
  ScheduleOptions schedule;

  bool operator==(const OptimizerOptions&) const = default;
};

struct TrainingOptions {
  int batch = 32;         // samples per learner and round
  double epochs = 1;      // fractions allowed
  double test_every = 1;  // [epochs]; 0: only at the end
  std::optional<double> target_accuracy;
  double label_smoothing = 0;  // share of the target that all classes get

  bool operator==(const TrainingOptions&) const = default;
};

struct LearnerOptions {
  int per_device = 1;  // 0: "auto", what the auto-tuner finds
  int threads = 0;     // 0: "auto", the cores of the process divided among the learners
  int maximum = 0;     // that the auto-tuner may have in all; 0: "auto"

  bool is_tuned() const { return per_device == 0; }
  bool operator==(const LearnerOptions&) const = default;
};

/// How the auto-tuner measures.
struct AutotuneOptions {
  double threshold = 0.05;  // by which more learners must be faster
  double window = 0.1;      // [s]

  bool operator==(const AutotuneOptions&) const = default;
};

}  // namespace crossbow
