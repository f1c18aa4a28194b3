#pragma once
// Decides how many learners a device has and how many threads each (DESIGN 2,
// "Auto-tuning of learners"). Knows no clock and no thread: it says which numbers are to
// be tried, is told how many images/s they made in each of several windows of time, and
// settles. Later it watches, and begins again after a drop that lasts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "averaging/averaging_options.hpp"
#include "training/learner_counts.hpp"

namespace crossbow {

struct TunerOptions {
  int cores = 1;            // of the device with the fewest; a GPU has 1
  int threads = 0;          // of each learner; 0: to be found
  int most = 1;             // learners on each device
  double threshold = 0.05;  // more learners must make so much more
  double share = 0.1;       // of a run that searching may take
};

/// What the tuner weighs the time of searching by [s].
struct TunerTime {
  double searched = 0;  // so far, by all searches
  double run = 0;       // of the whole run, as it goes now
};

enum class TunerStep { measured, no_room, settled, retune, kept };

/// Its name in tuner.csv.
std::string_view tuner_step_name(TunerStep step);

struct TunerDecision {
  TunerStep step = TunerStep::measured;
  LearnerCounts counts;          // that it is about
  double images_per_second = 0;  // median of the windows; 0: there was no room
  std::string reason;            // without commas
};

/// The search tries m = 1, 2, 4, ... learners that share the device's cores, on to as
/// many as cores, and beyond while that is faster; then between the best and its
/// neighbours; then fewer threads. The best are the fewest learners that make as many
/// images/s as any others, but for the threshold: k b samples a round is what statistical
/// efficiency depends on.
class AutoTuner {
 public:
  static constexpr int search_windows = 5;  // that a median is taken of
  static constexpr int watch_windows = 20;  // the same, once it has settled
  static constexpr int low_medians = 2;     // in a row: a drop that lasts

  /// Begin a search, or with what was settled on before, if it can still be had.
  explicit AutoTuner(const TunerOptions& options,
                     const std::optional<TunedLearners>& settled = {});

  /// What learners are to train with.
  LearnerCounts current() const { return current_; }
  bool is_searching() const { return searching_; }
  /// The last answer; none before the first.
  const std::optional<TunedLearners>& settled() const { return settled_; }

  /// The current numbers made so many images/s in one more window.
  void add_window(double images_per_second, const TunerTime& time);

  /// The current numbers cannot be had: there is not enough memory.
  void add_no_room(const TunerTime& time);
  /// Whether there is anything else to go on with then.
  bool has_others() const;

  /// What was decided since the last call, in order.
  std::vector<TunerDecision> take_decisions();

 private:
  struct Trial {
    LearnerCounts counts;
    double rate = 0;
    bool has_room = true;
  };

  int slots() const;  // learners that have cores of their own
  LearnerCounts on_line(int per_device) const;
  const Trial* find(const LearnerCounts& counts) const;
  void put(const Trial& trial);
  std::optional<Trial> best() const;
  std::optional<LearnerCounts> next() const;
  std::optional<LearnerCounts> next_doubled() const;
  std::optional<LearnerCounts> next_between() const;
  std::optional<LearnerCounts> next_with_fewer_threads() const;
  bool is_late(const TunerTime& time) const;
  void go_on(const TunerTime& time);
  void settle(const Trial& trial, const std::string& reason);
  void watch(const TunerTime& time);
  void begin_again(double rate, const TunerTime& time);
  void decide(TunerStep step,
              const LearnerCounts& counts,
              double rate,
              const std::string& reason);

  TunerOptions options_;
  std::optional<TunedLearners> settled_;
  LearnerCounts current_;
  bool searching_ = true;
  std::vector<Trial> trials_;  // of this search
  std::vector<double> rates_;  // windows of the current numbers
  int measured_ = 0;           // by all searches
  bool is_sure_ = false;       // of settled_'s rate: it is a median of many windows
  int lows_ = 0;               // medians in a row below it
  std::vector<TunerDecision> decisions_;
};

/// The most learners on each of `devices` that are no more than `maximum` in all (at
/// least one), and at which averaging stays stable for learners of momentum eta
/// (DESIGN 2.1).
int most_learners_per_device(const AveragingOptions& averaging,
                             double eta,
                             int devices,
                             int maximum);

}  // namespace crossbow
