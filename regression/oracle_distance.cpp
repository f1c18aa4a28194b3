#include "regression/oracle_distance.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

constexpr double least_norm = 1e-3;  // smaller values are compared absolutely

double relative(double difference, double norm) {
  return difference / std::max(norm, least_norm);
}

double distance_of(const OracleTensor& theirs, const NamedTensor& ours) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < theirs.values.size(); ++i) {
    const double d = static_cast<double>(ours.values[i]) - theirs.values[i];
    difference += d * d;
    norm += theirs.values[i] * theirs.values[i];
  }
  return relative(std::sqrt(difference), std::sqrt(norm));
}

/// Compare with the tensors of the outcome whose names begin with `prefix`.
void include_tensors(const OracleTensors& theirs,
                     const NamedTensors& ours,
                     const std::string& prefix,
                     OracleDistance& distance) {
  const auto has_prefix = [&](const auto& tensor) {
    return tensor.first.compare(0, prefix.size(), prefix) == 0;
  };
  const auto count = std::count_if(ours.begin(), ours.end(), has_prefix);
  for (const auto& [name, tensor] : theirs) {
    const auto found = ours.find(prefix + name);
    CROSSBOW_VALIDATE(found != ours.end() && found->second.shape == tensor.shape,
                      ExitCode::data,
                      {"tensor " + name + " is not in the network of the case's deck",
                       "or has another shape there",
                       prefix,
                       ""});
    distance.include(distance_of(tensor, found->second), prefix + name);
  }
  CROSSBOW_VALIDATE(count == static_cast<std::ptrdiff_t>(theirs.size()),
                    ExitCode::data,
                    {"the network of the case's deck has tensors that the oracle lacks",
                     fmt::format("{} and {}", count, theirs.size()),
                     prefix,
                     ""});
}

}  // namespace

void OracleDistance::include(double distance, const std::string& where) {
  if (!std::isnan(value) && !(distance <= value)) {
    value = distance;
    place = where;
  }
}

OracleDistances distances(const OracleCase& oracle, const OracleOutcome& outcome) {
  OracleDistances all;
  const auto k = static_cast<std::size_t>(oracle.learners);
  for (std::size_t i = 0; i < oracle.losses.size(); ++i) {
    all.loss.include(relative(std::abs(outcome.losses.at(i) - oracle.losses[i]),
                              std::abs(oracle.losses[i])),
                     fmt::format("round {}, learner {}", i / k + 1, i % k));
  }
  include_tensors(oracle.average, outcome.tensors, "average/", all.average);
  const auto second = outcome.tensors.lower_bound("replica1/");
  const bool is_shared =
      second == outcome.tensors.end() || second->first.compare(0, 9, "replica1/") != 0;
  for (std::size_t j = 0; j < k; ++j) {
    const std::string prefix = fmt::format("replica{}/", is_shared ? 0 : j);
    include_tensors(oracle.replicas[j], outcome.tensors, prefix, all.replicas);
  }
  return all;
}

std::string to_string(const OracleDistances& d) {
  return fmt::format("loss {:.1e} average {:.1e} replicas {:.1e}",
                     d.loss.value,
                     d.average.value,
                     d.replicas.value);
}

std::string far_places(const OracleDistances& d) {
  std::vector<std::string> places;
  if (!is_near(d.loss)) {
    places.push_back("loss of " + d.loss.place);
  }
  for (const OracleDistance* tensors : {&d.average, &d.replicas}) {
    if (!is_near(*tensors)) {
      places.push_back(tensors->place);
    }
  }
  return fmt::format("{}", fmt::join(places, "; "));
}

}  // namespace crossbow
