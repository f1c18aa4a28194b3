#include "driver/checkpointing.hpp"

#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"

#include "config/effective_deck.hpp"

namespace crossbow {
namespace {

template <class Value>
const Value& require(const std::map<std::string, Value>& values,
                     const std::string& name,
                     const std::string& path) {
  const auto found = values.find(name);
  CROSSBOW_VALIDATE(found != values.end(),
                    ExitCode::data,
                    {"the checkpoint has no " + name,
                     "it is not of a training run",
                     path,
                     "Use a file of a run's checkpoints folder"});
  return found->second;
}

void check_possible(bool is_possible,
                    const std::string& name,
                    const std::string& value,
                    const std::string& path) {
  CROSSBOW_VALIDATE(is_possible,
                    ExitCode::data,
                    {fmt::format("{} = {} of the checkpoint is impossible", name, value),
                     "",
                     path,
                     "Use the checkpoint before it"});
}

/// Over which tree, and from how many learners on each device, sums are made.
std::string reduction_text(const PreparedRun& run) {
  return fmt::format("learners {} threads {} parents {} children {}",
                     fmt::join(run.devices.placement.learners_of_device(), ","),
                     run.options.threads,
                     fmt::join(run.options.tree.parent, ","),
                     fmt::join(run.options.tree.children, ","));
}

}  // namespace

Checkpoint to_checkpoint(TrainingState&& state, const PreparedRun& run) {
  Checkpoint file;
  for (auto& [name, tensor] : state.tensors) {
    file.tensors[name] = std::move(tensor.values);
    file.shapes[name] = tensor.shape;
  }
  file.integers = {{"round", state.round},
                   {"samples", state.samples},
                   {"last_round_samples", state.last_round_samples},
                   {"samples_per_epoch", state.samples_per_epoch},
                   {"restart_pending", state.restart_pending ? 1 : 0},
                   {"row_samples", state.row_samples},
                   {"losses", state.losses},
                   {"learners", run.options.learners},
                   {"image_height", run.training_data.h},
                   {"image_width", run.training_data.w},
                   {"image_channels", run.training_data.c},
                   {"classes", run.training_data.classes}};
  file.numbers = {{"seconds", state.seconds},
                  {"row_seconds", state.row_seconds},
                  {"data_mean", run.mean},
                  {"data_std", run.std}};
  for (std::size_t j = 0; j < state.loss_sums.size(); ++j) {
    file.numbers["loss_sum" + std::to_string(j)] = state.loss_sums[j];
  }
  file.texts = {{"data_digest", run.training_data.digest},
                {"deck", run.config.effective_deck},
                {"reduction", reduction_text(run)}};
  return file;
}

TrainingState from_checkpoint(const std::string& path, const Checkpoint& file) {
  TrainingState state;
  const auto integer = [&](const char* name, std::int64_t least, std::int64_t most) {
    const std::int64_t value = require(file.integers, name, path);
    check_possible(value >= least && value <= most, name, fmt::to_string(value), path);
    return value;
  };
  const auto number = [&](const std::string& name) {
    const double value = require(file.numbers, name, path);
    check_possible(value >= 0 && std::isfinite(value), name, fmt::to_string(value), path);
    return value;
  };
  constexpr std::int64_t most_samples = std::int64_t{1} << 53;
  state.samples = integer("samples", 0, most_samples);
  state.last_round_samples = integer("last_round_samples", 0, state.samples);
  state.round = integer("round", 0, state.samples);
  state.restart_pending = integer("restart_pending", 0, 1) != 0;
  state.row_samples = integer("row_samples", 0, state.samples);
  state.losses = integer("losses", 0, state.samples);
  state.seconds = number("seconds");
  state.row_seconds = number("row_seconds");
  check_possible(state.row_seconds <= state.seconds,
                 "row_seconds",
                 fmt::to_string(state.row_seconds),
                 path);
  state.samples_per_epoch = integer("samples_per_epoch", 1, most_samples);
  const std::int64_t learners = integer("learners", 1, most_learners);
  for (std::int64_t j = 0; j < learners; ++j) {
    state.loss_sums.push_back(number("loss_sum" + std::to_string(j)));
  }
  for (const auto& [name, values] : file.tensors) {
    state.tensors[name] = {require(file.shapes, name, path), values};
  }
  return state;
}

namespace {

void check_tensor(const std::string& path,
                  const Checkpoint& file,
                  const std::string& group,
                  const NamedShape& tensor) {
  const std::string name = group + tensor.name;
  const auto shape = file.shapes.find(name);
  const bool is_there = shape != file.shapes.end();
  CROSSBOW_VALIDATE(
      is_there && shape->second == tensor.shape,
      ExitCode::data,
      {fmt::format("the checkpoint's tensor {} {}",
                   name,
                   is_there ? "has another shape" : "is missing"),
       fmt::format("the network of the deck has it with shape {}", tensor.shape),
       path,
       "Use a checkpoint that a run of this deck has written"});
}

}  // namespace

void check_tensors(const std::string& path,
                   const Checkpoint& file,
                   const NetworkPlan& network) {
  const NetworkTensors wanted = tensors_of(network);
  std::set<std::string> groups = {"average/"};
  for (const auto& [name, shape] : file.shapes) {
    groups.insert(name.substr(0, name.find('/') + 1));
  }
  for (const std::string& group : groups) {
    const bool is_statistics = group.find("statistics") != std::string::npos;
    for (const NamedShape& each : is_statistics ? wanted.statistics : wanted.parameters) {
      check_tensor(path, file, group, each);
    }
  }
}

void check_state(const std::string& path,
                 const Checkpoint& file,
                 const NetworkPlan& network) {
  const NetworkTensors wanted = tensors_of(network);
  const auto check = [&](const std::string& group, const auto& tensors) {
    for (const NamedShape& each : tensors) {
      check_tensor(path, file, group, each);
    }
  };
  const AveragingMethodName method = deck_of(path, file).averaging.method;
  const std::string& one = wanted.parameters.front().name;
  const bool has_own_replicas =
      has_own_weights(method) || file.shapes.contains("replica1/" + one);
  const std::int64_t learners = require(file.integers, "learners", path);
  for (std::int64_t j = 0; j < learners; ++j) {
    if (j == 0 || has_own_replicas) {
      check(fmt::format("replica{}/", j), wanted.parameters);
      check(fmt::format("velocity{}/", j), wanted.parameters);
    }
    check(fmt::format("statistics{}/", j), wanted.statistics);
  }
  check("average_statistics/", wanted.statistics);
  if (can_restart(method)) {  // those that know z_prev
    check("previous/", wanted.parameters);
  }
}

namespace {

/// What make() returns; a complaint about the deck that a checkpoint brings along is one
/// about the file.
template <class Make>
auto from_deck_of(const std::string& path, Make make) {
  try {
    return make();
  } catch (const Error& error) {
    if (error.exit_code() != ExitCode::usage) {
      throw;
    }
    const std::string complaints = error.what();
    throw Error(ExitCode::data,
                ErrorText{"the deck in the checkpoint cannot be used",
                          complaints.substr(0, complaints.find('\n')),
                          path,
                          "Use the checkpoint before it"});
  }
}

}  // namespace

RunConfig deck_of(const std::string& path, const Checkpoint& file) {
  return from_deck_of(path, [&] {
    return parse_run_config(require(file.texts, "deck", path), path, {});
  });
}

NetworkPlan network_of(const std::string& path, const Checkpoint& file) {
  const auto value = [&](const char* name) {
    constexpr std::int64_t most = std::int64_t{1} << 24;
    const std::int64_t extent = require(file.integers, name, path);
    check_possible(extent >= 1 && extent <= most, name, fmt::to_string(extent), path);
    return extent;
  };
  const ImageShape image = {
      value("image_height"), value("image_width"), value("image_channels")};
  const ModelOptions model = deck_of(path, file).model;
  return from_deck_of(path, [&] { return plan_network(model, image, value("classes")); });
}

PixelScale pixel_scale_of(const std::string& path, const Checkpoint& file) {
  const double mean = require(file.numbers, "data_mean", path);
  const double std = require(file.numbers, "data_std", path);
  check_possible(mean >= 0 && mean <= 1, "data_mean", fmt::to_string(mean), path);
  check_possible(std > 0 && std <= 1, "data_std", fmt::to_string(std), path);
  return pixel_scale(mean, std);
}

std::vector<DeckDifference> differences_to(const std::string& path,
                                           const Checkpoint& file,
                                           const PreparedRun& run) {
  std::vector<DeckDifference> differences =
      training_differences(deck_of(path, file), run.config);
  const auto compare = [&](const char* key, const auto& saved, const auto& wanted) {
    if (saved != wanted) {
      differences.push_back({key, fmt::format("{}", saved), fmt::format("{}", wanted)});
    }
  };
  compare("data.mean", require(file.numbers, "data_mean", path), run.mean);
  compare("data.std", require(file.numbers, "data_std", path), run.std);
  compare("the digest of data.train",
          require(file.texts, "data_digest", path),
          run.training_data.digest);
  return differences;
}

bool has_same_learners(const std::string& path,
                       const Checkpoint& file,
                       const PreparedRun& run) {
  return require(file.integers, "learners", path) == run.options.learners;
}

bool has_same_reduction(const Checkpoint& file, const PreparedRun& run) {
  const auto saved = file.texts.find("reduction");
  return saved == file.texts.end() || saved->second == reduction_text(run);
}

}  // namespace crossbow
