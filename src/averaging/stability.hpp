#pragma once
// How large a step synchronous model averaging bears: on a quadratic of curvature h all
// of DESIGN 2.1 is linear, and stays bounded while no eigenvalue of a round is larger
// than 1. The run record prints the limit for the deck's options, so that a rate that can
// only diverge is seen as such.

#include <cstdint>

namespace crossbow {

/// What the limit depends on.
struct StabilityOptions {
  double eta = 0;           // momentum of the learners
  double mu = 0;            // momentum of z
  double alpha = 0;         // pull of the corrections
  int k = 1;                // learners
  std::int64_t period = 1;  // rounds between averagings; 0: never
  bool nesterov = false;    // of the learners
};

/// Give the largest gamma h (rate times curvature) up to which SMA stays stable: 0 if
/// even a tiny one is too much; with period 0 plain SGD's, 2 (1 + eta), or with
/// Nesterov's momentum 2 (1 + eta)/(1 + 2 eta).
double stability_limit(const StabilityOptions& options);

}  // namespace crossbow
