#pragma once
// When the batch job that a run is in will be ended by the queueing system (Slurm).

#include <ctime>
#include <optional>
#include <string>

namespace crossbow {

/// The time from `now` to `end` as `squeue -o %e` prints it (local time, e.g.
/// "2026-11-30T15:20:00") [s]; none for any other text: "NONE", "N/A", an error.
std::optional<double> seconds_until(const std::string& end, std::time_t now);

/// The time until Slurm ends this job [s], asked from `squeue`; none outside of a job,
/// for one without limit, and where squeue does not answer within ten seconds. Blocks.
std::optional<double> seconds_until_job_end();

/// When to stop a run that is ended after `seconds` [s]: early enough to save and to
/// leave. Half a minute before, or a quarter of a short time.
double stop_before(double seconds);

}  // namespace crossbow
