#pragma once
// How far a training is from the oracle's.

#include <string>

#include "regression/oracle_case.hpp"
#include "regression/oracle_run.hpp"

namespace crossbow {

/// The largest relative distance of a group of values and where it is. A NaN is larger
/// than every number.
struct OracleDistance {
  double value = 0;
  std::string place;  // "round 3, learner 0" or a tensor's name; empty: nothing differs

  void include(double distance, const std::string& where);
};

struct OracleDistances {
  OracleDistance loss;      // |difference| / max(|loss|, 1e-3)
  OracleDistance average;   // of z, L2 of a tensor's difference / max(L2 norm, 1e-3)
  OracleDistance replicas;  // of the w_j, likewise
};

inline constexpr double oracle_limit = 1e-4;

/// False also for NaN.
inline bool is_near(const OracleDistance& d) {
  return d.value <= oracle_limit;
}
inline bool is_near(const OracleDistances& d) {
  return is_near(d.loss) && is_near(d.average) && is_near(d.replicas);
}

/// Compare. Where a method keeps one set of weights for all learners, every w_j is it.
/// Throws Error(data) if the tensors of both are not the same.
OracleDistances distances(const OracleCase& oracle, const OracleOutcome& outcome);

/// Write "loss 1.2e-07 average 3.1e-07 replicas 4.0e-07".
std::string to_string(const OracleDistances& d);

/// Name the worst place of each distance that is over the limit: "loss of round 3,
/// learner 0; average/conv1.weight".
std::string far_places(const OracleDistances& d);

}  // namespace crossbow
