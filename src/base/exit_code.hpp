#pragma once
// The exit statuses of the program (README, "Exit status"). Scripts and Slurm's requeue
// rule depend on these numbers, so they never change meaning.

namespace crossbow {

enum class ExitCode : int {
  done = 0,
  internal_error = 1,
  usage = 2,     // command line or input deck
  data = 3,      // data set, checkpoint or another file
  numbers = 4,   // a NaN or Inf in training
  device = 5,    // device or collective
  requeue = 75,  // stopped by a signal or time limit after a checkpoint (EX_TEMPFAIL)
};

}  // namespace crossbow
