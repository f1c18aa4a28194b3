#!/usr/bin/env python3
"""Interrupted anywhere and resumed, a run ends bit for bit like one that nobody disturbed.

    scripts/tests/kill.py [--kills N] [--seed S] [--only CASE]

Kills (SIGKILL) runs of every synchronous method at random moments, some of them just while a checkpoint
is being written, and stops others by signal or time limit. After each end: every checkpoint is whole,
and the newest is at most one interval, and the one in writing, behind what the history shows. At the
end: history less its times, weights, velocities, average model, batch-norm statistics are equal.
"""

import argparse
import csv
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "lib"))
import h5  # noqa: E402

PROGRAM = os.environ["CROSSBOW_PROGRAM"]
SOURCE = pathlib.Path(os.environ["CROSSBOW_SOURCE_DIR"]).resolve()
EVERY = 0.25  # epochs from one checkpoint to the next
SAMPLES = 1437  # of digits
HANGS = 300  # [s]

DECK = """
[data]
train = "digits"
test = "digits"
mean = 0.019161
std = 0.023561
[training]
batch = 8
epochs = 4
test_every = 0.125
[optimizer]
learning_rate = 0.02
schedule = {policy = "multistep", steps = [1.3, 2.1], gamma = 0.5}
[learners]
per_device = 2
threads = 1
[devices]
domain = "machine"
[checkpoint]
every_epochs = 0.25
"""

PLAIN = '[model]\nname = "mlp"\nhidden = [32]\ndropout = 0.1\n'
NORMED = """
[[model.layer]]
type = "convolution"
filters = 6
kernel = 3
[[model.layer]]
type = "batch_norm"
[[model.layer]]
type = "relu"
[[model.layer]]
type = "max_pool"
size = 2
[[model.layer]]
type = "linear"
units = 10
"""

# Name, model, overrides.
CASES = [
    ("sma", PLAIN, ["averaging.period=2"]),
    ("sma-normed", NORMED, ["averaging.period=3"]),
    ("local_sgd", PLAIN, ["averaging.method=local_sgd", "averaging.period=4"]),
    ("reference", PLAIN, ["averaging.method=reference", "averaging.period=2",
                           "devices.topology=pack:2 numa:1 core:2 pu:1"]),
    ("ssgd-normed", NORMED, ["averaging.method=ssgd", "batch_norm.statistics=recompute",
                             "batch_norm.samples=64"]),
    ("easgd", PLAIN, ["averaging.method=easgd", "averaging.period=3", "learners.per_device=3"]),
    ("post_local_sgd", PLAIN, ["averaging.method=post_local_sgd", "averaging.period=2",
                                "averaging.local_from_epoch=1.5"]),
    ("polyak_ruppert", PLAIN, ["averaging.method=polyak_ruppert"]),
    ("never-normed", NORMED, ["averaging.period=never"]),
]
DIGEST = "sha256"  # over times, too
TIMED_COLUMNS = ("seconds", "images_per_second")


class Failure(Exception):
    """What the test found."""


def require(good, what):
    if not good:
        raise Failure(what)


def history(folder):
    """Rows of a history without its columns of time; a last line that was cut is left out."""
    path = folder / "out" / "history.csv"
    if not path.exists():
        return []
    text = path.read_text()
    rows = csv.DictReader(text[:text.rfind("\n") + 1].splitlines())
    return [{name: value for name, value in row.items() if name not in TIMED_COLUMNS}
            for row in rows]


def checkpoints(folder):
    return sorted((folder / "out" / "checkpoints").glob("round-?????????.h5"))


def content(path):
    """All that must be equal: tensors, and attributes but for times and the limit of a life."""
    data, attributes = h5.read(path)
    attributes["deck"] = re.sub(r".*time_limit.*\n", "", attributes["deck"])
    return data, {k: v for k, v in attributes.items() if k != DIGEST and "seconds" not in k}


def difference(mine, wanted):
    """What differs between two values; of texts the lines."""
    if isinstance(mine, str) and isinstance(wanted, str):
        lines = zip(mine.splitlines(), wanted.splitlines(), strict=False)
        return next((f"{a}, not {b}" for a, b in lines if a != b), "another length")
    return f"{mine}, not {wanted}"


class Campaign:
    """Runs of one case: an undisturbed one, and those that are interrupted."""

    def __init__(self, case, folder, rng):
        self.name, model, self.overrides = case
        self.folder, self.rng = folder, rng
        folder.mkdir()
        self.deck = folder / "deck.toml"
        # A list of tables ends the deck, a table's place does not matter.
        self.deck.write_text(DECK + model)
        self.kills = self.stops = self.writing = 0
        self.lives = 0
        start = time.monotonic()
        self.whole = folder / "undisturbed"
        self.whole.mkdir()
        status, text = self.finish(self.start(self.whole, []))
        require(status == 0, f"the undisturbed run ended with {status}: {text}")
        self.duration = time.monotonic() - start
        rows = history(self.whole)
        learners = int(rows[-1]["learners"])
        self.interval = EVERY * SAMPLES / (8 * learners) + 1  # [rounds]
        require(len(rows) == 32, f"{len(rows)} rows instead of 32")

    def start(self, folder, arguments):
        command = [PROGRAM, "run", str(self.deck), "run.output=out", *self.overrides, *arguments]
        with open(folder / "log", "wb") as log:
            return subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)

    def finish(self, process):
        try:
            status = process.wait(timeout=HANGS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure(f"a run did not end within {HANGS} s") from None
        return status, self.log_of(process)

    def log_of(self, process):
        del process
        newest = max(self.folder.glob("*/log"), key=lambda path: path.stat().st_mtime_ns)
        text = newest.read_text()
        return text[:500] + " ... " + text[-1500:] if len(text) > 2000 else text

    def await_writing(self, process, folder):
        """Wait until a checkpoint is being written, at most for a second."""
        end = time.monotonic() + 1
        while time.monotonic() < end and process.poll() is None:
            try:
                if any(".temporary-" in name for name in os.listdir(folder / "out/checkpoints")):
                    self.writing += 1
                    return
            except FileNotFoundError:
                pass

    def live_once(self, folder):
        """Run on and interrupt it somehow; True when it came to its end."""
        kind = self.rng.choices(["time", "writing", "stop", "limit"], [6, 4, 1, 1])[0]
        arguments = ["--resume"]
        if kind == "limit":
            arguments.append(f"run.time_limit={self.rng.uniform(0.01, 0.5) * self.duration}")
        before = [path.name for path in checkpoints(folder)]
        process = self.start(folder, arguments)
        self.lives += 1
        if kind != "limit":
            time.sleep(self.rng.uniform(0, 0.8 * self.duration))
        if kind == "writing":
            self.await_writing(process, folder)
        if kind in ("time", "writing"):
            process.kill()
        elif kind == "stop":
            # Before its handlers are there a signal ends it as it would any program.
            process.send_signal(self.rng.choice([signal.SIGTERM, signal.SIGINT, signal.SIGUSR1]))
        status, text = self.finish(process)
        if kind in ("time", "writing") and status == -signal.SIGKILL:
            self.kills += 1
        elif status == 75 or (kind == "stop" and status < 0):
            self.stops += 1
        else:
            require(status == 0, f"a life ({kind}) ended with {status}: {text}")
        if before:
            require("resuming from" in text or status < 0, f"it did not resume: {text}")
        self.check_left(folder, before)
        return status == 0

    def check_left(self, folder, before):
        """What an end left behind: whole checkpoints, of which the newest is new enough."""
        there = checkpoints(folder)
        if before:
            require(there and there[-1].name >= before[-1], "the newest checkpoint is gone")
        for path in there:
            try:
                whole = h5.read(path)[1].get("sha256") == h5.digest(path)
            except h5.Hdf5Error as error:
                raise Failure(f"{path} cannot be read: {error}") from None
            require(whole, f"{path} has a digest of another content")
        rows = history(folder)
        shown = int(rows[-1]["rounds"]) if rows else 0
        newest = int(there[-1].stem[6:]) if there else 0
        require(shown - newest <= 2 * self.interval + 1,
                f"history shows round {shown}, the newest checkpoint is of round {newest}, "
                f"an interval {self.interval:.0f} rounds")

    def compare(self, folder):
        require(history(folder) == history(self.whole), f"the history of {folder} is another one")
        mine, wanted = checkpoints(folder)[-1], checkpoints(self.whole)[-1]
        require(mine.name == wanted.name, f"it ended with {mine.name}, not {wanted.name}")
        (data, attributes), (wanted_data, wanted_attributes) = content(mine), content(wanted)
        require(data.keys() == wanted_data.keys(), "the last checkpoint has other tensors")
        for name in data:
            require(data[name] == wanted_data[name], f"the tensor {name} is another one")
        for name in attributes.keys() | wanted_attributes.keys():
            require(attributes.get(name) == wanted_attributes.get(name),
                    f"attribute {name} is another one: {difference(attributes.get(name), wanted_attributes.get(name))}")

    def disturb(self, kills):
        number = 0
        while self.kills < kills:
            number += 1
            folder = self.folder / f"disturbed{number}"
            folder.mkdir()
            over = False
            while not over and self.kills < kills:
                over = self.live_once(folder)
            if not over:
                status, text = self.finish(self.start(folder, ["--resume"]))
                require(status == 0, f"the last life ended with {status}: {text}")
            self.compare(folder)
            shutil.rmtree(folder)
        return number


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=36)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one case by name")
    options = parser.parse_args()
    h5.load(PROGRAM)
    cases = [case for case in CASES if options.only in (None, case[0])]
    cases = cases[:max(1, min(len(cases), options.kills // 4))]
    folder = pathlib.Path(tempfile.mkdtemp())
    os.environ["CROSSBOW_CACHE"] = str(folder / "cache")
    os.environ["CROSSBOW_DATA"] = str(SOURCE / "inputs" / "data")
    print(f"seed {options.seed}")
    start = time.monotonic()
    failures = 0
    for i, case in enumerate(cases):
        share = options.kills * (i + 1) // len(cases) - options.kills * i // len(cases)
        try:
            campaign = Campaign(case, folder / case[0], random.Random(f"{options.seed} {case[0]}"))
            runs = campaign.disturb(share)
            print(f"{case[0]}: {campaign.kills} kills ({campaign.writing} while writing), "
                  f"{campaign.stops} stops, {runs} runs, an undisturbed one {campaign.duration:.1f} s",
                  flush=True)
        except Failure as failure:
            failures += 1
            print(f"FAILED: {case[0]}: {failure}\n(left in {folder})", flush=True)
    if failures:
        sys.exit(1)
    shutil.rmtree(folder)
    print(f"{options.kills} kills, all resumed bit for bit, {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
