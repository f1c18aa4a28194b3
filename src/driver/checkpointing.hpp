#pragma once
// Between a training's state and the checkpoint file that holds it: the names of what is
// saved.

#include <cstdint>
#include <string>
#include <vector>

#include "io/checkpoint_file.hpp"

#include "config/effective_deck.hpp"
#include "driver/prepared_run.hpp"
#include "training/training_state.hpp"

namespace crossbow {

/// Add `tensors`, by their names in TrainingState.
void add_tensors(NamedTensors&& tensors, Checkpoint& file);

/// The file's content for `state` of `run`, with what a resumed run must have in common
/// with it and the deck, from which `crossbow evaluate` builds the network again. Tensors
/// are those that are unpacked.
Checkpoint to_checkpoint(TrainingState&& state, const PreparedRun& run);

/// The inverse. Throws Error(data) naming `path` where something is missing or a value is
/// impossible.
TrainingState from_checkpoint(const std::string& path, const Checkpoint& checkpoint);

/// The deck in the checkpoint. This and the following throw Error(data) naming `path`
/// where something is missing.
RunConfig deck_of(const std::string& path, const Checkpoint& checkpoint);

/// The groups of tensors that a training goes on from: replicas, velocities, statistics,
/// the average's memory. An exported model, for one, has none of them. Call after
/// from_checkpoint, which bounds the number of learners.
std::vector<std::string> groups_of_state(const std::string& path,
                                         const Checkpoint& checkpoint);

/// Throw Error(data) naming file and tensor unless the average, `groups` and whatever
/// other group is there have all tensors of `network`.
void check_tensors(const std::string& path,
                   const Checkpoint& checkpoint,
                   const NetworkPlan& network,
                   const std::vector<std::string>& groups = {});

/// The network of a checkpoint, as its deck and the images that it was trained on have
/// it.
NetworkPlan network_of(const std::string& path, const Checkpoint& checkpoint);
/// What the pixels of its training were scaled by.
PixelScale pixel_scale_of(const std::string& path, const Checkpoint& checkpoint);
/// The names of its classes, as many as the network has; empty where the training set had
/// none.
std::vector<std::string> class_names_of(const std::string& path,
                                        const Checkpoint& checkpoint);

/// Return in what the run that `checkpoint` is of trains otherwise than this one: keys of
/// the deck, the training data. The number of learners and the devices may differ.
std::vector<DeckDifference> differences_to(const std::string& path,
                                           const Checkpoint& checkpoint,
                                           const PreparedRun& run);

/// Tell whether learners are as many as at the checkpoint and their corrections added in
/// the same order: only then does a resumed run end bit for bit like one that was not
/// interrupted. Throws Error(data) naming `path` where something is missing.
bool has_same_learners(const std::string& path,
                       const Checkpoint& checkpoint,
                       const PreparedRun& run);
bool has_same_reduction(const Checkpoint& checkpoint, const PreparedRun& run);

}  // namespace crossbow
