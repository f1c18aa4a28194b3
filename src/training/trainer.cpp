#include "training/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <exception>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/scoped_timer.hpp"
#include "base/wait.hpp"

#include "kernels/instance.hpp"

#include "averaging/averaging_method.hpp"
#include "model/host_transfer.hpp"
#include "training/average_statistics.hpp"
#include "training/evaluator.hpp"
#include "training/first_failure.hpp"
#include "training/learner.hpp"
#include "training/learner_threads.hpp"
#include "training/progress_board.hpp"
#include "training/progress_meter.hpp"
#include "training/restart.hpp"
#include "training/round_gate.hpp"
#include "training/round_schedule.hpp"
#include "training/state_transfer.hpp"
#include "training/trainer_setup.hpp"

namespace crossbow {
namespace {

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
        observer_(observer),
        plan_(plan_for(options.model, training_set)),
        stream_(
            training_set.data.n, options.training.batch, options.seed, options.shuffle),
        state_(state == nullptr ? TrainingState()
                                : in_this_stream(*state, options, stream_)),
        start_{state_.round, state_.samples, state_.last_round_samples},
        schedule_(schedule_input(options, stream_, start_)),
        gate_(options.learners, start_.round, schedule_.rounds()),
        rendezvous_(options.learners),
        board_(options.learners, {}),
        progress_(schedule_, options.learners, start_.round) {}

  TrainingEnd run() {
    run_learner_threads(
        o_.learners, [this](int j) { run_guarded(j); }, [this] { abort(); }, failure_);
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
    std::int64_t batch = 0;   // that comes next, where learners keep in step
    std::int64_t rested = 0;  // tests and checkpoints up to this round are done
  };

  void run_guarded(int j) {
    try {
      run_learner(j);
    } catch (const Aborted&) {
      // The learner that failed has said why.
      gate_.leave(j);
    } catch (...) {
      gate_.leave(j);
      failure_.add(j, board_.round(j) + 1, std::current_exception());
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
    for (;;) {
      const std::int64_t batch = next_batch(worker);
      const std::int64_t t = round_of(batch);
      if (!may_begin(worker, t)) {
        break;
      }
      const RoundPlan round = schedule_.plan(t);
      const RestartDecision restart = worker.restart.next_round(round.restart);
      if (restart.before_round) {
        restart_averaging(worker);
      }
      learn(worker, round, batch);
      if (restart.after_round) {
        restart_averaging(worker);
      }
      if (j == 0) {
        look_around(round);
      }
    }
    gate_.leave(j);
    rest_before_leaving(worker);
  }

  /// Learner j's batch of round t is number (t-1)k + j of the stream, from the start on;
  /// where learners go at their own pace, whichever is next: a slow learner takes fewer.
  std::int64_t next_batch(Worker& worker) {
    if (is_asynchronous(o_.averaging.method)) {
      return next_ticket_.fetch_add(1, std::memory_order_relaxed);
    }
    const std::int64_t batch = worker.batch;
    worker.batch += o_.learners;
    return batch;
  }

  std::int64_t first_batch() const { return start_.samples / o_.training.batch; }
  std::int64_t round_of(std::int64_t batch) const {
    return start_.round + (batch - first_batch()) / o_.learners + 1;
  }

  /// Whether round t is to be done. All learners rest after each round before it that
  /// tests or saves. Every learner comes here with growing t, so all meet after the same
  /// rounds, whatever their paces.
  bool may_begin(Worker& worker, std::int64_t t) {
    for (;;) {
      const std::int64_t scheduled = schedule_.next_rest(worker.rested, t);
      const GateAnswer answer = gate_.enter(worker.j, t, scheduled);
      if (answer.kind == GateAnswer::Kind::stop) {
        return false;
      }
      if (answer.kind == GateAnswer::Kind::go) {
        worker.rested = t - 1;
        return true;
      }
      // Whoever has failed by then need not wait for more.
      gate_.finish(worker.j, answer.round);
      rest(worker, schedule_.plan(answer.round));
      worker.rested = answer.round;
    }
  }

  Worker make_worker(int j) {
    if (!settle_thread(o_, j)) {
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
    method_->touch(worker.j, worker.exec);
    rendezvous_.arrive_and_wait();
    place_replica(worker.exec, layouts(), state_, worker.j, store_->replica(worker.j));
    worker.restart =
        AveragingRestart(restarts_averaging(o_.averaging), state_.restart_pending);
    worker.batch = first_batch() + worker.j;
    worker.rested = state_.round;
    rendezvous_.arrive_and_wait([&] {
      method_->restore(worker.exec, state_.tensors, state_.round);
      state_.tensors.clear();
      next_ticket_ = first_batch();
      if (!bound_) {
        observer_.not_bound();
      }
      if (!o_.counts_setup) {
        watch_.restart();
      }
      progress_.restart(state_.round);
    });
    bind_weights(worker);
  }

  void bind_weights(Worker& worker) {
    worker.listener = method_->make_listener(worker.j, worker.exec);
    worker.learner.bind(store_->replica(worker.j), method_->weights(worker.j));
  }

  void make_common(Worker& worker) {
    const Network<Exec>& network = worker.learner.network();
    parameters_ = network.parameters();
    statistics_ = network.statistics();
    if (state_.tensors.empty()) {
      state_ = initial_state(parameters_, statistics_, o_.seed);
    }
    state_.samples_per_epoch = stream_.samples_per_epoch();
    saved_round_ = state_.round;
    board_ = ProgressBoard(o_.learners, state_);
    const ReplicaSizes sizes{o_.learners, parameters_.size(), statistics_.size()};
    store_ = std::make_unique<ReplicaStore<Exec>>(worker.exec, sizes);
    average_statistics_ =
        std::make_unique<AverageStatistics<Exec>>(worker.exec,
                                                  o_.model.batch_norm,
                                                  sizes,
                                                  o_.training.batch,
                                                  stream_.batches_per_epoch());
    method_ = make_averaging_method(
        worker.exec, method_options(o_, schedule_), *store_, parameters_);
    blocks_.resize(static_cast<std::size_t>(worker.evaluator.blocks()));
  }

  /// One round of one learner.
  void learn(Worker& worker, const RoundPlan& round, std::int64_t batch) {
    const std::int64_t t = round.rule.number;
    if (method_->begin_round(worker.j, worker.exec, round.rule)) {
      bind_weights(worker);
    }
    const double loss = worker.learner.compute_gradient(batch, worker.listener.get());
    if (o_.optimizer.gradient_clip > 0) {
      worker.learner.clip_gradient(o_.optimizer.gradient_clip);
    }
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
    board_.done(worker.j, t, loss, worker.restart.pending());
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
    measure_statistics(worker);
    if (round.test) {
      worker.evaluator.run(worker.exec,
                           method_->average(),
                           average_statistics_->span(),
                           worker.j,
                           o_.learners,
                           blocks_);
    }
    rendezvous_.arrive_and_wait([&] {
      come_to(round.rule.number);
      state_.restart_pending = worker.restart.pending();
      const bool was_asked = gate_.take_rest(state_.round);
      const bool is_wanted = round.test && conclude_test(round);
      watch_.restart();  // tests are not training, checkpoints are
      if (round.checkpoint || was_asked || is_wanted || gate_.last() == state_.round) {
        save(worker);
      }
      progress_.restart(state_.round);
    });
  }

  /// At rest: so many rounds are done.
  void come_to(std::int64_t round) {
    state_.round = round;
    state_.samples = schedule_.samples_after(round);
    state_.last_round_samples = state_.samples - schedule_.samples_after(round - 1);
  }

  /// Whenever learners stop, what they have done is saved.
  void rest_before_leaving(Worker& worker) {
    rendezvous_.arrive_and_wait([&] {
      // All have done the rounds that the gate let in.
      const std::int64_t done = std::max(state_.round, gate_.last());
      if (done == saved_round_) {
        return;
      }
      if (done > state_.round) {
        state_.seconds += watch_.restart();
        come_to(done);
        state_.restart_pending = board_.restart_pending();
        prepare_average(worker.exec);
      }
      leaving_saves_ = true;
    });
    if (leaving_saves_) {
      measure_statistics(worker);
      rendezvous_.arrive_and_wait([&] { save(worker); });
    }
  }

  /// All learners together, where z's batch-norm statistics are not the mean of the
  /// replicas'.
  void measure_statistics(Worker& worker) {
    if (average_statistics_->is_measured()) {
      average_statistics_->measure(worker.learner, method_->average(), worker.j);
      rendezvous_.arrive_and_wait(
          [&] { average_statistics_->combine(worker.exec, *store_); });
    }
  }

  /// z and its batch-norm statistics, in buffers of its own.
  void prepare_average(const Exec& exec) {
    method_->collect(exec);
    if (!average_statistics_->is_measured()) {
      average_statistics_->average(exec, *store_);
    }
    CROSSBOW_VALIDATE(read_scalar<Exec>(exec, store_->average_not_finite()) == 0,
                      ExitCode::numbers,
                      {"the mean of the replicas is not finite",
                       fmt::format("after round {}", board_.round(0)),
                       "",
                       "Lower optimizer.learning_rate; the last checkpoint is as it was "
                       "before"});
  }

  /// Whether the observer wants what was tested saved.
  bool conclude_test(const RoundPlan& round) {
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
    result.train_loss = board_.take_mean_loss();
    result.test_loss = test.loss;
    result.test_accuracy = test.accuracy;
    result.images_per_second = static_cast<double>(result.samples - state_.row_samples) /
                               (state_.seconds - state_.row_seconds);
    state_.row_samples = result.samples;
    state_.row_seconds = state_.seconds;
    const TestVerdict verdict = observer_.tested(result);
    if (verdict.reached) {
      target_reached_ = true;
      gate_.stop();
    }
    return verdict.save;
  }

  ReplicaLayouts layouts() const { return {parameters_, statistics_}; }

  void save(Worker& worker) {
    TrainingState state = state_;
    state.losses = board_.losses();
    state.loss_sums = board_.loss_sums();
    collect_tensors<Exec>(
        worker.exec, layouts(), *store_, *method_, average_statistics_->span(), state);
    saved_round_ = state_.round;
    observer_.checkpoint(std::move(state));
  }

  /// Learner 0 between rounds: tell how it goes and hear whether to stop or save.
  void look_around(const RoundPlan& round) {
    if (observer_.stop_requested()) {
      gate_.stop();
    }
    if (observer_.checkpoint_requested()) {
      gate_.ask_for_rest();
    }
    if (progress_.is_due(round.rule.number)) {
      observer_.progress(progress_.look(round.rule.number, board_.last_loss(0)));
    }
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
    end.edges = method_->executed_edges();
    return end;
  }

  const TrainerOptions& o_;
  SampleSet training_set_, test_set_;
  TrainingObserver& observer_;
  NetworkPlan plan_;
  BatchStream stream_;
  TrainingState state_;  // changed at rest only
  TrainingStart start_;
  RoundSchedule schedule_;
  RoundGate gate_;
  Rendezvous rendezvous_;
  ProgressBoard board_;
  std::atomic<std::int64_t> next_ticket_{0};  // where learners go at their own pace
  std::atomic<bool> bound_{true};

  // Made by the last learner to be ready; afterwards changed at rest only.
  ParameterLayout parameters_, statistics_;
  std::int64_t saved_round_ = 0;  // of the newest checkpoint
  std::unique_ptr<ReplicaStore<Exec>> store_;
  std::unique_ptr<AveragingMethod<Exec>> method_;
  std::unique_ptr<AverageStatistics<Exec>> average_statistics_;
  bool leaving_saves_ = false;
  std::vector<BlockResult> blocks_;
  Stopwatch watch_;
  bool target_reached_ = false;
  ProgressMeter progress_;  // of learner 0, and at rest
  FirstFailure failure_;
};

}  // namespace

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
