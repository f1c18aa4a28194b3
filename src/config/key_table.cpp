#include "config/key_table.hpp"

#include "config/key_groups.hpp"

namespace crossbow {

namespace {

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
           .help = "Write a checkpoint and stop with exit status 75 after this time, "
                   "that of loading data included."},
          [](auto& c) -> auto& { return c.run.time_limit; }),
      key(
          {.section = "run",
           .key = "memory_limit",
           .type = KeyType::number,
           .range = above(0),
           .unit = "bytes",
           .default_text = "what the machine, the job's control group or `ulimit -v` has",
           .help = "A run that would need more for its replicas, activations and "
                   "checkpoints is refused before it starts."},
          [](auto& c) -> auto& { return c.run.memory_limit; }),
  };
}

KeyBindings data_keys() {
  return {
      key(
          {.section = "data",
           .key = "train",
           .least_size = 1,
           .help = "Training data: an HDF5 data set, a folder or archive that `crossbow "
                   "import` takes, or the name of a folder of one "
                   "(`digits`, `fashion-mnist`, `mnist`, `cifar10`)."},
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

KeyBindings augment_keys() {
  return {
      key(
          {.section = "data.augment",
           .key = "resize",
           .type = KeyType::integer,
           .range = from_to(0, 65536),
           .unit = "pixels",
           .help =
               "Scale images so that the shorter side has this length, before `crop` is "
               "taken; 0: as they are."},
          [](auto& c) -> auto& { return c.data.augment.resize; }),
      only_if(
          key(
              {.section = "data.augment",
               .key = "pad",
               .type = KeyType::integer,
               .range = from_to(0, 4096),
               .unit = "pixels",
               .help = "Rows and columns of zeros around a training image, out of "
                       "which a part of the image's size, or of `crop`, is taken "
                       "anywhere."},
              [](auto& c) -> auto& { return c.data.augment.pad; }),
          [](const RunConfig& c) { return c.data.augment.resize == 0; },
          "without resize",
          "resize"),
      key(
          {.section = "data.augment",
           .key = "crop",
           .type = KeyType::integer,
           .range = from_to(0, 65536),
           .unit = "pixels",
           .help = "Height and width of the part of each image that is used: anywhere in "
                   "training, the middle in tests; 0: the image's own."},
          [](auto& c) -> auto& { return c.data.augment.crop; }),
      key(
          {.section = "data.augment",
           .key = "resized_crop",
           .type = KeyType::boolean,
           .help =
               "Training takes parts of random area (8 to 100 %) and aspect ratio (3/4 "
               "to 4/3), scaled to `crop`; tests the middle, as without it."},
          [](auto& c) -> auto& { return c.data.augment.resized_crop; }),
      key(
          {.section = "data.augment",
           .key = "mirror",
           .type = KeyType::boolean,
           .help =
               "Change left and right of half of the training images, others in every "
               "epoch."},
          [](auto& c) -> auto& { return c.data.augment.mirror; }),
  };
}

bool is_named(const RunConfig& config) {
  return config.model.layers.empty();
}

/// Keys of single named networks.
KeyBindings named_network_keys() {
  return {
      only_if(
          key(
              {.section = "model",
               .key = "hidden",
               .type = KeyType::integer_list,
               .range = from_to(1, 1 << 24),
               .least_size = 1,
               .most_size = 1000,
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
          [](const RunConfig& c) {
            return is_named(c) && (c.model.name == "lenet" || c.model.name == "mlp");
          },
          "with name = \"lenet\" or \"mlp\"",
          "name"),
      only_if(
          bind_names<RunConfig>(
              {.section = "model",
               .key = "shortcut",
               .help = "How the shortcuts of a residual network for small images change "
                       "shape: `A` leaves pixels out and adds channels of zeros, `B` "
                       "projects by 1x1 convolutions (He et al. 2016)."},
              EnumNames<ShortcutOption>{{"A", ShortcutOption::a},
                                        {"B", ShortcutOption::b}},
              [](auto& c) -> auto& { return c.model.shortcut; }),
          [](const RunConfig& c) { return is_named(c) && is_small_resnet(c.model.name); },
          "with name = \"resnet20\", \"resnet32\", \"resnet44\", \"resnet56\" or "
          "\"resnet110\"",
          "name"),
  };
}

KeyBindings model_keys() {
  const std::string no_layers = "without [[model.layer]]";
  return {
      only_if(
          key(
              {.section = "model",
               .key = "name",
               .words = {network_names.begin(), network_names.end()},
               .help =
                   "Network by name: `lenet` (the CROSSBOW paper's, for images of at "
                   "least 16x16), `mlp` (linear layers with ReLU), `logistic` (one "
                   "linear layer); for small images such as CIFAR's `resnet20` to "
                   "`resnet110`, `vgg11` and `vgg16` (with batch norm and dropout) and "
                   "`allcnn`; for large ones `resnet18` to `resnet101`. `crossbow "
                   "model NAME` shows any of them."},
              [](auto& c) -> auto& { return c.model.name; }),
          is_named,
          no_layers,
          ""),
      key(
          {.section = "model",
           .key = "weights",
           .default_text = "random, from `run.seed`",
           .help = "A file of weights that the training starts from: `*.npz` of numpy, "
                   "or the average model of a checkpoint `*.h5`."},
          [](auto& c) -> auto& { return c.model.weights; }),
      only_if(bind_names<RunConfig>(
                  {.section = "model",
                   .key = "initializer",
                   .help = "What the weights of all layers start from, see the key of "
                           "layers."},
                  EnumNames<InitializerKind>{
                      {"uniform_fan_in", InitializerKind::uniform_fan_in},
                      {"xavier", InitializerKind::xavier},
                      {"he", InitializerKind::he}},
                  [](auto& c) -> auto& { return c.model.initializer; }),
              is_named,
              no_layers,
              ""),
  };
}

KeyBindings batch_norm_keys() {
  const EnumNames<BatchNormStatistics> statistics = {
      {"average", BatchNormStatistics::average},
      {"recompute", BatchNormStatistics::recompute}};
  return {
      bind_names<RunConfig>(
          {.section = "batch_norm",
           .key = "statistics",
           .help =
               "Statistics of the average model: `average`, the mean of the replicas' "
               "running means and variances, or `recompute`, measured before each test "
               "by forward passes of it over `samples` training images. On digits (two "
               "convolutions with batch norm, mean over 20 seeds) the test accuracy of "
               "both, `average` and `recompute`, was 0.905 and 0.907, 0.862 and 0.865, "
               "0.805 and 0.822 after 1 epoch at 16, 64 and 128 samples a round, and the "
               "same to 0.0005 after 6: hence the one that costs nothing."},
          statistics,
          [](auto& c) -> auto& { return c.model.batch_norm.statistics; }),
      only_if(
          key(
              {.section = "batch_norm",
               .key = "samples",
               .type = KeyType::integer,
               .range = at_least(1),
               .unit = "samples",
               .help = "Rounded up to whole batches, at most an epoch."},
              [](auto& c) -> auto& { return c.model.batch_norm.samples; }),
          [](const RunConfig& c) {
            return c.model.batch_norm.statistics == BatchNormStatistics::recompute;
          },
          "with statistics = \"recompute\"",
          "statistics"),
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
      key(
          {.section = "training",
           .key = "label_smoothing",
           .type = KeyType::number,
           .range = from_to_below(0, 1),
           .help = "Share of a sample's target that is spread over all classes, as "
                   "PyTorch's `CrossEntropyLoss` does. In training and its loss only: "
                   "tests report the plain cross-entropy."},
          [](auto& c) -> auto& { return c.training.label_smoothing; }),
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
           .key = "every_minutes",
           .type = KeyType::number,
           .range = from_to(0, 1e6),
           .unit = "min",
           .help = "Longest time without a checkpoint; 0: none by the clock."},
          [](auto& c) -> auto& { return c.checkpoint.every_minutes; }),
      key(
          {.section = "checkpoint",
           .key = "keep",
           .type = KeyType::integer,
           .range = from_to(1, 1000000),
           .unit = "files",
           .help = "Newest checkpoints that are kept."},
          [](auto& c) -> auto& { return c.checkpoint.keep; }),
      key(
          {.section = "checkpoint",
           .key = "best",
           .type = KeyType::boolean,
           .help = "Save after each test that is better than all before, and keep the "
                   "best as `checkpoints/best.h5`."},
          [](auto& c) -> auto& { return c.checkpoint.best; }),
      bind_names<RunConfig>(
          {.section = "checkpoint",
           .key = "on_write_error",
           .help = "Whether a run goes on where a checkpoint cannot be written (a full "
                   "disk); the last one must be written in any case."},
          EnumNames<WriteErrorPolicy>{{"stop", WriteErrorPolicy::stop},
                                      {"continue", WriteErrorPolicy::go_on}},
          [](auto& c) -> auto& { return c.checkpoint.on_write_error; }),
  };
}

}  // namespace

const std::vector<KeyBinding>& key_table() {
  static const KeyBindings table = [] {
    KeyBindings all;
    for (const KeyBindings& keys : {run_keys(),
                                    data_keys(),
                                    augment_keys(),
                                    model_keys(),
                                    named_network_keys(),
                                    batch_norm_keys(),
                                    training_keys(),
                                    optimizer_keys(),
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
