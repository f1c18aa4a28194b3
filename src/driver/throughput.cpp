#include "driver/throughput.hpp"

#include <vector>

#include "base/median.hpp"
#include "base/scoped_timer.hpp"

#include "kernels/dispatch.hpp"

#include "averaging/averaging_traffic.hpp"

namespace crossbow {
namespace {

constexpr double endless = 1e6;               // [epochs]: the observer stops the run
constexpr double share_of_warm_up = 1.0 / 3;  // of a window

/// Lets a run warm up, then takes the rounds in a window of time, as learner 0 sees them:
/// where learners go at their own pace, those that others did count as well.
class ThroughputObserver final : public TrainingObserver {
 public:
  explicit ThroughputObserver(double window) : window_(window) {}

  void round_done(int j, std::int64_t t, double) override {
    if (j != 0 || rate_ > 0) {
      return;
    }
    const double seconds = watch_.seconds();
    if (is_warm_ && seconds >= window_) {
      rate_ = static_cast<double>(t - begin_) / seconds;
    } else if (!is_warm_ && seconds >= share_of_warm_up * window_) {
      is_warm_ = true;
      begin_ = t;
      watch_.restart();
    }
  }

  bool stop_requested() override { return rate_ > 0; }

  double rounds_per_second() const { return rate_; }

 private:
  double window_;
  bool is_warm_ = false;
  std::int64_t begin_ = 0;  // the window's first round
  Stopwatch watch_;
  double rate_ = 0;  // 0: not known yet
};

double rounds_per_second(const PreparedRun& run,
                         const TrainerOptions& options,
                         double window) {
  ThroughputObserver observer(window);
  with_space(options.threads, [&]<class Exec>() {
    return train<Exec>(options, run.training_set(), run.test_set(), nullptr, observer);
  });
  return observer.rounds_per_second();
}

/// The same learners, each by itself.
TrainerOptions left_alone(TrainerOptions options) {
  options.averaging = {};
  options.averaging.period = 0;
  return options;
}

std::optional<double> counted_bytes(const PreparedRun& run, const TrainerOptions& o) {
  const std::int64_t elements = parameter_count(plan_for(o.model, run.training_set()));
  return averaging_bytes(o.averaging, o.placement.learners_of_device(), elements);
}

}  // namespace

bool is_synchronised(const AveragingOptions& options) {
  return !is_asynchronous(options.method) &&
         (options.period > 0 || !has_own_weights(options.method));
}

TrainerOptions measured_options(TrainerOptions options, int batch) {
  options.training.batch = batch;
  options.training.epochs = endless;
  options.training.test_every = 0;
  options.checkpoint_epochs = 0;
  options.optimizer.learning_rate = 0;
  options.optimizer.schedule = {};
  return options;
}

Throughput measure_throughput(const PreparedRun& run,
                              const TrainerOptions& options,
                              const MeasuringTime& time) {
  const bool compares = is_synchronised(options.averaging);
  const TrainerOptions alone = left_alone(options);
  std::vector<double> rates, losses, seconds;
  for (int i = 0; i < time.windows; ++i) {
    rates.push_back(rounds_per_second(run, options, time.window));
    if (compares) {
      const double rate_alone = rounds_per_second(run, alone, time.window);
      losses.push_back(1 - rates.back() / rate_alone);
      seconds.push_back(1 / rates.back() - 1 / rate_alone);
    }
  }
  Throughput throughput{upper_median(rates), std::nullopt};
  if (compares) {
    throughput.synchronisation = {
        upper_median(losses), upper_median(seconds), counted_bytes(run, options)};
  }
  return throughput;
}

}  // namespace crossbow
