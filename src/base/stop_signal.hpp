#pragma once
// Turns SIGINT, SIGTERM and SIGUSR1 into a request that the training loop reads between
// rounds, so that a batch job ends with a checkpoint. Who asks twice is let go at once.

#include <chrono>
#include <csignal>
#include <optional>

namespace crossbow {

/// While it lives, the three signals set a request instead of ending the program:
/// * the first one is kept and reported by `requested()`;
/// * a second SIGINT, or either later than `patience` after the first of SIGTERM and
///   SIGINT, ends the program at once with status 128 + signal (130, 143), nothing saved;
/// * a SIGTERM within `patience` of the first counts as the same request (Slurm sends it
///   to the step and to the process), and SIGUSR1 (Slurm's early warning) never ends the
///   program.
/// SIGXFSZ and SIGPIPE are ignored meanwhile, so that a file-size limit is an error of
/// the write, with a path, and a reader that goes away (`| head`) ends no training. Only
/// one may live at a time.
class StopSignal {
 public:
  explicit StopSignal(std::chrono::milliseconds patience = std::chrono::seconds(5));
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  StopSignal(StopSignal&&) = delete;
  StopSignal& operator=(StopSignal&&) = delete;

  /// Return the first signal received since the making, if any; never blocks.
  std::optional<int> requested() const;

 private:
  struct sigaction old_int_ = {};
  struct sigaction old_term_ = {};
  struct sigaction old_usr1_ = {};
  struct sigaction old_xfsz_ = {};
  struct sigaction old_pipe_ = {};
};

}  // namespace crossbow
