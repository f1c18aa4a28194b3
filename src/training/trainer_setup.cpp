#include "training/trainer_setup.hpp"

namespace crossbow {

TrainingStart start_of(const TrainerOptions& o, const TrainingState* state) {
  if (state == nullptr) {
    return {};
  }
  // Another batch than before need not divide what has been taken.
  const std::int64_t batches = (state->samples + o.training.batch - 1) / o.training.batch;
  return {state->round, batches * o.training.batch, state->last_round_samples};
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

NetworkPlan plan_for(const ModelOptions& options, const SampleSet& samples) {
  const Dataset& d = samples.data;
  return plan_network(options, {d.h, d.w, d.c}, d.classes);
}

}  // namespace crossbow
