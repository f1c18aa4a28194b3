#include "training/trainer_setup.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/instance.hpp"
#include "topology/thread_binding.hpp"

namespace crossbow {

TrainingState in_this_stream(TrainingState state,
                             const TrainerOptions& o,
                             const BatchStream& stream) {
  state.unpack();
  const std::int64_t b = o.training.batch, epoch = stream.samples_per_epoch();
  if (state.samples_per_epoch == epoch && state.samples % b == 0) {
    return state;
  }
  const auto convert = [&](std::int64_t samples) {
    const double epochs =
        static_cast<double>(samples) / static_cast<double>(state.samples_per_epoch);
    return static_cast<std::int64_t>(
               std::ceil(epochs * static_cast<double>(epoch) / static_cast<double>(b))) *
           b;
  };
  const std::int64_t before = convert(state.samples - state.last_round_samples);
  state.samples = convert(state.samples);
  state.last_round_samples = state.samples - before;
  state.row_samples = std::min(state.samples, convert(state.row_samples));
  state.samples_per_epoch = epoch;
  return state;
}

ScheduleInput schedule_input(const TrainerOptions& o,
                             const BatchStream& stream,
                             const TrainingStart& start) {
  ScheduleInput input;
  input.training = o.training;
  input.optimizer = o.optimizer;
  input.averaging = o.averaging;
  input.checkpoint_epochs = o.checkpoint_epochs;
  input.learners = o.learners;
  input.samples_per_epoch = stream.samples_per_epoch();
  input.start = start;
  return input;
}

NetworkOptions network_options(const TrainerOptions& o) {
  NetworkOptions network;
  network.batch = o.training.batch;
  network.kernels = o.kernels;
  network.seed = o.seed;
  network.label_smoothing = o.training.label_smoothing;
  return network;
}

MethodOptions method_options(const TrainerOptions& o, const RoundSchedule& schedule) {
  MethodOptions options;
  options.averaging = o.averaging;
  options.eta = o.optimizer.momentum;
  options.tree = o.tree;
  options.learners_of_device = o.placement.learners_of_device();
  options.local_from_round = schedule.first_round_after(o.averaging.local_from_epoch);
  options.clips = o.optimizer.gradient_clip > 0;
  return options;
}

bool settle_thread(const TrainerOptions& o, int j) {
  set_thread_count(o.threads);
  return !o.bind ||
         (o.topology != nullptr &&
          bind_this_thread(*o.topology,
                           o.placement.pus_of_learner[static_cast<std::size_t>(j)]));
}

NetworkPlan plan_for(const ModelOptions& options, const SampleSet& samples) {
  const ImageSize image = samples.image();
  return plan_network(options, {image.h, image.w, image.c}, samples.data.classes);
}

}  // namespace crossbow
