#include "driver/average_model.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

#include "kernels/instance.hpp"

#include "driver/checkpointing.hpp"
#include "model/host_transfer.hpp"

namespace crossbow {
namespace {

using Host = Kokkos::Serial;

/// The size of the data's images as tests cut them. That none fits is a fault of the
/// data.
ImageSize tested_size(const SampleSet& samples) {
  try {
    return samples.image();
  } catch (const Error& error) {
    throw Error(ExitCode::data, samples.data.place + ": " + error.what());
  }
}

/// The network must take images like those of the data, and know their classes.
void check_fits(const NetworkPlan& model, const SampleSet& samples) {
  const Dataset& data = samples.data;
  const ImageSize size = tested_size(samples);
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

}  // namespace

AverageModel load_average_model(const std::string& path) {
  const Checkpoint checkpoint = read_checkpoint(path);
  AverageModel model;
  model.plan = network_of(path, checkpoint);
  model.scale = pixel_scale_of(path, checkpoint);
  model.augment = deck_of(path, checkpoint).data.augment;
  model.class_names = class_names_of(path, checkpoint);
  model.tensors = from_checkpoint(path, checkpoint).tensors;
  check_tensors(path, checkpoint, model.plan, {"average_statistics/"});
  return model;
}

EvaluationResult evaluate_average(const AverageModel& model,
                                  const SampleSet& samples,
                                  std::vector<float>* logits) {
  check_fits(model.plan, samples);
  const Host exec = make_instance<Host>(1);
  Evaluator<Host> evaluator(exec, model.plan, samples, KernelSet::vendor, nullptr);
  const auto load = [&](const ParameterLayout& layout, const std::string& prefix) {
    Buffer<Host> buffer = make_buffer(
        exec, "crossbow::evaluated_model", static_cast<std::size_t>(layout.size()));
    load_vector<Host>(exec, layout, prefix, model.tensors, as_span(buffer));
    return buffer;
  };
  const Buffer<Host> weights = load(evaluator.network().parameters(), "average/");
  const Buffer<Host> statistics =
      load(evaluator.network().statistics(), "average_statistics/");
  if (logits != nullptr) {
    evaluator.keep_logits(*logits);
  }
  std::vector<BlockResult> blocks(static_cast<std::size_t>(evaluator.blocks()));
  evaluator.run(exec, as_span(weights), as_span(statistics), 0, 1, blocks);
  return mean_of(blocks, samples.data.n);
}

}  // namespace crossbow
