#pragma once
// Between a training's state and the checkpoint file that holds it: the names of what is
// saved.

#include <cstdint>
#include <string>

#include "io/checkpoint_file.hpp"

#include "driver/prepared_run.hpp"
#include "training/training_state.hpp"

namespace crossbow {

/// The file's content for `state` of `run`, with what a resumed run must have in common
/// with it and the deck, from which `crossbow evaluate` builds the network again.
Checkpoint to_checkpoint(TrainingState&& state, const PreparedRun& run);

/// The inverse. Throws Error(data) naming `path` where something is missing.
TrainingState from_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// The deck in the checkpoint. This and the following throw Error(data) naming `path`
/// where something is missing.
RunConfig deck_of(const std::string& path, const Checkpoint& checkpoint);

/// What the network of a checkpoint takes and tells apart.
struct ModelInput {
  ImageShape image;
  std::int64_t classes = 0;
};
ModelInput model_input_of(const std::string& path, const Checkpoint& checkpoint);
/// What the pixels of its training were scaled by.
PixelScale pixel_scale_of(const std::string& path, const Checkpoint& checkpoint);

/// Throw Error(usage) that names the key and both values unless the checkpoint at `path`
/// belongs to a run like this one: what decides about the training in the deck, and the
/// training data.
void check_identity(const std::string& path,
                    const Checkpoint& checkpoint,
                    const PreparedRun& run);

/// Whether corrections are added in the same order as before the checkpoint: only then
/// does a resumed run end bit for bit like one that was not interrupted.
bool has_same_reduction(const Checkpoint& checkpoint, const PreparedRun& run);

}  // namespace crossbow
