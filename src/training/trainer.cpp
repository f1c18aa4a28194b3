#include "training/trainer.hpp"

#include <cmath>
#include <exception>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/scoped_timer.hpp"
#include "base/wait.hpp"

#include "kernels/instance.hpp"
#include "topology/thread_binding.hpp"

#include "averaging/averaging_method.hpp"
#include "model/host_transfer.hpp"
#include "training/evaluator.hpp"
#include "training/first_failure.hpp"
#include "training/learner.hpp"
#include "training/restart.hpp"
#include "training/round_gate.hpp"
#include "training/round_schedule.hpp"
#include "training/state_transfer.hpp"

namespace crossbow {
namespace {

ScheduleInput schedule_input(const TrainerOptions& o, const BatchStream& stream) {
  ScheduleInput input;
  input.training = o.training;
  input.optimizer = o.optimizer;
  input.averaging = o.averaging;
  input.checkpoint_epochs = o.checkpoint_epochs;
  input.learners = o.learners;
  input.samples_per_epoch = stream.samples_per_epoch();
  return input;
}

NetworkOptions network_options(const TrainerOptions& o) {
  NetworkOptions network;
  network.batch = o.training.batch;
  network.kernels = o.kernels;
  network.seed = o.seed;
  return network;
}

/// The system gives no thread to learner j.
std::exception_ptr no_thread(int j, const std::string& why) {
  return std::make_exception_ptr(
      Error(ExitCode::usage,
            {fmt::format("the thread of learner {} cannot be started", j),
             why,
             "",
             "Lower learners.per_device, or ask for a higher limit of processes"}));
}

template <class Exec>
class Training {
 public:
  Training(const TrainerOptions& options,
           const SampleSet& training_set,
           const SampleSet& test_set,
           const TrainingState* state,
           TrainingObserver& observer)
      : o_(options),
        training_set_(training_set),
        test_set_(test_set),
        given_(state),
        observer_(observer),
        plan_(plan_for(options.model, training_set)),
        stream_(
            training_set.data.n, options.training.batch, options.seed, options.shuffle),
        schedule_(schedule_input(options, stream_)),
        gate_(options.learners, state == nullptr ? 0 : state->round, schedule_.rounds()),
        rendezvous_(options.learners),
        progress_of_(static_cast<std::size_t>(options.learners)) {}

  TrainingEnd run() {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<std::size_t>(o_.learners));
    try {
      for (int j = 0; j < o_.learners; ++j) {
        threads.emplace_back([this, j] { run_guarded(j); });
      }
    } catch (const std::system_error& error) {
      failure_.add(0, 0, no_thread(static_cast<int>(threads.size()), error.what()));
      abort();
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    failure_.rethrow();
    return end();
  }

 private:
  /// What a learner's thread works with; built and used by that thread alone.
  struct Worker {
    int j = 0;
    Exec exec;
    Learner<Exec> learner;
    Evaluator<Exec> evaluator;
    std::unique_ptr<GradientListener> listener;
    AveragingRestart restart{false};
  };

  /// What a learner tells the others, read at rest. A cache line each.
  struct alignas(64) LearnerProgress {
    double loss_sum = 0;
    double last_loss = 0;
    std::int64_t round = 0;
    bool restart_pending = false;
  };

  void run_guarded(int j) {
    try {
      run_learner(j);
    } catch (const Aborted&) {
      // The learner that failed has said why.
      gate_.leave(j);
    } catch (...) {
      gate_.leave(j);
      failure_.add(j,
                   progress_of_[static_cast<std::size_t>(j)].round + 1,
                   std::current_exception());
      abort();
    }
  }

  void abort() {
    rendezvous_.abort();
    if (method_ != nullptr) {
      method_->abort();
    }
  }

  /// THE LOOP of one learner.
  void run_learner(int j) {
    Worker worker = make_worker(j);
    start(worker);
    for (std::int64_t t = state_.round + 1; gate_.enter(j, t); ++t) {
      const RoundPlan round = schedule_.plan(t);
      const RestartDecision restart = worker.restart.next_round(round.restart);
      if (restart.before_round) {
        restart_averaging(worker);
      }
      learn(worker, round);
      if (restart.after_round) {
        restart_averaging(worker);
      }
      if (round.test || round.checkpoint) {
        rest(worker, round);
      }
      if (j == 0) {
        look_around(round);
      }
    }
    rest_before_leaving(worker);
  }

  /// Keep the calling thread, learner j's, on its cores; false if that cannot be.
  bool bind(int j) const {
    return o_.topology != nullptr &&
           bind_this_thread(*o_.topology,
                            o_.placement.pus_of_learner[static_cast<std::size_t>(j)]);
  }

  Worker make_worker(int j) {
    set_thread_count(o_.threads);
    if (o_.bind && !bind(j)) {
      bound_ = false;
    }
    Exec exec = make_instance<Exec>(o_.threads);
    Learner<Exec> learner(exec, plan_, network_options(o_), training_set_, stream_);
    Evaluator<Exec> evaluator(
        exec, plan_, test_set_, o_.kernels, &learner.network().parameters());
    return {j, exec, std::move(learner), std::move(evaluator), nullptr};
  }

  /// Make the common memory and put the state in place, each learner its own part.
  void start(Worker& worker) {
    rendezvous_.arrive_and_wait([&] { make_common(worker); });
    store_->touch(worker.exec, worker.j);
    rendezvous_.arrive_and_wait();
    place_replica(worker.exec, layouts(), state_, worker.j, store_->replica(worker.j));
    worker.restart =
        AveragingRestart(restarts_averaging(o_.averaging), state_.restart_pending);
    worker.listener = method_->make_listener(worker.j, worker.exec);
    worker.learner.bind(store_->replica(worker.j), method_->weights(worker.j));
    rendezvous_.arrive_and_wait([&] {
      method_->restore(worker.exec, state_.tensors, state_.round);
      state_.tensors.clear();
      if (!bound_) {
        observer_.not_bound();
      }
      watch_.restart();
    });
  }

  void make_common(Worker& worker) {
    const Network<Exec>& network = worker.learner.network();
    parameters_ = network.parameters();
    statistics_ = network.statistics();
    state_ =
        given_ != nullptr ? *given_ : initial_state(parameters_, statistics_, o_.seed);
    saved_round_ = state_.round;
    progress_round_ = state_.round;
    state_.loss_sums.resize(static_cast<std::size_t>(o_.learners), 0.0);
    for (std::size_t j = 0; j < progress_of_.size(); ++j) {
      progress_of_[j].loss_sum = state_.loss_sums[j];
      progress_of_[j].round = state_.round;
      progress_of_[j].restart_pending = state_.restart_pending;
    }
    store_ = std::make_unique<ReplicaStore<Exec>>(
        worker.exec, ReplicaSizes{o_.learners, parameters_.size(), statistics_.size()});
    average_statistics_ = make_buffer(worker.exec,
                                      "crossbow::average_statistics",
                                      static_cast<std::size_t>(statistics_.size()));
    method_ = make_averaging_method(worker.exec,
                                    MethodOptions{o_.averaging, o_.optimizer.momentum},
                                    *store_,
                                    parameters_);
    blocks_.resize(static_cast<std::size_t>(worker.evaluator.blocks()));
  }

  /// One round of one learner.
  void learn(Worker& worker, const RoundPlan& round) {
    const std::int64_t t = round.rule.number;
    const std::int64_t batch = (t - 1) * o_.learners + worker.j;
    const double loss = worker.learner.compute_gradient(batch, worker.listener.get());
    std::string bad = worker.learner.find_bad_forward();
    const RoundOutcome outcome = method_->finish_round(worker.j, worker.exec, round.rule);
    if (outcome != RoundOutcome::good && bad.empty()) {
      bad = worker.learner.find_bad_gradient();
      if (bad.empty() && outcome == RoundOutcome::bad_here) {
        bad = "the correction or the step";
      }
    }
    if (outcome != RoundOutcome::good || !bad.empty()) {
      give_up(worker, round, bad);
    }
    gate_.finish(worker.j, t);
    LearnerProgress& progress = progress_of_[static_cast<std::size_t>(worker.j)];
    progress.loss_sum += loss;
    progress.last_loss = loss;
    progress.round = t;
    progress.restart_pending = worker.restart.pending();
    observer_.round_done(worker.j, t, loss);
  }

  /// The round has met a NaN or Inf, `bad` with this learner, or empty: with another one
  /// or in what all have together. Wait for the others to end the round, so that the
  /// lowest bad learner is named whatever the timing, and stop everybody.
  [[noreturn]] void give_up(const Worker& worker,
                            const RoundPlan& round,
                            const std::string& bad) {
    const std::int64_t t = round.rule.number;
    if (!bad.empty()) {
      failure_.add(
          worker.j, t, bad_number(bad, fmt::format("learner {}", worker.j), round));
    } else {
      // Counts only where no learner has a bad number of its own.
      failure_.add(o_.learners,
                   t,
                   bad_number("the step of all learners", "no learner alone", round));
    }
    gate_.stop_and_wait_for(worker.j, t);
    abort();
    throw Aborted();
  }

  void restart_averaging(Worker& worker) {
    rendezvous_.arrive_and_wait([&] { method_->restart(worker.exec); });
  }

  /// All learners rest after a round: test z and save, as the plan says.
  void rest(Worker& worker, const RoundPlan& round) {
    rendezvous_.arrive_and_wait([&] {
      state_.seconds += watch_.restart();
      prepare_average(worker.exec);
    });
    if (round.test) {
      worker.evaluator.run(worker.exec,
                           method_->average(),
                           as_span(average_statistics_),
                           worker.j,
                           o_.learners,
                           blocks_);
    }
    rendezvous_.arrive_and_wait([&] {
      state_.round = round.rule.number;
      state_.restart_pending = worker.restart.pending();
      if (round.test) {
        conclude_test(round);
      }
      if (round.checkpoint || gate_.last() == state_.round) {
        save(worker);
      }
      watch_.restart();
      progress_round_ = state_.round;
      progress_watch_.restart();
    });
  }

  /// Whenever learners stop, what they have done is saved.
  void rest_before_leaving(Worker& worker) {
    rendezvous_.arrive_and_wait([&] {
      const LearnerProgress& progress = progress_of_.front();
      if (progress.round == saved_round_) {
        return;
      }
      if (progress.round > state_.round) {
        state_.seconds += watch_.restart();
        state_.round = progress.round;
        state_.restart_pending = progress.restart_pending;
        prepare_average(worker.exec);
      }
      save(worker);
    });
  }

  /// z and its batch-norm statistics, in buffers of its own.
  void prepare_average(const Exec& exec) {
    method_->collect(exec);
    if (statistics_.size() > 0) {
      scaled_sum<Exec>(exec,
                       1.0F / static_cast<float>(o_.learners),
                       store_->all_statistics(),
                       as_span(average_statistics_),
                       store_->average_not_finite());
      exec.fence("crossbow::average_statistics");
    }
    CROSSBOW_VALIDATE(read_scalar<Exec>(exec, store_->average_not_finite()) == 0,
                      ExitCode::numbers,
                      {"the mean of the replicas is not finite",
                       fmt::format("after round {}", progress_of_.front().round),
                       "",
                       "Lower optimizer.learning_rate; the last checkpoint is as it was "
                       "before"});
  }

  void conclude_test(const RoundPlan& round) {
    const std::int64_t t = round.rule.number;
    const EvaluationResult test = mean_of(blocks_, test_set_.data.n);
    CROSSBOW_VALIDATE(
        std::isfinite(test.loss),
        ExitCode::numbers,
        {"the test loss of the average model is not finite",
         fmt::format("round {}, learning rate {:g}", t, round.rate),
         "",
         "Lower optimizer.learning_rate; the last checkpoint is as it was before"});
    TestResult result;
    result.epoch = schedule_.epochs_after(t);
    result.samples = schedule_.samples_after(t);
    result.rounds = t;
    result.seconds = state_.seconds;
    result.rate = round.rate;
    result.learners = o_.learners;
    result.train_loss = take_train_loss(t);
    result.test_loss = test.loss;
    result.test_accuracy = test.accuracy;
    const auto samples =
        static_cast<double>(result.samples - schedule_.samples_after(state_.row_round));
    result.images_per_second = samples / (state_.seconds - state_.row_seconds);
    state_.row_round = t;
    state_.row_seconds = state_.seconds;
    if (observer_.tested(result)) {
      target_reached_ = true;
      gate_.stop();
    }
  }

  ReplicaLayouts layouts() const { return {parameters_, statistics_}; }

  double take_train_loss(std::int64_t t) {
    double sum = 0;
    for (LearnerProgress& progress : progress_of_) {
      sum += progress.loss_sum;
      progress.loss_sum = 0;
    }
    return sum / static_cast<double>((t - state_.row_round) * o_.learners);
  }

  void save(Worker& worker) {
    TrainingState state = state_;
    for (std::size_t j = 0; j < progress_of_.size(); ++j) {
      state.loss_sums[j] = progress_of_[j].loss_sum;
    }
    collect_tensors<Exec>(
        worker.exec, layouts(), *store_, *method_, as_span(average_statistics_), state);
    saved_round_ = state_.round;
    observer_.checkpoint(std::move(state));
  }

  /// Learner 0 between rounds: tell how it goes and hear whether to stop.
  void look_around(const RoundPlan& round) {
    if (observer_.stop_requested()) {
      gate_.stop();
    }
    const double since = progress_watch_.seconds();
    if (since < 0.25) {
      return;
    }
    const std::int64_t t = round.rule.number;
    TrainingProgress progress;
    progress.epoch = schedule_.epochs_after(t);
    progress.epochs = schedule_.epochs_after(schedule_.rounds());
    progress.learners = o_.learners;
    progress.loss = progress_of_.front().last_loss;
    progress.images_per_second =
        static_cast<double>(schedule_.samples_after(t) -
                            schedule_.samples_after(progress_round_)) /
        since;
    progress.seconds_left =
        static_cast<double>(schedule_.samples_after(schedule_.rounds()) -
                            schedule_.samples_after(t)) /
        progress.images_per_second;
    progress_round_ = t;
    progress_watch_.restart();
    observer_.progress(progress);
  }

  TrainingEnd end() const {
    TrainingEnd end;
    end.rounds = state_.round;
    end.samples = schedule_.samples_after(state_.round);
    end.epochs = schedule_.epochs_after(state_.round);
    end.seconds = state_.seconds;
    end.target_reached = target_reached_;
    end.finished = target_reached_ || state_.round >= schedule_.rounds();
    end.bound = bound_;
    return end;
  }

  const TrainerOptions& o_;
  SampleSet training_set_, test_set_;
  const TrainingState* given_;
  TrainingObserver& observer_;
  NetworkPlan plan_;
  BatchStream stream_;
  RoundSchedule schedule_;
  RoundGate gate_;
  Rendezvous rendezvous_;
  std::vector<LearnerProgress> progress_of_;
  std::atomic<bool> bound_{true};

  // Made by the last learner to be ready; afterwards changed at rest only.
  ParameterLayout parameters_, statistics_;
  TrainingState state_;
  std::int64_t saved_round_ = 0;  // of the newest checkpoint
  std::unique_ptr<ReplicaStore<Exec>> store_;
  std::unique_ptr<AveragingMethod<Exec>> method_;
  Buffer<Exec> average_statistics_;
  std::vector<BlockResult> blocks_;
  Stopwatch watch_;
  bool target_reached_ = false;

  // Of learner 0.
  Stopwatch progress_watch_;
  std::int64_t progress_round_ = 0;

  FirstFailure failure_;
};

}  // namespace

NetworkPlan plan_for(const ModelOptions& options, const SampleSet& samples) {
  const Dataset& d = samples.data;
  return plan_network(options, {d.h, d.w, d.c}, d.classes);
}

template <class Exec>
TrainingEnd train(const TrainerOptions& options,
                  const SampleSet& training_set,
                  const SampleSet& test_set,
                  const TrainingState* state,
                  TrainingObserver& observer) {
  return Training<Exec>(options, training_set, test_set, state, observer).run();
}

#define CROSSBOW_INSTANTIATE(Exec)                        \
  template TrainingEnd train<Exec>(const TrainerOptions&, \
                                   const SampleSet&,      \
                                   const SampleSet&,      \
                                   const TrainingState*,  \
                                   TrainingObserver&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
