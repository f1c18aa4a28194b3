#include "driver/weights_file.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

#include "io/npz_file.hpp"

namespace crossbow {
namespace {

constexpr std::string_view average_group = "average/";
constexpr std::string_view statistics_group = "average_statistics/";

NamedTensors tensors_in(const std::string& path) {
  if (path.ends_with(".h5")) {
    return average_weights(read_checkpoint(path));
  }
  CROSSBOW_VALIDATE(path.ends_with(".npz"),
                    ExitCode::usage,
                    {"the ending of the file of weights says no format",
                     "",
                     path,
                     "Give a file *.npz of numpy, or *.h5 of this program"});
  NamedTensors tensors;
  for (const auto& [name, array] : read_npz(path)) {
    tensors[name] = {array.shape,
                     npy_values<float>(array, fmt::format("{}, array {}", path, name))};
  }
  return tensors;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// What is wrong with the tensor that should be `wanted`; empty: nothing.
std::string complaint(const NamedTensors& tensors, const NamedShape& wanted) {
  const auto found = tensors.find(wanted.name);
  if (found == tensors.end()) {
    return fmt::format(
        "{} is missing (expected {})", wanted.name, shape_text(wanted.shape));
  }
  const NamedTensor& tensor = found->second;
  if (tensor.shape != wanted.shape) {
    return fmt::format("{} has the shape {} (expected {})",
                       wanted.name,
                       shape_text(tensor.shape),
                       shape_text(wanted.shape));
  }
  const auto bad = std::find_if(tensor.values.begin(),
                                tensor.values.end(),
                                [](float value) { return !std::isfinite(value); });
  return bad == tensor.values.end() ? ""
                                    : fmt::format("{} has the value {} (element {})",
                                                  wanted.name,
                                                  *bad,
                                                  bad - tensor.values.begin());
}

}  // namespace

NamedTensors average_weights(const Checkpoint& checkpoint) {
  NamedTensors weights;
  for (const auto& [name, values] : checkpoint.tensors) {
    for (const std::string_view group : {average_group, statistics_group}) {
      if (name.starts_with(group)) {
        weights[name.substr(group.size())] = {checkpoint.shapes.at(name), values};
      }
    }
  }
  return weights;
}

NamedTensors read_weights(const std::string& path, const NetworkPlan& network) {
  NamedTensors tensors = tensors_in(path);
  const NetworkTensors wanted = tensors_of(network);
  std::vector<std::string> complaints;
  NamedTensors unknown = tensors;
  for (const auto& group : {wanted.parameters, wanted.statistics}) {
    for (const NamedShape& each : group) {
      unknown.erase(each.name);
      if (std::string text = complaint(tensors, each); !text.empty()) {
        complaints.push_back(std::move(text));
      }
    }
  }
  for (const auto& [name, tensor] : unknown) {
    complaints.push_back(
        fmt::format("{} {} is no tensor of the network", name, shape_text(tensor.shape)));
  }
  if (!complaints.empty()) {
    throw Error(ExitCode::data,
                fmt::format("the weights in {} do not fit the network:\n  {}\n"
                            "Name and shape them as the network has them (io/README.md).",
                            path,
                            fmt::join(complaints, "\n  ")));
  }
  return tensors;
}

TrainingState state_of_weights(NamedTensors weights,
                               const NetworkPlan& network,
                               int learners) {
  TrainingState state;
  state.loss_sums.assign(static_cast<std::size_t>(learners), 0);
  const NetworkTensors names = tensors_of(network);
  const auto move = [&](const std::vector<NamedShape>& tensors, std::string_view group) {
    for (const NamedShape& each : tensors) {
      state.tensors[std::string(group) + each.name] = std::move(weights.at(each.name));
    }
  };
  move(names.parameters, average_group);
  move(names.statistics, statistics_group);
  return state;
}

}  // namespace crossbow
