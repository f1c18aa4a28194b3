#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/importers/idx.hpp"
#include "kernels/instance.hpp"

#include "config/run_config.hpp"
#include "driver/checkpointing.hpp"
#include "driver/commands.hpp"
#include "model/host_transfer.hpp"
#include "training/evaluator.hpp"

namespace crossbow {
namespace {

using Host = Kokkos::Serial;

Split split_named(const std::string& name) {
  CROSSBOW_VALIDATE(
      name == "train" || name == "test",
      ExitCode::usage,
      {"there is no split named " + name, "", "--split", "Use train or test"});
  return name == "train" ? Split::train : Split::test;
}

/// The network must take images like those of the data, and know their classes.
void check_fits(const NetworkPlan& model, const SampleSet& samples) {
  const Dataset& data = samples.data;
  const ImageSize size = samples.image();
  const ImageShape image{size.h, size.w, size.c};
  CROSSBOW_VALIDATE(
      model.input == image && data.classes <= model.classes,
      ExitCode::data,
      {"checkpoint and data do not fit together",
       fmt::format("the network takes images of {}x{}x{} in {} classes, the data has "
                   "{}x{}x{} in {}",
                   model.input.h,
                   model.input.w,
                   model.input.c,
                   model.classes,
                   size.h,
                   size.w,
                   size.c,
                   data.classes),
       data.place,
       "Name a test set like the one that it was trained for"});
}

EvaluationResult evaluate_average(const NetworkPlan& plan,
                                  const SampleSet& samples,
                                  const NamedTensors& tensors) {
  const Host exec = make_instance<Host>(1);
  Evaluator<Host> evaluator(exec, plan, samples, KernelSet::vendor, nullptr);
  const auto load = [&](const ParameterLayout& layout, const std::string& prefix) {
    Buffer<Host> buffer = make_buffer(
        exec, "crossbow::evaluated_model", static_cast<std::size_t>(layout.size()));
    load_vector<Host>(exec, layout, prefix, tensors, as_span(buffer));
    return buffer;
  };
  const Buffer<Host> weights = load(evaluator.network().parameters(), "average/");
  const Buffer<Host> statistics =
      load(evaluator.network().statistics(), "average_statistics/");
  std::vector<BlockResult> blocks(static_cast<std::size_t>(evaluator.blocks()));
  evaluator.run(exec, as_span(weights), as_span(statistics), 0, 1, blocks);
  return mean_of(blocks, samples.data.n);
}

}  // namespace

int keys_command(const std::string& file) {
  if (file.empty()) {
    fmt::print("{}", key_reference());
  } else {
    write_atomically(file, key_reference());
  }
  return 0;
}

int import_command(const ImportRequest& request) {
  CROSSBOW_VALIDATE(
      request.format == "mnist",
      ExitCode::usage,
      {"there is no importer for the format " + request.format, "", "", "Use mnist"});
  std::error_code none;
  const std::filesystem::path target(request.file);
  CROSSBOW_VALIDATE(
      !(std::filesystem::exists(target, none) &&
        std::filesystem::equivalent(target.has_parent_path() ? target.parent_path() : ".",
                                    request.source,
                                    none) &&
        target.extension() != ".h5"),
      ExitCode::usage,
      {"a file of the source would be replaced", "", request.file, "Give another file"});
  const Dataset data = import_idx(request.source, split_named(request.split));
  write_dataset(request.file, data);
  fmt::print("{}: {} images of {}x{}x{}, {} classes, mean {:.6f}, std {:.6f}\n",
             request.file,
             data.n,
             data.h,
             data.w,
             data.c,
             data.classes,
             data.mean,
             data.std);
  return 0;
}

int evaluate_command(const EvaluateRequest& request) {
  const Checkpoint checkpoint = read_checkpoint(request.checkpoint);
  const NetworkPlan plan = network_of(request.checkpoint, checkpoint);
  const PixelScale scale = pixel_scale_of(request.checkpoint, checkpoint);
  const TrainingState state = from_checkpoint(request.checkpoint, checkpoint);
  const Kokkos::ScopeGuard kokkos(quiet_settings());
  const Dataset data = load_data(request.data, Split::test, request.search, {});
  const SampleSet samples{
      data, scale, {deck_of(request.checkpoint, checkpoint).data.augment}};
  check_fits(plan, samples);
  check_tensors(request.checkpoint, checkpoint, plan);
  const EvaluationResult result = evaluate_average(plan, samples, state.tensors);
  fmt::print("test accuracy {:.4f}, test loss {:.4f}, {} images\n",
             result.accuracy,
             result.loss,
             data.n);
  return 0;
}

int export_command(const ExportRequest& request) {
  std::error_code none;
  CROSSBOW_VALIDATE(!std::filesystem::equivalent(request.checkpoint, request.file, none),
                    ExitCode::usage,
                    {"the checkpoint would be replaced by its average model",
                     "and could not be resumed",
                     request.file,
                     "Give another file to write"});
  Checkpoint file = read_checkpoint(request.checkpoint);
  const RunConfig config = deck_of(request.checkpoint, file);
  const auto is_average = [](const std::string& name) {
    return name.starts_with("average");
  };
  std::erase_if(file.tensors,
                [&](const auto& entry) { return !is_average(entry.first); });
  std::erase_if(file.shapes, [&](const auto& entry) { return !is_average(entry.first); });
  write_checkpoint(request.file, file);
  fmt::print("{}: the average model of round {} ({})\n",
             request.file,
             file.integers["round"],
             config.run.name);
  return 0;
}

}  // namespace crossbow
