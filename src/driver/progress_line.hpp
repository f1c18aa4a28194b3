#pragma once
// How a run shows itself: one line that is written over on a terminal, plain lines
// otherwise.

#include <string>

#include "base/scoped_timer.hpp"

#include "training/training_observer.hpp"

namespace crossbow {

class ProgressLine {
 public:
  ProgressLine();

  /// On a terminal show it at once; elsewhere a line every half minute.
  void show(const TrainingProgress& progress);
  /// Print a line that stays.
  void print(const std::string& line);

 private:
  bool terminal_;
  bool shown_ = false;
  Stopwatch since_plain_line_;
};

}  // namespace crossbow
