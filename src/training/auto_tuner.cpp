#include "training/auto_tuner.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/contract.hpp"
#include "base/median.hpp"

namespace crossbow {
namespace {

/// Medians of few windows scatter: what counts as a drop is a multiple of the threshold.
constexpr double drop_from_many = 2, drop_from_few = 4;

std::string percent(double ratio) {
  return fmt::format("{:+.0f} %", 100 * (ratio - 1));
}

}  // namespace

std::string_view tuner_step_name(TunerStep step) {
  switch (step) {
    case TunerStep::measured:
      return "measured";
    case TunerStep::no_room:
      return "no room";
    case TunerStep::settled:
      return "settled";
    case TunerStep::retune:
      return "retune";
    case TunerStep::kept:
      return "kept";
  }
  return {};
}

AutoTuner::AutoTuner(const TunerOptions& options,
                     const std::optional<TunedLearners>& settled)
    : options_(options), current_(on_line(1)) {
  const auto can_be_had = [&](const TunedLearners& before) {
    return before.cores == options.cores && before.counts.per_device <= options.most &&
           (options.threads == 0 || options.threads == before.counts.threads);
  };
  if (settled.has_value() && can_be_had(*settled)) {
    settled_ = settled;
    current_ = settled->counts;
    searching_ = false;
  }
}

void AutoTuner::add_window(double images_per_second, const TunerTime& time) {
  rates_.push_back(images_per_second);
  if (!searching_) {
    watch(time);
    return;
  }
  if (static_cast<int>(rates_.size()) < search_windows) {
    return;
  }
  const double rate = upper_median(std::exchange(rates_, {}));
  const std::optional<Trial> before = best();
  const std::string reason = before.has_value()
                                 ? fmt::format("{} against {} learner(s) of {} thread(s)",
                                               percent(rate / before->rate),
                                               before->counts.per_device,
                                               before->counts.threads)
                                 : "the start";
  put({current_, rate});
  ++measured_;
  decide(TunerStep::measured, current_, rate, reason);
  go_on(time);
}

void AutoTuner::add_no_room(const TunerTime& time) {
  rates_.clear();
  put({current_, 0, false});
  decide(TunerStep::no_room, current_, 0, "not enough memory or threads");
  searching_ = true;
  go_on(time);
}

bool AutoTuner::has_others() const {
  const bool has_one_left = current_ != on_line(1) && find(on_line(1)) == nullptr;
  return has_one_left ||
         std::any_of(trials_.begin(), trials_.end(), [&](const Trial& trial) {
           return trial.has_room && trial.counts != current_;
         });
}

std::vector<TunerDecision> AutoTuner::take_decisions() {
  return std::exchange(decisions_, {});
}

int AutoTuner::slots() const {
  return options_.threads > 0 ? std::max(1, options_.cores / options_.threads)
                              : options_.cores;
}

/// So many learners with the cores divided among them.
LearnerCounts AutoTuner::on_line(int per_device) const {
  const int share = std::max(1, options_.cores / per_device);
  return {per_device, options_.threads > 0 ? options_.threads : share};
}

const AutoTuner::Trial* AutoTuner::find(const LearnerCounts& counts) const {
  const auto found = std::find_if(trials_.begin(), trials_.end(), [&](const Trial& each) {
    return each.counts == counts;
  });
  return found == trials_.end() ? nullptr : &*found;
}

void AutoTuner::put(const Trial& trial) {
  std::erase_if(trials_,
                [&](const Trial& before) { return before.counts == trial.counts; });
  trials_.push_back(trial);
}

/// The fewest learners that are as fast as any, but for the threshold; of as many the
/// fastest. None before anything has been measured.
std::optional<AutoTuner::Trial> AutoTuner::best() const {
  double fastest = 0;
  for (const Trial& each : trials_) {
    fastest = std::max(fastest, each.rate);
  }
  std::optional<Trial> best;
  for (const Trial& each : trials_) {
    const bool is_fast = each.has_room && each.rate * (1 + options_.threshold) >= fastest;
    const bool is_better =
        !best.has_value() || each.counts.per_device < best->counts.per_device ||
        (each.counts.per_device == best->counts.per_device && each.rate > best->rate);
    if (is_fast && is_better) {
      best = each;
    }
  }
  return best;
}

/// What is to be tried next; none when the search is at its end.
std::optional<LearnerCounts> AutoTuner::next() const {
  if (const auto doubled = next_doubled(); doubled.has_value()) {
    return doubled;
  }
  if (!best().has_value()) {
    return std::nullopt;
  }
  const auto between = next_between();
  return between.has_value() ? between : next_with_fewer_threads();
}

std::optional<LearnerCounts> AutoTuner::next_doubled() const {
  double fastest = 0;
  bool rises = true;
  for (int m = 1;;) {
    const Trial* trial = find(on_line(m));
    if (trial == nullptr) {
      return m <= slots() || rises ? std::optional(on_line(m)) : std::nullopt;
    }
    if (!trial->has_room || m >= options_.most) {
      return std::nullopt;  // where there is no room, there is none for more
    }
    rises = trial->rate > (1 + options_.threshold) * fastest;
    fastest = std::max(fastest, trial->rate);
    const int most = m < slots() ? std::min(slots(), options_.most) : options_.most;
    m = std::min(2 * m, most);
  }
}

/// The middle of the wider gaps beside the best: above it, then below it.
std::optional<LearnerCounts> AutoTuner::next_between() const {
  const int m = best()->counts.per_device;
  int below = m, above = m;
  for (const Trial& trial : trials_) {
    const int other = trial.counts.per_device;
    below = other < m && (below == m || other > below) ? other : below;
    above = other > m && (above == m || other < above) ? other : above;
  }
  for (const auto& [low, high] : {std::pair(m, above), std::pair(below, m)}) {
    const int gap = high - low;
    if (gap >= 2 && 4 * gap > m) {  // a quarter more or less hardly matters
      return on_line(low + gap / 2);
    }
  }
  return std::nullopt;
}

/// Half the threads, as long as that is the faster.
std::optional<LearnerCounts> AutoTuner::next_with_fewer_threads() const {
  LearnerCounts counts = best()->counts;
  counts.threads /= 2;
  const bool is_free = options_.threads == 0 && counts.threads > 0;
  return is_free && find(counts) == nullptr ? std::optional(counts) : std::nullopt;
}

/// Whether one trial more, as long as those so far, would take too much of the run.
bool AutoTuner::is_late(const TunerTime& time) const {
  const double each = measured_ > 0 ? time.searched / measured_ : 0;
  return time.searched + each > options_.share * time.run;
}

void AutoTuner::go_on(const TunerTime& time) {
  const std::optional<LearnerCounts> wanted = next();
  const std::optional<Trial> found = best();
  if (!found.has_value()) {
    CROSSBOW_EXPECT(wanted.has_value());  // has_others() has said so
    current_ = *wanted;
  } else if (!wanted.has_value()) {
    settle(*found,
           fmt::format("the fewest learners within {:g} % of the fastest",
                       100 * options_.threshold));
  } else if (is_late(time)) {
    settle(
        *found,
        fmt::format("the best so far: the time for tuning ({:g} % of the run) is spent",
                    100 * options_.share));
  } else {
    current_ = *wanted;
  }
}

void AutoTuner::settle(const Trial& trial, const std::string& reason) {
  current_ = trial.counts;
  settled_ = {trial.counts, trial.rate, options_.cores};
  searching_ = false;
  is_sure_ = false;
  lows_ = 0;
  decide(TunerStep::settled, trial.counts, trial.rate, reason);
}

void AutoTuner::watch(const TunerTime& time) {
  if (static_cast<int>(rates_.size()) < watch_windows) {
    return;
  }
  const double rate = upper_median(std::exchange(rates_, {}));
  const double drop = options_.threshold * (is_sure_ ? drop_from_many : drop_from_few);
  if (rate < (1 - drop) * settled_->images_per_second) {
    if (++lows_ == low_medians) {
      begin_again(rate, time);
    }
    return;
  }
  lows_ = 0;
  // Not the highest of all: the highest of many is high by chance.
  if (!is_sure_ || rate > (1 + drop) * settled_->images_per_second) {
    settled_->images_per_second = rate;
    is_sure_ = true;
  }
}

void AutoTuner::begin_again(double rate, const TunerTime& time) {
  const std::string reason = fmt::format("{} against what was settled on",
                                         percent(rate / settled_->images_per_second));
  lows_ = 0;
  settled_->images_per_second = rate;
  is_sure_ = true;
  if (is_late(time)) {
    decide(TunerStep::kept, current_, rate, reason + ": the time for tuning is spent");
    return;
  }
  decide(TunerStep::retune, current_, rate, reason);
  searching_ = true;
  trials_ = {{current_, rate}};
  go_on(time);
}

void AutoTuner::decide(TunerStep step,
                       const LearnerCounts& counts,
                       double rate,
                       const std::string& reason) {
  decisions_.push_back({step, counts, rate, reason});
}

int most_learners_per_device(const AveragingOptions& averaging,
                             double eta,
                             int devices,
                             int maximum) {
  int most = 1;
  while ((most + 1) * devices <= maximum &&
         !diverges(averaging, eta, (most + 1) * devices)) {
    ++most;
  }
  return most;
}

}  // namespace crossbow
