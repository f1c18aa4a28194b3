"""Weights between Crossbow and PyTorch.

    module.load_state_dict(load_weights("weights.npz"))  # of crossbow export CHECKPOINT weights.npz
    save_weights("weights.npz", module.state_dict())     # for crossbow import-weights, model.weights

The module's layers bear the names of the deck's, and its input is (value / 255 - mean) / std with the
mean and std of the training, which are in the checkpoint and in every .onnx file.
"""
import numpy
import torch

TORCH = {"scale": "weight", "shift": "bias", "running_variance": "running_var"}  # of batch norm
OURS = {theirs: ours for ours, theirs in TORCH.items()}


def load_weights(path):
    """Return the state_dict of a .npz file."""
    state = {}
    for name, array in numpy.load(path).items():
        layer, _, tensor = name.rpartition(".")
        state[f"{layer}.{TORCH.get(tensor, tensor)}"] = torch.from_numpy(array)
    return state


def save_weights(path, state):
    """Write a state_dict to a .npz file."""
    arrays = {}
    for name, value in state.items():
        layer, _, tensor = name.rpartition(".")
        if tensor != "num_batches_tracked":
            is_batch_norm = f"{layer}.running_mean" in state
            arrays[f"{layer}.{OURS.get(tensor, tensor) if is_batch_norm else tensor}"] = value.cpu().numpy()
    numpy.savez(path, **arrays)
