#!/usr/bin/env python3
"""Weights go out to numpy, PyTorch and ONNX and come back, and every program computes the same with them.

What needs PyTorch or onnxruntime is left out where this Python has none; CROSSBOW_PYTHON names another
one to use. Without numpy there is nothing to test (exit status 77).
"""

import gzip
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy
except ImportError:
    other = os.environ.pop("CROSSBOW_PYTHON", "")
    if other:
        os.execvp(other, [other, *sys.argv])
    print("skipped: this Python has no numpy, and CROSSBOW_PYTHON names none that has")
    sys.exit(77)

SOURCE = pathlib.Path(os.environ["CROSSBOW_SOURCE_DIR"]).resolve()
PROGRAM = os.environ["CROSSBOW_PROGRAM"]
sys.path.insert(0, str(SOURCE / "scripts"))
MEAN, STD = 0.019161, 0.023561
DECK = f"""
[data]
train = "digits"
test = "digits"
mean = {MEAN}
std = {STD}
[[model.layer]]
name = "conv1"
type = "convolution"
filters = 8
kernel = 3
padding = "same"
bias = false
[[model.layer]]
name = "bn1"
type = "batch_norm"
[[model.layer]]
name = "relu1"
type = "relu"
[[model.layer]]
name = "conv2"
type = "convolution"
filters = 8
kernel = 4
padding = "same"
[[model.layer]]
name = "bn2"
type = "batch_norm"
epsilon = 0.01
[[model.layer]]
name = "sum"
type = "add"
inputs = ["bn2", "relu1"]
[[model.layer]]
name = "relu2"
type = "relu"
[[model.layer]]
name = "pool1"
type = "max_pool"
size = 2
[[model.layer]]
name = "conv3"
type = "convolution"
filters = 12
kernel = 3
stride = 1
padding = 1
[[model.layer]]
name = "tanh"
type = "tanh"
[[model.layer]]
name = "pool2"
type = "average_pool"
size = 2
[[model.layer]]
name = "fc1"
type = "linear"
units = 24
[[model.layer]]
name = "relu3"
type = "relu"
[[model.layer]]
name = "dropout"
type = "dropout"
probability = 0.1
[[model.layer]]
name = "fc2"
type = "linear"
units = 10
[[model.layer]]
name = "mean"
type = "global_average_pool"
inputs = ["tanh"]
[[model.layer]]
name = "fc3"
type = "linear"
units = 10
bias = false
[[model.layer]]
name = "logits"
type = "add"
inputs = ["fc2", "fc3"]
[training]
batch = 8
epochs = 2
[optimizer]
learning_rate = 0.02
[learners]
per_device = 2
threads = 1
[devices]
domain = "machine"
"""
SHAPES = {
    "conv1.weight": (8, 1, 3, 3),
    "conv2.weight": (8, 8, 4, 4), "conv2.bias": (8,),
    "conv3.weight": (12, 8, 3, 3), "conv3.bias": (12,),
    "fc1.weight": (24, 48), "fc1.bias": (24,), "fc2.weight": (10, 24), "fc2.bias": (10,),
    "fc3.weight": (10, 12),
    **{f"{layer}.{tensor}": (8,) for layer in ("bn1", "bn2")
       for tensor in ("scale", "shift", "running_mean", "running_variance")},
}


def crossbow(*arguments, status=0):
    """What the program prints; it must end with this status."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def test_images():
    """The test images, (n, 8, 8) of bytes, and their labels."""
    folder = SOURCE / "inputs/data/digits"
    images = gzip.decompress((folder / "test-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((folder / "test-labels-idx1-ubyte.gz").read_bytes())
    return (numpy.frombuffer(images, numpy.uint8, offset=16).reshape(-1, 8, 8),
            numpy.frombuffer(labels, numpy.uint8, offset=8))


def network_input(images):
    return ((images[:, None].astype(numpy.float64) / 255 - MEAN) / STD).astype(numpy.float32)


def our_logits(model, folder):
    """Logits of all test images, and accuracy and loss as printed."""
    answer = crossbow("evaluate", model, "digits", "--logits", folder / "logits.npz")
    accuracy, loss = map(float, re.search(r"accuracy ([0-9.]+), test loss ([0-9.]+)", answer).groups())
    return numpy.load(folder / "logits.npz")["logits"], accuracy, loss


def softmax(logits):
    e = numpy.exp(logits.astype(numpy.float64) - logits.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def agree(ours, theirs, what):
    assert ours.shape == theirs.shape, (what, ours.shape, theirs.shape)
    difference = numpy.abs(ours - theirs).max() / max(1, numpy.abs(theirs).max())
    assert difference < 1e-5, (what, difference)
    print(f"{what}: {len(ours)} images, largest difference {difference:.1e}")


def test_numpy(folder, checkpoint):
    """Names and shapes of an export; back to a model that computes the same."""
    weights = folder / "weights.npz"
    crossbow("export", checkpoint, weights)
    arrays = dict(numpy.load(weights))
    assert {name: array.shape for name, array in arrays.items()} == SHAPES
    assert all(array.dtype == numpy.float32 for array in arrays.values())
    logits, accuracy, loss = our_logits(checkpoint, folder)
    _, labels = test_images()
    assert abs((logits.argmax(axis=1) == labels).mean() - accuracy) < 1e-4
    chosen = softmax(logits)[numpy.arange(len(labels)), labels]
    assert abs(-numpy.log(chosen).mean() - loss) < 1e-4
    # numpy's own writer, another layout, another type: the same weights.
    numpy.savez_compressed(folder / "again.npz", **{
        name: numpy.asfortranarray(array.astype(numpy.float64)) for name, array in arrays.items()})
    for file in (weights, folder / "again.npz"):
        crossbow("import-weights", file, folder / "deck.toml", folder / "back.h5", "training.batch=4")
        assert numpy.array_equal(our_logits(folder / "back.h5", folder)[0], logits)
        crossbow("export", folder / "back.h5", folder / "back.npz")
        assert (folder / "back.npz").read_bytes() == weights.read_bytes()


def test_run(folder, checkpoint):
    """A run starts from given weights: with a rate of 0 it also ends with them."""
    crossbow("export", checkpoint, folder / "start.npz")
    crossbow("export", checkpoint, folder / "start.h5")
    logits = our_logits(checkpoint, folder)[0]
    for kind in ("npz", "h5"):
        output = folder / f"run-{kind}"
        crossbow("run", folder / "deck.toml", f"run.output={output}", f"model.weights={folder}/start.{kind}",
                 "training.epochs=0.1", "optimizer.learning_rate=0")
        newest = max((output / "checkpoints").glob("round-*.h5"))
        crossbow("export", newest, folder / "end.npz")
        end, start = dict(numpy.load(folder / "end.npz")), dict(numpy.load(folder / "start.npz"))
        assert all(numpy.array_equal(end[name], start[name]) for name in SHAPES if "running" not in name)
        # Until the first round the statistics are the given ones, too.
        crossbow("import-weights", folder / f"start.{kind}", folder / "deck.toml", folder / "model.h5")
        assert numpy.array_equal(our_logits(folder / "model.h5", folder)[0], logits)


def test_complaints(folder):
    """All that does not fit is named at once, and nothing is written."""
    arrays = dict(numpy.load(folder / "weights.npz"))
    arrays["conv1.weight"] = arrays["conv1.weight"].transpose(2, 3, 1, 0)
    arrays["conv2.bias"] = numpy.full(8, numpy.nan, numpy.float32)
    arrays["bn1.weight"] = arrays.pop("bn1.scale")
    numpy.savez(folder / "bad.npz", **arrays)
    for command in (["import-weights", folder / "bad.npz", folder / "deck.toml", folder / "bad.h5"],
                    ["check", folder / "deck.toml", f"model.weights={folder}/bad.npz"],
                    ["run", folder / "deck.toml", f"model.weights={folder}/bad.npz",
                     f"run.output={folder}/bad"]):
        answer = crossbow(*command, status=3)
        for part in ("conv1.weight has the shape [3, 3, 1, 8] (expected [8, 1, 3, 3])",
                     "conv2.bias has the value nan (element 0)", "bn1.scale is missing (expected [8])",
                     "bn1.weight [8] is no tensor of the network"):
            assert part in answer, (part, answer)
    assert not (folder / "bad.h5").exists() and not (folder / "bad/checkpoints").exists()
    crossbow("import-weights", folder / "none.npz", folder / "deck.toml", folder / "bad.h5", status=3)
    crossbow("import-weights", folder / "deck.toml", folder / "deck.toml", folder / "bad.h5", status=2)
    crossbow("export", folder / "back.h5", folder / "weights.pt", status=2)


def write_png(path, image):
    """An 8-bit grey PNG."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"".join(b"\0" + row.tobytes() for row in image)
    height, width = image.shape
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def test_predict(folder, checkpoint):
    """Class and probability of single images are those of the whole test set."""
    logits = our_logits(checkpoint, folder)[0]
    images, _ = test_images()
    names = [folder / f"{i}.png" for i in range(3)]
    for name, image in zip(names, images):
        write_png(name, image)
    answer = crossbow("predict", checkpoint, *names, "--top", 3)
    for name, line, p in zip(names, answer.splitlines(), softmax(logits)):
        best = p.argsort()[::-1][:3]
        assert re.fullmatch(r"(\d [0-9.]{6}(, )?){3}", line.removeprefix(f"{name}: ")), line
        printed = re.findall(r"(\d) ([0-9.]+)", line.removeprefix(f"{name}: "))
        for k, (label, probability) in zip(best, printed):
            assert int(label) == k and abs(float(probability) - p[k]) < 1e-4, (line, p)
    assert len(crossbow("predict", checkpoint, names[0]).split()) == 3
    write_png(folder / "large.png", numpy.zeros((9, 8), numpy.uint8))
    assert "9x8x1" in crossbow("predict", checkpoint, folder / "large.png", status=3)
    assert "deck.toml" in crossbow("predict", checkpoint, folder / "deck.toml", status=3)
    names[0].write_bytes(names[0].read_bytes()[:50])
    assert "0.png" in crossbow("predict", checkpoint, names[0], status=3)


def torch_network(torch):
    """The deck's network."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(1, 8, 3, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(8)
            self.conv2 = nn.Conv2d(8, 8, 4)
            self.bn2 = nn.BatchNorm2d(8, eps=0.01)
            self.conv3 = nn.Conv2d(8, 12, 3, padding=1)
            self.fc1 = nn.Linear(48, 24)
            self.fc2 = nn.Linear(24, 10)
            self.fc3 = nn.Linear(12, 10, bias=False)

        def forward(self, x):
            f = nn.functional
            skip = f.relu(self.bn1(self.conv1(x)))
            x = f.relu(self.bn2(self.conv2(f.pad(skip, (1, 2, 1, 2)))) + skip)
            x = torch.tanh(self.conv3(f.max_pool2d(x, 2)))
            y = f.relu(self.fc1(f.avg_pool2d(x, 2).flatten(1)))
            return self.fc2(y) + self.fc3(x.mean(dim=(2, 3)))

    return Network().eval()


def test_torch(folder, checkpoint):
    """PyTorch computes with our weights what we do, and we with its."""
    import torch
    from load_weights import load_weights, save_weights
    x = torch.from_numpy(network_input(test_images()[0]))
    network = torch_network(torch)
    network.load_state_dict(load_weights(folder / "weights.npz"))
    with torch.no_grad():
        agree(our_logits(checkpoint, folder)[0], network(x).numpy(), "PyTorch with our weights")
    torch.manual_seed(1)
    network = torch_network(torch).train()
    with torch.no_grad():
        for bn in (network.bn1, network.bn2):
            torch.nn.init.uniform_(bn.weight, 0.5, 2)
            torch.nn.init.normal_(bn.bias)
        network(x)  # for running statistics of its own
        logits = network.eval()(x)
    save_weights(folder / "torch.npz", network.state_dict())
    crossbow("import-weights", folder / "torch.npz", folder / "deck.toml", folder / "torch.h5")
    ours, accuracy, loss = our_logits(folder / "torch.h5", folder)
    agree(ours, logits.numpy(), "we with PyTorch's weights")
    labels = torch.from_numpy(test_images()[1].astype(numpy.int64))
    assert abs(torch.nn.functional.cross_entropy(logits, labels).item() - loss) < 1e-4
    assert abs((logits.argmax(dim=1) == labels).double().mean().item() - accuracy) < 1e-4


def test_onnx(folder, checkpoint):
    """onnxruntime computes with our graph what we do, whatever the batch."""
    import onnxruntime
    crossbow("export", checkpoint, folder / "model.onnx")
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    x = network_input(test_images()[0])
    agree(our_logits(checkpoint, folder)[0], session.run(["logits"], {"input": x})[0], "onnxruntime")
    assert session.run(["logits"], {"input": x[:1]})[0].shape == (1, 10)
    metadata = session.get_modelmeta().custom_metadata_map
    assert (float(metadata["mean"]), float(metadata["std"])) == (MEAN, STD), metadata


def test_onnx_form(folder):
    """The file keeps the rules of its format, shapes included."""
    import onnx
    onnx.checker.check_model(onnx.load(folder / "model.onnx"), full_check=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        os.environ["CROSSBOW_CACHE"] = str(folder / "cache")
        (folder / "deck.toml").write_text(DECK)
        crossbow("run", folder / "deck.toml", f"run.output={folder}/run")
        checkpoint = max((folder / "run/checkpoints").glob("round-*.h5"))
        test_numpy(folder, checkpoint)
        test_run(folder, checkpoint)
        test_complaints(folder)
        test_predict(folder, checkpoint)
        for test, arguments in ((test_torch, [folder, checkpoint]), (test_onnx, [folder, checkpoint]),
                                (test_onnx_form, [folder])):
            try:
                test(*arguments)
            except ImportError as missing:
                print(f"left out: {test.__name__} ({missing})")


if __name__ == "__main__":
    main()
