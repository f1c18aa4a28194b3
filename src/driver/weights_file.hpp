#pragma once
// The weights of one model in files of other programs and in our own: what `export`
// writes and what `import-weights` and model.weights read.

#include <string>

#include "io/checkpoint_file.hpp"

#include "model/network_plan.hpp"
#include "model/parameter_layout.hpp"
#include "training/training_state.hpp"

namespace crossbow {

/// The average model of a checkpoint, the tensors named as in the network:
/// "conv1.weight", "bn1.running_mean".
NamedTensors average_weights(const Checkpoint& checkpoint);

/// Read weights from a .npz file, or from the average model of a .h5 file. Throws
/// Error(data) that names all tensors of `network` which are missing, of another shape
/// or not finite, and all in the file which the network does not have.
NamedTensors read_weights(const std::string& path, const NetworkPlan& network);

/// The state of a training of `learners` before its first round, which starts from these
/// weights.
TrainingState state_of_weights(NamedTensors weights,
                               const NetworkPlan& network,
                               int learners);

}  // namespace crossbow
