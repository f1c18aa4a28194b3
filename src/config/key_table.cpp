#include "config/key_table.hpp"

#include <utility>

namespace crossbow {

namespace {

using KeyBinding = Binding<RunConfig>;
using KeyBindings = std::vector<KeyBinding>;

constexpr double longest = 1e6;  // [epochs]

template <class Access>
KeyBinding key(KeySpec spec, Access access) {
  return bind_key<RunConfig>(std::move(spec), access);
}

KeyBinding only_if(KeyBinding binding,
                   std::function<bool(const RunConfig&)> applies,
                   std::string condition,
                   std::string decided_by) {
  binding.applies = std::move(applies);
  binding.condition = std::move(condition);
  binding.decided_by = std::move(decided_by);
  return binding;
}

KeyBindings run_keys() {
  return {
      key(
          {.section = "run",
           .key = "name",
           .least_size = 1,
           .default_text = "the deck's file name without its ending",
           .help = "Name of the run, in its record and in the default of `output`."},
          [](auto& c) -> auto& { return c.run.name; }),
      key(
          {.section = "run",
           .key = "output",
           .least_size = 1,
           .default_text = "`\"output/NAME\"`",
           .help = "Folder for history, record, log and checkpoints."},
          [](auto& c) -> auto& { return c.run.output; }),
      key(
          {.section = "run",
           .key = "seed",
           .type = KeyType::integer,
           .range = at_least(0),
           .help = "Every random number of the run follows from it."},
          [](auto& c) -> auto& { return c.run.seed; }),
      key(
          {.section = "run",
           .key = "time_limit",
           .type = KeyType::number,
           .range = above(0),
           .unit = "s",
           .default_text = "no limit",
           .help = "Write a checkpoint and stop with exit status 75 after this time."},
          [](auto& c) -> auto& { return c.run.time_limit; }),
  };
}

KeyBindings data_keys() {
  return {
      key(
          {.section = "data",
           .key = "train",
           .least_size = 1,
           .help = "Training data: an HDF5 data set, or the folder or name of an IDX "
                   "data set "
                   "(`digits`, `fashion-mnist`, `mnist`)."},
          [](auto& c) -> auto& { return c.data.train; }),
      key(
          {.section = "data",
           .key = "test",
           .least_size = 1,
           .help = "Test data, given as for `train`; always evaluated whole."},
          [](auto& c) -> auto& { return c.data.test; }),
      key(
          {.section = "data",
           .key = "shuffle",
           .type = KeyType::boolean,
           .help = "Another order in every epoch; `false`: the file's order."},
          [](auto& c) -> auto& { return c.data.shuffle; }),
      key(
          {.section = "data",
           .key = "mean",
           .type = KeyType::number,
           .range = from_to(0, 1),
           .unit = "pixel/255",
           .default_text = "the training set's own",
           .help = "Pixels become (pixel/255 - mean)/std."},
          [](auto& c) -> auto& { return c.data.mean; }),
      key(
          {.section = "data",
           .key = "std",
           .type = KeyType::number,
           .range = above_to(0, 1),
           .unit = "pixel/255",
           .default_text = "the training set's own",
           .help = "See `mean`."},
          [](auto& c) -> auto& { return c.data.std; }),
  };
}

bool is_named(const RunConfig& config) {
  return config.model.layers.empty();
}

KeyBindings model_keys() {
  const std::string no_layers = "without [[model.layer]]";
  return {
      only_if(
          key(
              {.section = "model",
               .key = "name",
               .words = {"lenet", "mlp", "logistic"},
               .help = "Network by name: `lenet` (the CROSSBOW paper's, for images of at "
                       "least 16x16), `mlp` (linear layers with ReLU), `logistic` (one "
                       "linear "
                       "layer)."},
              [](auto& c) -> auto& { return c.model.name; }),
          is_named,
          no_layers,
          ""),
      only_if(
          key(
              {.section = "model",
               .key = "hidden",
               .type = KeyType::integer_list,
               .range = from_to(1, 1 << 24),
               .least_size = 1,
               .unit = "units",
               .help = "Size of each hidden layer."},
              [](auto& c) -> auto& { return c.model.hidden; }),
          [](const RunConfig& c) { return is_named(c) && c.model.name == "mlp"; },
          "with name = \"mlp\"",
          "name"),
      only_if(
          key(
              {.section = "model",
               .key = "dropout",
               .type = KeyType::number,
               .range = from_to_below(0, 1),
               .help = "Share of values set to zero before the last layer."},
              [](auto& c) -> auto& { return c.model.dropout; }),
          [](const RunConfig& c) { return is_named(c) && c.model.name != "logistic"; },
          "with name = \"lenet\" or \"mlp\"",
          "name"),
  };
}

KeyBindings batch_norm_keys() {
  const EnumNames<BatchNormStatistics> statistics = {
      {"average", BatchNormStatistics::average}};
  return {
      bind_names<RunConfig>(
          {.section = "batch_norm",
           .key = "statistics",
           .help = "Running statistics of the average model: the mean of the "
                   "replicas' running means and variances."},
          statistics,
          [](auto& c) -> auto& { return c.model.batch_norm.statistics; }),
      key(
          {.section = "batch_norm",
           .key = "momentum",
           .type = KeyType::number,
           .range = above_to(0, 1),
           .help = "Weight of the newest batch in the running statistics."},
          [](auto& c) -> auto& { return c.model.batch_norm.momentum; }),
      key(
          {.section = "batch_norm",
           .key = "epsilon",
           .type = KeyType::number,
           .range = above_to(0, 1),
           .help = "Added to the variance; a layer may have its own."},
          [](auto& c) -> auto& { return c.model.batch_norm.epsilon; }),
  };
}

KeyBindings training_keys() {
  return {
      key(
          {.section = "training",
           .key = "batch",
           .type = KeyType::integer,
           .range = from_to(1, 65536),
           .unit = "samples",
           .help =
               "Batch of each learner: a round takes this times the number of learners."},
          [](auto& c) -> auto& { return c.training.batch; }),
      key(
          {.section = "training",
           .key = "epochs",
           .type = KeyType::number,
           .range = above_to(0, longest),
           .unit = "epochs",
           .help = "Length of the training; fractions are allowed."},
          [](auto& c) -> auto& { return c.training.epochs; }),
      key(
          {.section = "training",
           .key = "test_every",
           .type = KeyType::number,
           .range = from_to(0, longest),
           .unit = "epochs",
           .help = "Distance of tests; fractions are allowed; 0: only at the end."},
          [](auto& c) -> auto& { return c.training.test_every; }),
      key(
          {.section = "training",
           .key = "target_accuracy",
           .type = KeyType::number,
           .range = above_to(0, 1),
           .default_text = "none",
           .help = "Stop once the median of the last five test accuracies reaches it."},
          [](auto& c) -> auto& { return c.training.target_accuracy; }),
  };
}

KeyBindings optimizer_keys() {
  return {
      key(
          {.section = "optimizer",
           .key = "learning_rate",
           .type = KeyType::number,
           .range = at_least(0),
           .help = "Learning rate, before the schedule changes it."},
          [](auto& c) -> auto& { return c.optimizer.learning_rate; }),
      key(
          {.section = "optimizer",
           .key = "momentum",
           .type = KeyType::number,
           .range = from_to_below(0, 1),
           .help = "Momentum of each learner: v = momentum v + gradient."},
          [](auto& c) -> auto& { return c.optimizer.momentum; }),
      key(
          {.section = "optimizer",
           .key = "weight_decay",
           .type = KeyType::number,
           .range = at_least(0),
           .help =
               "Factor of the weights that is added to the gradient, on every tensor."},
          [](auto& c) -> auto& { return c.optimizer.weight_decay; }),
  };
}

KeyBindings schedule_keys() {
  const EnumNames<SchedulePolicy> policies = {{"fixed", SchedulePolicy::fixed},
                                              {"multistep", SchedulePolicy::multistep}};
  const auto multistep = [](const RunConfig& c) {
    return c.optimizer.schedule.policy == SchedulePolicy::multistep;
  };
  const std::string condition = "with policy = \"multistep\"";
  return {
      bind_names<RunConfig>(
          {.section = "optimizer.schedule",
           .key = "policy",
           .help = "`multistep`: times `gamma` at each of `steps`."},
          policies,
          [](auto& c) -> auto& { return c.optimizer.schedule.policy; }),
      only_if(key(
                  {.section = "optimizer.schedule",
                   .key = "steps",
                   .type = KeyType::number_list,
                   .range = above_to(0, longest),
                   .least_size = 1,
                   .unit = "epochs",
                   .default_text = "must be given",
                   .help = "Where the rate changes, increasing; fractions are allowed."},
                  [](auto& c) -> auto& { return c.optimizer.schedule.steps; }),
              multistep,
              condition,
              "policy"),
      only_if(key(
                  {.section = "optimizer.schedule",
                   .key = "gamma",
                   .type = KeyType::number,
                   .range = above(0),
                   .help = "Factor of the learning rate at each step."},
                  [](auto& c) -> auto& { return c.optimizer.schedule.gamma; }),
              multistep,
              condition,
              "policy"),
  };
}

KeyBinding alpha_key() {
  const auto read = [](const DeckValue& value, RunConfig& config) {
    AveragingOptions& averaging = config.averaging;
    if (const auto* word = std::get_if<std::string>(&value)) {
      averaging.alpha_rule =
          *word == "1/k" ? AlphaRule::one_over_k : AlphaRule::automatic;
    } else {
      averaging.alpha_rule = AlphaRule::number;
      averaging.alpha = std::get<double>(value);
    }
  };
  const auto show = [](const RunConfig& config) {
    switch (config.averaging.alpha_rule) {
      case AlphaRule::automatic:
        return toml_text("auto");
      case AlphaRule::one_over_k:
        return toml_text("1/k");
      case AlphaRule::number:
        break;
    }
    return toml_text(config.averaging.alpha);
  };
  return {
      {.section = "averaging",
       .key = "alpha",
       .type = KeyType::number,
       .range = above_to(0, 2),
       .words = {"1/k", "auto"},
       .help = "Share of a replica's distance from the average model that a correction "
               "takes; "
               "`\"auto\"` is 1/(k+1) for k learners. With averaging momentum m it must "
               "satisfy alpha (k + 1 + m) < 2 (1 + m)."},
      read,
      show};
}

KeyBindings averaging_keys() {
  const EnumNames<AveragingMethodName> methods = {{"sma", AveragingMethodName::sma},
                                                  {"ssgd", AveragingMethodName::ssgd}};
  return {
      bind_names<RunConfig>(
          {.section = "averaging",
           .key = "method",
           .help = "`sma`: synchronous model averaging; `ssgd`: the mean of the "
                   "learners' gradients, which uses no other key of this "
                   "section."},
          methods,
          [](auto& c) -> auto& { return c.averaging.method; }),
      alpha_key(),
      bind_or_word<RunConfig>(
          {.section = "averaging",
           .key = "momentum",
           .type = KeyType::number,
           .range = from_to_below(0, 1),
           .help = "Momentum of the average model; `\"auto\"` is 0.9 where "
                   "`optimizer.momentum` is 0, else 0.5."},
          "auto",
          std::optional<double>(),
          [](auto& c) -> auto& { return c.averaging.momentum; }),
      bind_or_word<RunConfig>(
          {.section = "averaging",
           .key = "period",
           .type = KeyType::integer,
           .range = at_least(1),
           .unit = "rounds",
           .help = "Rounds from one averaging to the next; `\"never\"`: only "
                   "for tests, checkpoints and the end."},
          "never",
          std::int64_t{0},
          [](auto& c) -> auto& { return c.averaging.period; }),
      key(
          {.section = "averaging",
           .key = "restart",
           .type = KeyType::boolean,
           .help = "Set every replica to the average model where a step of the schedule "
                   "changes "
                   "the rate."},
          [](auto& c) -> auto& { return c.averaging.restart; }),
  };
}

KeyBindings machine_keys() {
  const EnumNames<BackendName> backends = {{"auto", BackendName::automatic},
                                           {"host", BackendName::host},
                                           {"cuda", BackendName::cuda}};
  return {
      key(
          {.section = "learners",
           .key = "per_device",
           .type = KeyType::integer,
           .range = from_to(1, 1024),
           .help = "Learners on each device."},
          [](auto& c) -> auto& { return c.learners.per_device; }),
      bind_or_word<RunConfig>(
          {.section = "learners",
           .key = "threads",
           .type = KeyType::integer,
           .range = from_to(1, 1024),
           .help = "Threads of each learner on the host; `\"auto\"`: the "
                   "process's cores divided among the learners."},
          "auto",
          0,
          [](auto& c) -> auto& { return c.learners.threads; }),
      bind_names<RunConfig>(
          {.section = "devices",
           .key = "backend",
           .help = "`auto`: CUDA where a device and crossbow-cuda are found, "
                   "else the host."},
          backends,
          [](auto& c) -> auto& { return c.devices.backend; }),
      key(
          {.section = "devices",
           .key = "bind",
           .type = KeyType::boolean,
           .help = "Bind each learner to cores of its own."},
          [](auto& c) -> auto& { return c.learners.bind; }),
  };
}

KeyBindings checkpoint_keys() {
  return {
      key(
          {.section = "checkpoint",
           .key = "every_epochs",
           .type = KeyType::number,
           .range = from_to(0, longest),
           .unit = "epochs",
           .help = "Distance of checkpoints; fractions are allowed; 0: only at the end."},
          [](auto& c) -> auto& { return c.checkpoint.every_epochs; }),
      key(
          {.section = "checkpoint",
           .key = "keep",
           .type = KeyType::integer,
           .range = from_to(1, 1000000),
           .unit = "files",
           .help = "Newest checkpoints that are kept."},
          [](auto& c) -> auto& { return c.checkpoint.keep; }),
  };
}

}  // namespace

const std::vector<KeyBinding>& key_table() {
  static const KeyBindings table = [] {
    KeyBindings all;
    for (const KeyBindings& keys : {run_keys(),
                                    data_keys(),
                                    model_keys(),
                                    batch_norm_keys(),
                                    training_keys(),
                                    optimizer_keys(),
                                    schedule_keys(),
                                    averaging_keys(),
                                    machine_keys(),
                                    checkpoint_keys()}) {
      all.insert(all.end(), keys.begin(), keys.end());
    }
    return all;
  }();
  return table;
}

}  // namespace crossbow
