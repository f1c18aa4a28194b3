#include "training/step_profile.hpp"

#include <future>
#include <memory>
#include <numeric>
#include <string>

#include "base/median.hpp"
#include "base/scoped_timer.hpp"

#include "kernels/instance.hpp"

#include "averaging/averaging_method.hpp"
#include "training/first_failure.hpp"
#include "training/learner.hpp"
#include "training/state_transfer.hpp"
#include "training/trainer_setup.hpp"

namespace crossbow {
namespace {

constexpr int warm_up = 2;        // rounds of each kind before the first that counts
constexpr int fewest_rounds = 5;  // of each kind, however long they take

/// Learner 0 of `options` as a training with one learner on one device.
TrainerOptions alone(TrainerOptions options) {
  options.learners = 1;
  options.tree = ReductionTree();
  Placement& placement = options.placement;
  if (placement.learners() > 0) {
    placement.pus_of_learner.resize(1);
    placement.device_of_learner = {0};
  }
  return options;
}

/// Notes the time since the part before, part by part, in the order of a round.
template <class Exec>
class PartTimer final : public LayerObserver<Exec> {
 public:
  explicit PartTimer(const Exec& exec) : exec_(exec) {}

  void start() {
    part_ = 0;
    watch_.restart();
  }
  void forward_begins() override { note(); }
  void forward_done(const std::string&, ConstSpan<Exec>) override { note(); }
  void loss_done() override { note(); }
  void backward_done() override { note(); }

  /// The part that was under way is done.
  void note() {
    exec_.fence("crossbow::profile_step");
    if (part_ == seconds_.size()) {
      seconds_.emplace_back();
    }
    seconds_[part_++].push_back(watch_.restart());
  }

  void forget() { seconds_.clear(); }
  std::vector<double> medians() const {
    std::vector<double> medians;
    medians.reserve(seconds_.size());
    for (const std::vector<double>& part : seconds_) {
      medians.push_back(upper_median(part));
    }
    return medians;
  }

 private:
  Exec exec_;
  Stopwatch watch_;
  std::size_t part_ = 0;
  std::vector<std::vector<double>> seconds_;  // (parts, rounds)
};

/// A training with one learner, round by round.
template <class Exec>
class SingleLearner {
 public:
  SingleLearner(const TrainerOptions& o, const Exec& exec, const SampleSet& samples)
      : o_(o),
        exec_(exec),
        stream_(samples.data.n, o.training.batch, o.seed, o.shuffle),
        schedule_(schedule_input(o, stream_, {})),
        learner_(exec, plan_for(o.model, samples), network_options(o), samples, stream_),
        parameters_(learner_.network().parameters()),
        store_(exec, {1, parameters_.size(), learner_.network().statistics().size()}),
        method_(make_averaging_method(
            exec, method_options(o, schedule_), store_, parameters_)) {
    const ParameterLayout& statistics = learner_.network().statistics();
    const TrainingState state = initial_state(parameters_, statistics, o.seed);
    store_.touch(exec, 0);
    method_->touch(0, exec);
    place_replica(exec, {parameters_, statistics}, state, 0, store_.replica(0));
    method_->restore(exec, state.tensors, 0);
    bind();
  }

  /// The next round, its parts told to `timer` (none: nobody).
  void round(PartTimer<Exec>* timer) {
    const RoundPlan round = schedule_.plan(++t_);
    if (method_->begin_round(0, exec_, round.rule)) {
      bind();
    }
    learner_.compute_gradient(t_ - 1, listener_.get(), timer);
    if (o_.optimizer.gradient_clip > 0) {
      learner_.clip_gradient(o_.optimizer.gradient_clip);
    }
    const std::string bad = learner_.find_bad_forward();
    if (timer != nullptr) {
      timer->note();
    }
    const RoundOutcome outcome = method_->finish_round(0, exec_, round.rule);
    if (timer != nullptr) {
      timer->note();
    }
    if (!bad.empty() || outcome != RoundOutcome::good) {
      std::rethrow_exception(
          bad_number(bad.empty() ? "the step" : bad, "learner 0", round));
    }
  }

 private:
  void bind() {
    listener_ = method_->make_listener(0, exec_);
    learner_.bind(store_.replica(0), method_->weights(0));
  }

  const TrainerOptions& o_;
  Exec exec_;
  BatchStream stream_;
  RoundSchedule schedule_;
  Learner<Exec> learner_;
  const ParameterLayout& parameters_;
  ReplicaStore<Exec> store_;
  std::unique_ptr<AveragingMethod<Exec>> method_;
  std::unique_ptr<GradientListener> listener_;
  std::int64_t t_ = 0;
};

/// `parts`: data, layers forward, loss, layers backward from the last, check, update.
StepProfile profile_of(const std::vector<double>& parts, std::size_t layers) {
  StepProfile profile;
  profile.fill = parts[0];
  profile.loss = parts[layers + 1];
  profile.check = parts[2 * layers + 2];
  profile.update = parts[2 * layers + 3];
  for (std::size_t i = 0; i < layers; ++i) {
    profile.layers.push_back({parts[1 + i], parts[2 * layers + 1 - i]});
  }
  return profile;
}

template <class Exec>
StepProfile profile_alone(const TrainerOptions& o,
                          const SampleSet& samples,
                          double seconds) {
  settle_thread(o, 0);
  const Exec exec = make_instance<Exec>(o.threads);
  SingleLearner<Exec> learner(o, exec, samples);
  PartTimer<Exec> timer(exec);
  std::vector<double> rounds;
  Stopwatch in_all;
  for (int turn = 0; turn < warm_up + fewest_rounds || in_all.seconds() < seconds;
       ++turn) {
    if (turn == warm_up) {
      timer.forget();
      rounds.clear();
      in_all.restart();
    }
    const Stopwatch round;
    learner.round(nullptr);
    rounds.push_back(round.seconds());
    timer.start();
    learner.round(&timer);
  }
  StepProfile profile =
      profile_of(timer.medians(), plan_for(o.model, samples).layers.size());
  profile.rounds = static_cast<std::int64_t>(rounds.size());
  profile.round = upper_median(std::move(rounds));
  return profile;
}

}  // namespace

double StepProfile::sum() const {
  return std::accumulate(layers.begin(),
                         layers.end(),
                         fill + loss + check + update,
                         [](double sum, const LayerTime& layer) {
                           return sum + layer.forward + layer.backward;
                         });
}

template <class Exec>
StepProfile profile_step(const TrainerOptions& options,
                         const SampleSet& samples,
                         double seconds) {
  const TrainerOptions o = alone(options);
  // In a thread of its own, which stays on the learner's cores.
  return std::async(std::launch::async,
                    [&] { return profile_alone<Exec>(o, samples, seconds); })
      .get();
}

#define CROSSBOW_INSTANTIATE(Exec)         \
  template StepProfile profile_step<Exec>( \
      const TrainerOptions&, const SampleSet&, double);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
