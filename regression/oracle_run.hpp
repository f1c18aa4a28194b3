#pragma once
// A case of the oracle run by the program's own trainer: learner threads, overlap of
// averaging with learning, its schedule and stream of batches. Nothing of it is written
// anew here, so that what is compared is what trains.

#include <string>
#include <vector>

#include "kernels/spaces.hpp"

#include "driver/prepared_run.hpp"
#include "model/parameter_layout.hpp"
#include "regression/oracle_case.hpp"

namespace crossbow {

/// What a training made of a case.
struct OracleOutcome {
  std::vector<double> losses;  // (iterations, learners); NaN where a round is missing
  NamedTensors tensors;        // of the checkpoint at the end (TrainingState)
};

/// Make the run that the case's deck describes, for a training set of `samples`. Throws
/// Error(usage) where the program cannot run it, Error(data) where data are missing, or
/// batches or rates that the program would use are not the case's.
PreparedRun prepare_oracle_run(const OracleCase& oracle, std::int64_t samples);

/// Train `run`, which was prepared for `oracle`, with these kernels; blocks.
OracleOutcome run_oracle_case(const OracleCase& oracle,
                              const PreparedRun& run,
                              KernelSet kernels);

/// Throw Error(data) unless /order is the stream of batches in file order of a training
/// set of `samples`.
void check_order(const OracleCase& oracle, std::int64_t samples);

/// Throw Error(data) unless the rounds and rates of `options` are those of the case, to
/// 1e-6.
void check_rates(const OracleCase& oracle,
                 const TrainerOptions& options,
                 std::int64_t samples);

}  // namespace crossbow
