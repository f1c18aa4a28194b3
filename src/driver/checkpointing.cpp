#include "driver/checkpointing.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

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

constexpr double largest = std::numeric_limits<double>::max();          // finite
constexpr double smallest = std::numeric_limits<double>::denorm_min();  // above 0

/// The value of that name, which must be within bounds; a NaN is within none.
template <class Value>
Value value_in(const std::map<std::string, Value>& values,
               const std::string& name,
               Value least,
               Value most,
               const std::string& path) {
  const Value value = require(values, name, path);
  CROSSBOW_VALIDATE(value >= least && value <= most,
                    ExitCode::data,
                    {fmt::format("{} = {} of the checkpoint is impossible", name, value),
                     "",
                     path,
                     "Use the checkpoint before it"});
  return value;
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

void add_tensors(NamedTensors&& tensors, Checkpoint& file) {
  for (auto& [name, tensor] : tensors) {
    file.tensors[name] = std::move(tensor.values);
    file.shapes[name] = tensor.shape;
  }
}

Checkpoint to_checkpoint(TrainingState&& state, const PreparedRun& run) {
  Checkpoint file;
  add_tensors(std::move(state.tensors), file);
  const ImageSize image = run.training_set().image();
  file.integers = {{"round", state.round},
                   {"samples", state.samples},
                   {"last_round_samples", state.last_round_samples},
                   {"samples_per_epoch", state.samples_per_epoch},
                   {"restart_pending", state.restart_pending ? 1 : 0},
                   {"row_samples", state.row_samples},
                   {"losses", state.losses},
                   {"learners", run.options.learners},
                   {"image_height", image.h},
                   {"image_width", image.w},
                   {"image_channels", image.c},
                   {"classes", run.training_data.classes}};
  file.numbers = {{"seconds", state.seconds},
                  {"row_seconds", state.row_seconds},
                  {"data_mean", run.mean},
                  {"data_std", run.std}};
  if (state.tuned.has_value()) {
    file.integers["tuned_per_device"] = state.tuned->counts.per_device;
    file.integers["tuned_threads"] = state.tuned->counts.threads;
    file.integers["tuned_cores"] = state.tuned->cores;
    file.numbers["tuned_images_per_second"] = state.tuned->images_per_second;
  }
  for (std::size_t j = 0; j < state.loss_sums.size(); ++j) {
    file.numbers["loss_sum" + std::to_string(j)] = state.loss_sums[j];
  }
  file.texts = {{"data_digest", run.training_data.digest},
                {"deck", run.config.effective_deck},
                {"reduction", reduction_text(run)}};
  if (!run.training_data.class_names.empty()) {
    file.texts["class_names"] =
        nlohmann::json(run.training_data.class_names)
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  return file;
}

TrainingState from_checkpoint(const std::string& path, const Checkpoint& file) {
  constexpr std::int64_t most_samples = std::int64_t{1} << 53;
  const auto integer = [&](const char* name, std::int64_t least, std::int64_t most) {
    return value_in(file.integers, name, least, most, path);
  };
  const auto number = [&](const std::string& name, double most) {
    return value_in(file.numbers, name, 0.0, most, path);
  };
  TrainingState state;
  state.samples = integer("samples", 0, most_samples);
  state.last_round_samples = integer("last_round_samples", 0, state.samples);
  state.round = integer("round", 0, state.samples);
  state.restart_pending = integer("restart_pending", 0, 1) != 0;
  state.row_samples = integer("row_samples", 0, state.samples);
  state.losses = integer("losses", 0, state.samples);
  state.seconds = number("seconds", largest);
  state.row_seconds = number("row_seconds", state.seconds);
  state.samples_per_epoch = integer("samples_per_epoch", 1, most_samples);
  const std::int64_t learners = integer("learners", 1, most_learners);
  for (std::int64_t j = 0; j < learners; ++j) {
    state.loss_sums.push_back(number("loss_sum" + std::to_string(j), largest));
  }
  if (file.integers.contains("tuned_per_device")) {
    TunedLearners tuned;
    tuned.counts.per_device =
        static_cast<int>(integer("tuned_per_device", 1, most_learners));
    tuned.counts.threads = static_cast<int>(integer("tuned_threads", 1, most_learners));
    tuned.cores = static_cast<int>(integer("tuned_cores", 1, most_learners));
    tuned.images_per_second = number("tuned_images_per_second", largest);
    state.tuned = tuned;
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

std::vector<std::string> groups_of_state(const std::string& path,
                                         const Checkpoint& file) {
  const AveragingMethodName method = deck_of(path, file).averaging.method;
  const auto has_second = [](const auto& tensor) {
    return tensor.first.starts_with("replica1/");
  };
  const bool has_own_replicas =
      has_own_weights(method) ||
      std::any_of(file.shapes.begin(), file.shapes.end(), has_second);
  const std::int64_t learners = require(file.integers, "learners", path);
  std::vector<std::string> groups;
  for (std::int64_t j = 0; j < learners; ++j) {
    if (j == 0 || has_own_replicas) {
      groups.push_back(fmt::format("replica{}/", j));
      groups.push_back(fmt::format("velocity{}/", j));
    }
    groups.push_back(fmt::format("statistics{}/", j));
  }
  groups.emplace_back("average_statistics/");
  if (can_restart(method)) {  // those that know z_prev
    groups.emplace_back("previous/");
  }
  return groups;
}

void check_tensors(const std::string& path,
                   const Checkpoint& file,
                   const NetworkPlan& network,
                   const std::vector<std::string>& groups) {
  const NetworkTensors wanted = tensors_of(network);
  const auto check = [&](const std::string& group) {
    const bool is_statistics = group.find("statistics") != std::string::npos;
    for (const NamedShape& each : is_statistics ? wanted.statistics : wanted.parameters) {
      check_tensor(path, file, group, each);
    }
  };
  check("average/");
  std::for_each(groups.begin(), groups.end(), check);
  std::set<std::string> present;
  for (const auto& [name, shape] : file.shapes) {
    present.insert(name.substr(0, name.find('/') + 1));
  }
  std::for_each(present.begin(), present.end(), check);
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
  const auto extent = [&](const char* name) {
    return value_in(file.integers, name, std::int64_t{1}, std::int64_t{1} << 24, path);
  };
  const ImageShape image = {
      extent("image_height"), extent("image_width"), extent("image_channels")};
  const ModelOptions model = deck_of(path, file).model;
  return from_deck_of(path,
                      [&] { return plan_network(model, image, extent("classes")); });
}

PixelScale pixel_scale_of(const std::string& path, const Checkpoint& file) {
  return pixel_scale(value_in(file.numbers, "data_mean", 0.0, 1.0, path),
                     value_in(file.numbers, "data_std", smallest, 1.0, path));
}

std::vector<std::string> class_names_of(const std::string& path, const Checkpoint& file) {
  const auto text = file.texts.find("class_names");
  if (text == file.texts.end()) {
    return {};
  }
  const nlohmann::json names = nlohmann::json::parse(text->second, nullptr, false);
  const bool is_list =
      names.is_array() && std::all_of(names.begin(), names.end(), [](const auto& name) {
        return name.is_string();
      });
  CROSSBOW_VALIDATE(is_list && static_cast<std::int64_t>(names.size()) ==
                                   require(file.integers, "classes", path),
                    ExitCode::data,
                    {"class_names of the checkpoint is no list of a name for each class",
                     "",
                     path,
                     "Use the checkpoint before it"});
  return names.get<std::vector<std::string>>();
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
