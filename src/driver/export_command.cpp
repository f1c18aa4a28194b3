#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.hpp"

#include "io/npz_file.hpp"

#include "driver/checkpointing.hpp"
#include "driver/commands.hpp"
#include "driver/onnx_graph.hpp"
#include "driver/weights_file.hpp"

namespace crossbow {
namespace {

/// The checkpoint without all that only a training needs.
void export_checkpoint(const std::string& path, Checkpoint&& file) {
  const auto is_average = [](const std::string& name) {
    return name.starts_with("average");
  };
  std::erase_if(file.tensors,
                [&](const auto& entry) { return !is_average(entry.first); });
  std::erase_if(file.shapes, [&](const auto& entry) { return !is_average(entry.first); });
  write_checkpoint(path, file);
}

void export_npz(const std::string& path, const NamedTensors& weights) {
  NpzArrays arrays;
  for (const auto& [name, tensor] : weights) {
    arrays[name] = npy_floats(tensor.shape, tensor.values);
  }
  write_npz(path, arrays);
}

/// With what a user must know to feed it: how pixels are normalised, what a class is.
void export_onnx(const std::string& path,
                 const std::string& source,
                 const Checkpoint& file,
                 const NamedTensors& weights) {
  OnnxModel model = onnx_graph(network_of(source, file), weights);
  model.metadata = {{"mean", fmt::format("{}", file.numbers.at("data_mean"))},
                    {"std", fmt::format("{}", file.numbers.at("data_std"))}};
  const std::vector<std::string> names = class_names_of(source, file);
  if (!names.empty()) {
    model.metadata["class_names"] = nlohmann::json(names).dump();
  }
  write_onnx(path, model);
}

}  // namespace

int export_command(const ExportRequest& request) {
  std::error_code none;
  CROSSBOW_VALIDATE(!std::filesystem::equivalent(request.checkpoint, request.file, none),
                    ExitCode::usage,
                    {"the checkpoint would be replaced by its average model",
                     "and could not be resumed",
                     request.file,
                     "Give another file to write"});
  const std::string ending = std::filesystem::path(request.file).extension();
  CROSSBOW_VALIDATE(ending == ".h5" || ending == ".npz" || ending == ".onnx",
                    ExitCode::usage,
                    {"the ending of the file to write says no format",
                     "",
                     request.file,
                     "Give a file *.h5, *.npz or *.onnx"});
  Checkpoint file = read_checkpoint(request.checkpoint);
  const std::string name = deck_of(request.checkpoint, file).run.name;
  const std::int64_t round = from_checkpoint(request.checkpoint, file).round;
  if (ending == ".h5") {
    export_checkpoint(request.file, std::move(file));
  } else {
    pixel_scale_of(request.checkpoint, file);  // checks mean and std
    check_tensors(request.checkpoint,
                  file,
                  network_of(request.checkpoint, file),
                  {"average_statistics/"});
    const NamedTensors weights = average_weights(file);
    if (ending == ".npz") {
      export_npz(request.file, weights);
    } else {
      export_onnx(request.file, request.checkpoint, file, weights);
    }
  }
  fmt::print("{}: the average model of round {} ({})\n", request.file, round, name);
  return 0;
}

int import_weights_command(const ImportWeightsRequest& request) {
  std::error_code none;
  CROSSBOW_VALIDATE(
      !std::filesystem::equivalent(request.weights, request.file, none),
      ExitCode::usage,
      {"the file of weights would be replaced", "", request.file, "Give another file"});
  const RunConfig config = read_run_config(request.deck.path, request.deck.overrides);
  const PreparedRun run = prepare_run(config, request.deck.search, {});
  const NetworkPlan network = plan_for(config.model, run.training_set());
  TrainingState state = state_of_weights(
      read_weights(request.weights, network), network, run.options.learners);
  write_checkpoint(request.file, to_checkpoint(std::move(state), run));
  fmt::print("{}: {} parameters of {} ({})\n",
             request.file,
             parameter_count(network),
             request.weights,
             config.run.name);
  return 0;
}

}  // namespace crossbow
