#pragma once
// A trajectory of the oracle (regression/README.md): the parameters of a training, the
// weights that it starts from, and what an independent program in float64 made of it.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace crossbow {

/// A tensor in exchange layout.
struct OracleTensor {
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};
using OracleTensors = std::map<std::string, OracleTensor>;  // by <layer>.<tensor>

struct OracleCase {
  std::string name;  // the file's, without folder and ending
  std::string path;

  std::string layers;  // [[model.layer]] tables of a deck
  std::string method;
  std::int64_t seed = 0, iterations = 1, learners = 1, batch = 1, period = 1;
  std::int64_t devices = 1;  // with learners/devices learners each, in order
  std::int64_t drop_at = 0;  // first iteration with rate * drop; 0: never
  double rate = 0, drop = 0, momentum = 0, weight_decay = 0;
  double alpha = 0, averaging_momentum = 0;
  bool restart = true;

  std::vector<std::int32_t> order;      // (iterations, learners, batch): samples, from 0
  std::vector<double> losses;           // (iterations, learners): before the step
  std::vector<double> rates;            // (iterations)
  OracleTensors initial;                // of z and every replica
  OracleTensors average;                // z after the last iteration
  std::vector<OracleTensors> replicas;  // (learners): w_j after the last iteration
};

/// Read the file `path`; each of `changes`, "attribute=value", takes the place of what
/// the file says. Throws Error(data) if it is no file of the oracle or its parts do not
/// fit together, Error(usage) for a change that cannot be made.
OracleCase read_oracle_case(const std::string& path,
                            const std::vector<std::string>& changes);

/// The data set that all cases train on, by its name in a deck.
inline constexpr const char* oracle_data = "fashion-mnist";

/// Write the deck of `oracle` for a training set of `samples`. Lengths in epochs are
/// such that the last round, and the first with a new rate, are the oracle's exactly.
std::string oracle_deck(const OracleCase& oracle, std::int64_t samples);

}  // namespace crossbow
