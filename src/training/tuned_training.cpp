#include "training/tuned_training.hpp"

#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "base/scoped_timer.hpp"

#include "kernels/dispatch.hpp"

#include "data/batch_stream.hpp"
#include "training/first_failure.hpp"
#include "training/round_schedule.hpp"
#include "training/trainer_setup.hpp"

namespace crossbow {
namespace {

/// A settled training is watched in longer windows than it was searched in.
constexpr double longer_watch = 5;

/// What is thrown where memory or threads are short: Kokkos and the vendors' libraries
/// have errors of their own, which only their texts tell from others.
bool is_of_resources(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const NoThread*>(&error) != nullptr) {
    return true;
  }
  const std::string_view text = error.what();
  return text.find("memory space failed to allocate") != std::string_view::npos ||
         text.find("out of memory") != std::string_view::npos;
}

/// Counts rounds in windows of time, of learner 0's clock. A test or a checkpoint divides
/// a window into pieces, and the round that it disturbs is in none; the first window of
/// all does not count.
class RateMeter {
 public:
  /// Learners begin: the first window warms up.
  void begin() {
    disturbed_ = true;
    warm_up_ = true;
    pieces_ = piece_ = {};
  }
  void disturb() {
    disturbed_ = true;
    pieces_.rounds += piece_.rounds;
    pieces_.seconds += piece_.seconds;
    piece_ = {};
  }
  /// Round t is done; return the rounds/s of a window that ends here, if one does.
  std::optional<double> round_done(std::int64_t t, double window) {
    if (disturbed_) {
      disturbed_ = false;
      start(t);
      return std::nullopt;
    }
    piece_ = {t - first_, watch_.seconds()};
    const std::int64_t rounds = pieces_.rounds + piece_.rounds;
    const double seconds = pieces_.seconds + piece_.seconds;
    // Learners that go at their own pace may do several batches of one round.
    if (seconds < window || rounds <= 0) {
      return std::nullopt;
    }
    const double rate = static_cast<double>(rounds) / seconds;
    pieces_ = {};
    start(t);
    return std::exchange(warm_up_, false) ? std::nullopt : std::optional(rate);
  }

 private:
  void start(std::int64_t t) {
    first_ = t;
    piece_ = {};
    watch_.restart();
  }

  struct Piece {
    std::int64_t rounds = 0;
    double seconds = 0;
  };

  bool disturbed_ = true, warm_up_ = true;
  std::int64_t first_ = 0;  // the round before the piece
  Piece pieces_, piece_;    // of the window: those that have ended, and the one under way
  Stopwatch watch_;
};

/// Stands between the trainer and the user's observer. What it knows is changed between
/// segments, by learner 0 between its rounds, or at rest: never by two at a time.
class TunedTraining final : public TrainingObserver {
 public:
  TunedTraining(const TuningSetup& setup,
                const SampleSet& training_set,
                const SampleSet& test_set,
                const TrainingState* state,
                TrainingObserver& user)
      : setup_(setup),
        training_set_(training_set),
        test_set_(test_set),
        user_(user),
        state_(state == nullptr ? std::nullopt : std::optional(*state)),
        tuner_(setup.tuner, state == nullptr ? std::nullopt : state->tuned) {}

  TrainingEnd run() {
    bool bound = true;
    for (;;) {
      std::optional<TrainingEnd> end = try_segment();
      if (!end.has_value()) {
        continue;  // with fewer learners
      }
      bound = bound && end->bound;
      if (end->finished || user_stops_) {
        end->bound = bound;
        return *std::move(end);
      }
    }
  }

  // ---- What the trainer tells
  // -----------------------------------------------------------

  void not_bound() override {
    if (!std::exchange(told_not_bound_, true)) {
      user_.not_bound();
    }
  }

  void round_done(int j, std::int64_t t, double loss) override {
    user_.round_done(j, t, loss);
    if (j != 0) {
      return;
    }
    if (!std::exchange(has_begun_, true)) {
      begin();
    }
    round_ = t;
    const double window = setup_.window * (tuner_.is_searching() ? 1 : longer_watch);
    if (const auto rate = meter_.round_done(t, window); rate.has_value()) {
      rate_ = *rate * static_cast<double>(samples_per_round());
      has_new_rate_ = true;
    }
  }

  void progress(const TrainingProgress& progress) override { user_.progress(progress); }

  bool stop_requested() override {
    user_stops_ = user_stops_ || user_.stop_requested();
    if (std::exchange(has_new_rate_, false) && !switches_) {
      let_decide([&] { tuner_.add_window(rate_, time()); });
      switches_ = tuner_.current() != running_;
    }
    return user_stops_ || switches_;
  }

  bool checkpoint_requested() override {
    const bool is_wanted = user_.checkpoint_requested();
    user_saves_ = user_saves_ || is_wanted;
    return is_wanted;
  }

  TestVerdict tested(const TestResult& result) override {
    const TestVerdict verdict = user_.tested(result);
    user_stops_ = user_stops_ || verdict.reached;
    user_saves_ = user_saves_ || verdict.save;
    meter_.disturb();
    restart_clock(result.seconds);
    return verdict;
  }

  void checkpoint(TrainingState&& state) override {
    meter_.disturb();
    state.tuned = tuner_.settled();
    const bool is_for_user =
        user_stops_ || user_saves_ || schedule_->plan(state.round).checkpoint;
    if (switches_) {
      restart_clock(state.seconds);
      if (!is_for_user) {
        state_ = std::move(state);
        return;
      }
      state_ = state;
    }
    if (is_for_user) {
      user_saves_ = false;
      user_.checkpoint(std::move(state));
    }
  }

 private:
  /// Train with what the tuner wants until it wants something else, or to an end; none if
  /// there was no room for that.
  std::optional<TrainingEnd> try_segment() {
    try {
      return segment();
    } catch (const std::exception& error) {
      if (has_begun_ || !is_of_resources(error) || !tuner_.has_others()) {
        throw;
      }
    }
    let_decide([&] { tuner_.add_no_room(time()); });
    return std::nullopt;
  }

  TrainingEnd segment() {
    has_begun_ = switches_ = has_new_rate_ = false;
    running_ = tuner_.current();
    meter_.begin();
    options_ = setup_.options_for(running_);
    const BatchStream stream(
        training_set_.data.n, options_.training.batch, options_.seed, options_.shuffle);
    go_on_from_state(stream);
    schedule_.emplace(schedule_input(options_, stream, start_));
    return with_space(options_.threads, [&]<class Exec>() {
      return train<Exec>(options_,
                         training_set_,
                         test_set_,
                         state_.has_value() ? &*state_ : nullptr,
                         *this);
    });
  }

  /// Learner 0 has done the first round of the segment.
  void begin() {
    if (state_.has_value()) {
      state_->tensors.clear();  // the trainer has a copy: learners need the memory
    }
    if (!options_.counts_setup) {
      restart_clock(seconds_);
    }
  }

  /// Where the segment starts. The time since the segment before is training, too.
  void go_on_from_state(const BatchStream& stream) {
    total_samples_ =
        options_.training.epochs * static_cast<double>(stream.samples_per_epoch());
    options_.counts_setup = is_later_;
    if (state_.has_value()) {
      state_ = in_this_stream(*std::move(state_), options_, stream);
      start_ = {state_->round, state_->samples, state_->last_round_samples};
      round_ = start_.round;
      state_->seconds = is_later_ ? clock_seconds() : state_->seconds;
    }
    restart_clock(state_.has_value() ? state_->seconds : 0);
    if (!is_later_) {
      search_began_ = seconds_;
    }
    is_later_ = true;
  }

  std::int64_t samples_per_round() const {
    return std::int64_t{options_.learners} * options_.training.batch;
  }
  std::int64_t samples() const {
    return start_.samples + (round_ - start_.round) * samples_per_round();
  }

  /// Seconds of training, tests excluded.
  double clock_seconds() const { return seconds_ + watch_.seconds(); }
  void restart_clock(double seconds) {
    seconds_ = seconds;
    watch_.restart();
  }

  double searched() const {
    return searched_ + (tuner_.is_searching() ? clock_seconds() - search_began_ : 0);
  }
  TunerTime time() const {
    const double left = total_samples_ - static_cast<double>(samples());
    return {searched(),
            rate_ > 0 ? clock_seconds() + left / rate_
                      : std::numeric_limits<double>::infinity()};
  }

  /// Let the tuner decide, keep account of its searches, and tell the user.
  template <class Change>
  void let_decide(Change change) {
    const bool was_searching = tuner_.is_searching();
    const double before = searched();
    change();
    if (was_searching && !tuner_.is_searching()) {
      searched_ = before;
    } else if (!was_searching && tuner_.is_searching()) {
      search_began_ = clock_seconds();
    }
    for (TunerDecision& decision : tuner_.take_decisions()) {
      TuningEvent event;
      event.round = round_;
      event.samples = samples();
      event.seconds = clock_seconds();
      event.searched = searched();
      event.learners = decision.counts.per_device * setup_.devices;
      event.decision = std::move(decision);
      user_.tuned(event);
    }
  }

  const TuningSetup& setup_;
  const SampleSet& training_set_;
  const SampleSet& test_set_;
  TrainingObserver& user_;
  std::optional<TrainingState> state_;  // that the segment starts from; none: the start
  AutoTuner tuner_;

  // Of the segment.
  LearnerCounts running_;
  TrainerOptions options_;
  TrainingStart start_;
  std::optional<RoundSchedule> schedule_;
  bool has_begun_ = false;  // a round is done
  bool switches_ = false;   // it ends because the tuner wants other numbers
  std::int64_t round_ = 0;  // that learner 0 has done
  RateMeter meter_;
  double rate_ = 0;  // of the last window [images/s]
  bool has_new_rate_ = false;

  bool is_later_ = false;    // not the first segment
  bool user_stops_ = false;  // by the user's observer
  bool user_saves_ = false;  // the next checkpoint is wanted by it
  bool told_not_bound_ = false;
  double total_samples_ = 0;
  double seconds_ = 0;  // of training, when watch_ was restarted
  Stopwatch watch_;
  double searched_ = 0, search_began_ = 0;
};

}  // namespace

TrainingEnd train_tuned(const TuningSetup& setup,
                        const SampleSet& training_set,
                        const SampleSet& test_set,
                        const TrainingState* state,
                        TrainingObserver& observer) {
  return TunedTraining(setup, training_set, test_set, state, observer).run();
}

}  // namespace crossbow
