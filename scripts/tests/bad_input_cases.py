"""The cases of bad_input.py: what is broken, how, and with which status it must end."""

import copy
import functools
import gzip
import json
import os
import pathlib
import re
import struct
import subprocess

import h5
from bad_input import Case

SOURCE = pathlib.Path(os.environ["CROSSBOW_SOURCE_DIR"]).resolve()
USAGE, DATA = (2,), (3,)
GOOD = (0,)
DECK = (SOURCE / "inputs" / "smoke_digits.toml").read_text()
HUGE = 1 << 62


def crossbow(program, *arguments, cwd=None):
    """Run the program where it must work, and return what it printed."""
    return subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=cwd).stdout


def place(name, content):
    """Put a file of this content (bytes, text, or what stands for one) into the case's folder."""
    def prepare(work):
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str) else content)
    return prepare


def both(*steps):
    def prepare(work):
        for step in steps:
            step(work)
    return prepare


def copied(source, name, change=None):
    """Put a copy of a file or folder into the case's folder, and change it."""
    def prepare(work):
        if source.is_dir():
            subprocess.run(["cp", "-r", source, work / name], check=True)
        else:
            (work / name).write_bytes(source.read_bytes())
        if change:
            change(work / name)
    return prepare


# In place of a file.
STAND_INS = {
    "a folder": lambda path: path.mkdir(),
    "a pipe": os.mkfifo,
    "an empty file": lambda path: path.touch(),
    "a link to nothing": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a device without end": lambda path: path.symlink_to("/dev/zero"),
    "a socket": lambda path: make_socket(path),
    "text": lambda path: path.write_text("This is no such file.\r\n" * 40),
    "random bytes": lambda path: path.write_bytes(bytes((i * 197 + i // 7) % 256
                                                        for i in range(5000))),
}
EMPTY_LIKE = ("an empty file", "a device without end")


def make_socket(path):
    import socket
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


def cuts(size, number=64):
    """Lengths to cut a file of a size to: its first and last bytes, powers of two, and evenly."""
    lengths = set(range(min(size, 20))) | set(range(max(0, size - 4), size))
    lengths |= {n + d for n in (64, 96, 128, 512, 1024, 2048, 4096) for d in (-1, 0, 1)}
    lengths |= {size * i // number for i in range(number)}
    return sorted(n for n in lengths if n < size)


def writer(function, *arguments):
    """Write what a function makes of its arguments, when it is wanted: all at once would be gigabytes."""
    return lambda path: path.write_bytes(function(*arguments))


def cut(raw, n):
    return writer(lambda: raw[:n])


def flip(raw, bit):
    def changed():
        copied_raw = bytearray(raw)
        copied_raw[bit // 8] ^= 1 << bit % 8
        return bytes(copied_raw)
    return writer(changed)


# --- decks -----------------------------------------------------------------------------------

def check_deck(name, text, statuses=USAGE, says="", sampled=False):
    return Case("deck", name, ["check", "deck.toml"], statuses, place("deck.toml", text), says,
                many=True, sampled=sampled)


def with_key(section, key, value):
    """The smoke deck with one key set, in TOML's words."""
    lines, inside, done = [], False, False
    for line in DECK.splitlines():
        if inside and re.match(rf"{key}\s*=", line):
            continue
        inside = line == f"[{section}]" if line.startswith("[") else inside
        lines.append(line)
        if inside and not done and line == f"[{section}]":
            lines.append(f"{key} = {value}")
            done = True
    if not done:
        lines += [f"[{section}]", f"{key} = {value}"]
    return "\n".join(lines) + "\n"


WRONG_TYPES = {
    "integer": ['"x"', "1.5", "[]", "{}", "nan", "-inf", "1979-05-27", "99999999999999999999", '""'],
    "number": ['"x"', "true", "[1]", "{}", "nan", "inf", "-inf", "-1e308", "07:32:00"],
    "string": ["1", "true", "[]", '""', "{}", "1.5e300"],
    "boolean": ["1", '"yes"', "[true]", "nan"],
    "list of integers": ["1", '"x"', "[[1]]", '["x"]', "[1.5]", "[-1]", "[]", "[true]"],
    "list of numbers": ["1", '"x"', "[[1]]", '["x"]', "[nan]", "[-inf]", "[]"],
    "list of strings": ["1", '"x"', "[1]", "[[]]", "[]"],
}
ODD_NUMBERS = ["0", "-1", "-0.0", "1e-320", "1e308", "9223372036854775807", "-9223372036854775808",
               "4294967296", "2147483648", "65537", "0x7f", "1_0"]


def key_cases(program):
    """Every key of the reference with values of every wrong type, and odd numbers."""
    section = ""
    for line in crossbow(program, "keys").decode().splitlines():
        if match := re.fullmatch(r"## \[(.*)\]", line):
            section = match.group(1)
        row = re.match(r"\| `(\w+)` \| ([a-z ]+) \|", line)
        if not row or section.startswith("["):
            continue
        key, kind = row.groups()
        for value in WRONG_TYPES.get(kind, []):
            # What no integer can hold is an error of syntax: it has a place, but no key.
            says = "deck.toml" if len(value) > 19 else key
            yield check_deck(f"{section}.{key} = {value}", with_key(section, key, value),
                             says=says, sampled=True)
        if kind in ("integer", "number"):
            for value in ODD_NUMBERS:
                yield check_deck(f"{section}.{key} = {value}", with_key(section, key, value),
                                 (0, 2), sampled=True)


def layers(*tables, model="", rest=""):
    """The smoke deck with a network of its own."""
    text = DECK.replace('[model]\nname = "mlp"  # one hidden layer\n', model)
    return text + rest + "".join(f"\n[[model.layer]]\n{table}\n" for table in tables)


LINEAR = 'type = "linear"\nunits = 10'
ADD = 'type = "add"\n'


def graph_cases():
    def named(name, body):
        return f'name = "{name}"\n{body}'
    cyclic = [named("a", ADD + 'inputs = ["input", "b"]'), named("b", 'type = "relu"\ninputs = ["a"]'),
              LINEAR]
    for name, text in {
        "a cycle of two layers": layers(*cyclic),
        "a layer that takes itself": layers(named("a", ADD + 'inputs = ["a", "a"]'), LINEAR),
        "a layer called input": layers(named("input", 'type = "relu"'), LINEAR),
        "an unknown input": layers('type = "relu"\ninputs = ["nothing"]', LINEAR),
        "two layers of one name": layers(named("a", 'type = "relu"'), named("a", 'type = "relu"'),
                                         LINEAR),
        "an add of one": layers(ADD + 'inputs = ["input"]', LINEAR),
        "an add of other shapes": layers(named("c", 'type = "convolution"\nfilters = 3\nkernel = 3'),
                                         ADD + 'inputs = ["input", "c"]', LINEAR),
        "a relu of two": layers('type = "relu"\ninputs = ["input", "input"]', LINEAR),
        "a kernel larger than the image": layers('type = "convolution"\nfilters = 3\nkernel = 4096',
                                                 LINEAR),
        "a pool larger than the image": layers('type = "max_pool"\nsize = 9', LINEAR),
        "no filters": layers('type = "convolution"\nfilters = 0\nkernel = 3', LINEAR),
        "a kernel of zero": layers('type = "convolution"\nfilters = 3\nkernel = 0', LINEAR),
        "a stride of zero": layers('type = "convolution"\nfilters = 3\nkernel = 3\nstride = 0', LINEAR),
        "padding as long as a word": layers(
            'type = "convolution"\nfilters = 3\nkernel = 3\npadding = "sane"', LINEAR),
        "no units": layers('type = "linear"\nunits = 0'),
        "three classes of ten": layers('type = "linear"\nunits = 3'),
        "no last linear layer": layers('type = "relu"'),
        "a convolution at the end": layers('type = "convolution"\nfilters = 10\nkernel = 3'),
        "a convolution after a linear layer": layers(
            'type = "linear"\nunits = 64', 'type = "convolution"\nfilters = 3\nkernel = 3', LINEAR),
        "an unknown type": layers('type = "convolutoin"', LINEAR),
        "no type": layers("units = 3", LINEAR),
        "a key of another type": layers('type = "relu"\nunits = 3', LINEAR),
        "a probability of one": layers('type = "dropout"\nprobability = 1.0', LINEAR),
        "a NaN probability": layers('type = "dropout"\nprobability = nan', LINEAR),
        "a name and layers": DECK + f"\n[[model.layer]]\n{LINEAR}\n",
        "a layer that is a table": DECK.replace('name = "mlp"', "").replace(
            "[training]", "[model.layer]\n" + LINEAR + "\n[training]"),
        "layers that are a number": DECK.replace('name = "mlp"', "layer = 3"),
        "layers that are numbers": DECK.replace('name = "mlp"', "layer = [1, 2]"),
        "no layers": DECK.replace('name = "mlp"', "layer = []"),
        "a name with a slash": layers(named("a/b", LINEAR)),
        "a name with a zero byte": layers(named(r"a\u0000b", LINEAR)),
        "a name with an escape": layers(named(r"a\u001b[2J", LINEAR)),
        "a name in Greek": layers(named("αβγ", LINEAR)),
    }.items():
        yield check_deck(name, text)
    for name, text in {
        "absurdly many units": layers('type = "linear"\nunits = 16777216',
                                      'type = "linear"\nunits = 16777216', LINEAR),
        "many units": layers('type = "linear"\nunits = 65536',
                             'type = "linear"\nunits = 65536', LINEAR),
        "absurdly many filters": layers(
            'type = "convolution"\nfilters = 16777216\nkernel = 8\npadding = "same"',
            'type = "convolution"\nfilters = 16777216\nkernel = 8\npadding = "same"', LINEAR),
        "absurd padding": layers('type = "convolution"\nfilters = 16777216\nkernel = 3\npadding = 4096',
                                 LINEAR),
        "an absurd list of layers": with_key("model", "hidden", "[16777216, 16777216, 16777216]"),
        "an absurd batch of an absurd layer": with_key(
            "model", "hidden", "[16777216]").replace("batch = 8", "batch = 700"),
    }.items():
        yield check_deck(name, text, (0, 2, 5))
        yield Case("deck", f"trained: {name}", ["run", "deck.toml", "run.output=out"], (2, 5),
                   place("deck.toml", text), many=True, may_write=("out",))
    yield check_deck("a layer that nobody uses",
                     layers(named("a", 'type = "relu"'), 'type = "relu"\ninputs = ["input"]', LINEAR),
                     (0, 2))
    yield check_deck("a name of dots", layers(named("..", LINEAR)), (0, 2))
    yield check_deck("3000 layers", layers(*['type = "relu"'] * 3000, LINEAR), (0, 2))
    yield check_deck("a hidden list of 3000",
                     with_key("model", "hidden", "[" + "1," * 3000 + "]"), (0, 2))


def deck_cases(program):
    yield from graph_cases()
    yield from key_cases(program)
    raw = DECK.encode()
    for n in range(len(raw)):
        yield check_deck(f"cut to {n} bytes", raw[:n], (0, 2, 3), sampled=True)
    for bit in range(len(raw) * 8):
        yield check_deck(f"bit {bit} flipped", flip(raw, bit), (0, 2, 3), sampled=True)
    for name, stand_in in STAND_INS.items():
        yield check_deck(f"{name} for a deck", stand_in,
                         (0, 2) if name == "an empty file" else USAGE, says="deck.toml")
    for name, text in {
        "an unknown section": DECK + "\n[trainign]\nbatch = 4\n",
        "an unknown key": with_key("training", "bacth", "4"),
        "a section that is a number": "training = 3\n",
        "a section that is a list": "[[training]]\nbatch = 8\n",
        "a key twice": DECK + "\n[run]\nseed = 1\nseed = 2\n",
        "a section twice": DECK + "\n[data]\n",
        "a zero byte": DECK.replace("batch = 8", "batch = 8\0"),
        "a zero byte in a name": with_key("data", "train", r'"digits\u0000x"'),
        "a zero byte in the output": with_key("run", "output", r'"out\u0000x"'),
        "no UTF-8": DECK.encode().replace(b'"digits"', b'"\xff\xfe"'),
        "half a letter at the end": DECK.encode() + b"# \xc3",
        "UTF-16": DECK.encode("utf-16"),
        "an odd unicode key": DECK + '\n["ключ"]\n"值" = 1\n',
        "nested 5000 deep": DECK + "\n[run]\nname = " + "[" * 5000 + "]" * 5000 + "\n",
        "nested 100000 deep": "a = " + "[" * 100000,
        "tables nested 5000 deep": "a = " + "{b=" * 5000 + "1" + "}" * 5000,
        "a dotted key of 5000": "a." * 5000 + "b = 1\n",
        "a string without end": DECK + '\n[run]\nname = "' + "x" * 100000,
        "a name of a megabyte": with_key("run", "nmae", '"' + "x" * (1 << 20) + '"'),
        "a key of a megabyte": DECK + "\n[run]\n" + "k" * (1 << 20) + " = 1\n",
        "a value of a megabyte": with_key("averaging", "method", '"' + "x" * (1 << 20) + '"'),
        "a negative seed": with_key("run", "seed", "-1"),
        "an averaging that diverges": with_key("averaging", "alpha", "1.9"),
        "a batch beyond the data": with_key("training", "batch", "5000"),
        "more learners than there can be": with_key("learners", "per_device", "1025"),
        "steps that fall": with_key("optimizer.schedule", "steps", '[2, 1]\npolicy = "multistep"'),
        "steps that repeat": with_key("optimizer.schedule", "steps", '[1, 1]\npolicy = "multistep"'),
        "steps without a policy": with_key("optimizer.schedule", "steps", "[1]"),
        "lenet on 8x8": with_key("model", "name", '"lenet"'),
        "a warm-up beyond the end": with_key("optimizer.schedule", "warmup_epochs",
                                             '1e6\npolicy = "cosine"'),
    }.items():
        yield check_deck(name, text)
    for name, text in {
        "CRLF": DECK.replace("\n", "\r\n"),
        "a byte order mark": "\ufeff" + DECK,
        "no last line end": DECK.rstrip(),
    }.items():
        yield check_deck(name, text, GOOD)
    yield check_deck("only CR", DECK.replace("\n", "\r"))
    yield check_deck("data that is not there", with_key("data", "train", '"δεδομένα"'), DATA, "δεδομένα")
    yield check_deck("a control character in a name", with_key("data", "train", r'"\u001b[31mred"'), DATA)
    yield check_deck("an overlong path of data", with_key("data", "train", '"' + "x/" * 5000 + '"'), DATA)
    yield check_deck("an overlong name of data", with_key("data", "train", '"' + "x" * 5000 + '"'), DATA)
    for override in ("training.batch", "=", "training.batch=", "=4", "a.b.c.d=1", "training=4",
                     "training.batch=[", "training.batch=4\n[run]", "training.batch==4", ".batch=4",
                     "training..batch=4", "τraining.batch=4", "model.layer=[{}]", "training.batch={a=1}",
                     "training.batch=nan", "training.batch=99999999999999999999", "--batch=4", ""):
        yield Case("deck", f"the override {override!r}", ["check", "deck.toml", override], USAGE,
                   place("deck.toml", DECK), many=True)
    yield Case("deck", "an unwritable output", ["run", "deck.toml", "run.output=file/out"], DATA,
               both(place("deck.toml", DECK), place("file", "mine")), "file")
    yield Case("deck", "an output that is a file", ["run", "deck.toml", "run.output=file"], DATA,
               both(place("deck.toml", DECK), place("file", "mine")), "file")
    yield Case("deck", "an overlong output", ["run", "deck.toml", "run.output=" + "x" * 300], DATA,
               place("deck.toml", DECK))
    yield Case("deck", "weights that are soon no numbers",
               ["run", "deck.toml", "run.output=out", "optimizer.learning_rate=1e30"], (4,),
               place("deck.toml", DECK), "learner", may_write=("out",))


# --- IDX -------------------------------------------------------------------------------------

def idx(kind, extents, body):
    return bytes([0, 0, kind, len(extents)]) + struct.pack(f">{len(extents)}I", *extents) + body


def idx_folder(images, labels, images_name="train-images-idx3-ubyte",
               labels_name="train-labels-idx1-ubyte"):
    return both(place(f"mine/{images_name}", images), place(f"mine/{labels_name}", labels),
                place("old.h5", "an older data set"))


N = 40
PIXELS = bytes((i * 37 + i // 64) % 256 for i in range(N * 64))
LABELS = bytes(i % 10 for i in range(N))
IMAGES_IDX = idx(8, (N, 8, 8), PIXELS)
LABELS_IDX = idx(8, (N,), LABELS)


def import_case(name, images=IMAGES_IDX, labels=LABELS_IDX, statuses=DATA, sampled=False, **names):
    return Case("IDX", name, ["import", "mnist", "mine", "old.h5" if len(name) % 2 else "new.h5"],
                statuses, idx_folder(images, labels, **names), sampled=sampled)


def bomb(path):
    """40 images that unpack to gigabytes."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(idx(8, (N, 8, 8), PIXELS))
        block = bytes(1 << 20)
        for _ in range(1500):
            file.write(block)


def same_images(work):
    """What is wrong with an import of the good files that was said to be fine."""
    for name in ("old.h5", "new.h5"):
        try:
            data, _ = h5.read(work / name)
        except h5.Hdf5Error:
            continue
        return "" if data["images"][2] == PIXELS else "it took damaged images"
    return "no data set was written"


def idx_cases():
    gz = functools.partial(gzip.compress, mtime=0)
    packed = {"images_name": "train-images-idx3-ubyte.gz", "labels_name": "train-labels-idx1-ubyte.gz"}
    yield import_case("the good one", statuses=GOOD)
    yield import_case("the good one packed", gz(IMAGES_IDX), gz(LABELS_IDX), statuses=GOOD, **packed)
    for n in cuts(len(IMAGES_IDX)):
        yield import_case(f"images cut to {n}", IMAGES_IDX[:n], sampled=n > 20)
    for n in range(len(LABELS_IDX)):
        yield import_case(f"labels cut to {n}", labels=LABELS_IDX[:n], sampled=n > 8)
    for bit in range(16 * 8):
        yield import_case(f"bit {bit} of the images' head flipped", flip(IMAGES_IDX, bit),
                          sampled=True)
    for bit in range(8 * 8):
        yield import_case(f"bit {bit} of the labels' head flipped", labels=flip(LABELS_IDX, bit),
                          sampled=True)
    whole = gz(IMAGES_IDX)
    for n in cuts(len(whole)):
        yield import_case(f"packed images cut to {n}", whole[:n], gz(LABELS_IDX), sampled=n > 20,
                          **packed)
    for bit in range(0, len(whole) * 8, 3):
        case = import_case(f"bit {bit} of packed images flipped", flip(whole, bit), gz(LABELS_IDX),
                           statuses=(0, 3), sampled=True, **packed)
        case.verify = same_images
        yield case
    for name, images, labels in (
        ("floats for pixels", idx(13, (N, 8, 8), PIXELS * 4), LABELS_IDX),
        ("signed bytes", idx(9, (N, 8, 8), PIXELS), LABELS_IDX),
        ("images of one dimension", idx(8, (N * 64,), PIXELS), LABELS_IDX),
        ("images of two dimensions", idx(8, (N, 64), PIXELS), LABELS_IDX),
        ("images of 255 dimensions", bytes([0, 0, 8, 255]) + bytes(1020), LABELS_IDX),
        ("images of no dimension", bytes([0, 0, 8, 0]), LABELS_IDX),
        ("no images", idx(8, (0, 8, 8), b""), idx(8, (0,), b"")),
        ("images of height 0", idx(8, (N, 0, 8), b""), LABELS_IDX),
        ("images of width 0", idx(8, (N, 8, 0), b""), LABELS_IDX),
        ("four thousand million images", idx(8, (0xFFFFFFFF, 8, 8), PIXELS), LABELS_IDX),
        ("sizes whose product is 0 in 64 bits", idx(8, (1 << 31, 1 << 31, 4), PIXELS), LABELS_IDX),
        ("sizes whose product is small in 64 bits",
         idx(8, (0x80000001, 0x80000000, 2), PIXELS), LABELS_IDX),
        ("enormous images", idx(8, (N, 0xFFFFFFFF, 0xFFFFFFFF), PIXELS), LABELS_IDX),
        ("one byte too many", IMAGES_IDX + b"\0", LABELS_IDX),
        ("a label too few", IMAGES_IDX, idx(8, (N - 1,), LABELS[:-1])),
        ("a label too many", IMAGES_IDX, idx(8, (N + 1,), LABELS + b"\0")),
        ("a label of 255", IMAGES_IDX, idx(8, (N,), LABELS[:-1] + b"\xff")),
        ("images and labels the wrong way round", LABELS_IDX, IMAGES_IDX),
        ("images that are a tar file", b"ustar" * 1000, LABELS_IDX),
        ("images that are HTML", b"<!DOCTYPE html><html>not found</html>", LABELS_IDX),
    ):
        yield import_case(name, images, labels)
    yield import_case("plain images called .gz", IMAGES_IDX, gz(LABELS_IDX), (0, 3), **packed)
    yield import_case("packed images not called .gz", gz(IMAGES_IDX), statuses=(0, 3))
    yield import_case("rubbish after packed images", gz(IMAGES_IDX) + b"rubbish", gz(LABELS_IDX),
                      **packed)
    yield import_case("packed twice", gz(gz(IMAGES_IDX)), gz(LABELS_IDX), **packed)
    yield import_case("images that unpack to gigabytes", bomb, gz(LABELS_IDX), **packed)
    for name, stand_in in STAND_INS.items():
        yield import_case(f"{name} for images", stand_in)
        yield import_case(f"{name} for labels", labels=stand_in)
        yield Case("IDX", f"{name} for the folder", ["import", "mnist", "mine", "new.h5"], DATA,
                   place("mine", stand_in), "mine")
        yield Case("IDX", f"{name} for the folder of a deck", ["check", "deck.toml", "data.train=./mine"],
                   DATA, both(place("deck.toml", DECK), place("mine", stand_in)), "mine")
    for name, target in (("a folder", "folder"), ("a file in no folder", "none/new.h5"),
                         ("a device", "/dev/full"), ("a pipe", "pipe"), ("an empty name", ""),
                         ("an overlong name", "x" * 300), ("its own source", "mine")):
        yield Case("IDX", f"an import to {name}", ["import", "mnist", "mine", target],
                   (2, 3), both(idx_folder(IMAGES_IDX, LABELS_IDX),
                                lambda work: (work / "folder").mkdir(),
                                lambda work: os.mkfifo(work / "pipe")))
    yield Case("IDX", "an unknown split", ["import", "mnist", "mine", "new.h5", "--split", "tset"], USAGE,
               idx_folder(IMAGES_IDX, LABELS_IDX), "tset")
    yield Case("IDX", "an unknown format", ["import", "mnits", "mine", "new.h5"], USAGE,
               idx_folder(IMAGES_IDX, LABELS_IDX), "mnits")


# --- data sets and checkpoints ---------------------------------------------------------------

class Files:
    """Good files that the program wrote, to be damaged."""

    def __init__(self, program, folder):
        self.program = program
        here = folder / "good"
        here.mkdir()
        self.data = here / "data.h5"
        self.test = here / "test.h5"
        digits = SOURCE / "inputs/data/digits"
        crossbow(program, "import", "mnist", digits, self.data)
        crossbow(program, "import", "mnist", digits, self.test, "--split", "test")
        self.deck = here / "deck.toml"
        self.deck.write_text(DECK.replace('"digits"', f'"{self.data}"', 1)
                             .replace('"digits"', f'"{self.test}"'))
        self.run = here / "run"
        crossbow(program, "run", self.deck, f"run.output={self.run}", "training.epochs=1",
                 "checkpoint.every_epochs=0.5", "model.hidden=[8]")
        self.newest = sorted(self.run.glob("checkpoints/round-*.h5"))[-1]
        self.accuracy = crossbow(program, "evaluate", self.newest, self.test)


def data_case(files, name, change, statuses=DATA, sampled=False, same=False):
    """Evaluate a good checkpoint on a bad data set."""
    return Case("data set", name, ["evaluate", str(files.newest), "bad.h5"], statuses,
                copied(files.test, "bad.h5", change), "bad.h5", sampled=sampled,
                same_answer=files.accuracy if same else None)


def point_case(files, name, change, statuses=DATA, sampled=False, same=False, command="evaluate"):
    """Use a bad checkpoint by itself."""
    rest = {"evaluate": [str(files.test)], "export": ["new.h5"]}[command]
    return Case("checkpoint", f"{command}: {name}", [command, "bad.h5", *rest], statuses,
                copied(files.newest, "bad.h5", change), "bad.h5", sampled=sampled,
                same_answer=files.accuracy if same and command == "evaluate" else None)


def zeroed(raw, begin):
    return raw[:begin] + bytes(min(512, len(raw) - begin)) + raw[begin + 512:]


def byte_cases(make, file):
    """Cuts, flipped bits and stand-ins of an HDF5 file."""
    raw = file.read_bytes()
    for n in cuts(len(raw), 100):
        yield make(f"cut to {n}", cut(raw, n),
                   sampled=True)
    # Everywhere, and each byte of the head.
    for bit in sorted({*range(0, 8 * min(len(raw), 400), 5), *range(0, 8 * len(raw), 4001)}):
        yield make(f"bit {bit} flipped",
                   flip(raw, bit), (0, 3),
                   sampled=True, same=True)
    for begin in range(0, len(raw), max(512, len(raw) // 64)):
        yield make(f"zeros at {begin}", writer(zeroed, raw, begin), (0, 3), sampled=True, same=True)
    yield make("rubbish after its end",
               writer(lambda: raw + b"rubbish" * 99), (0, 3), same=True)
    for name, stand_in in STAND_INS.items():
        yield make(f"{name} for it", lambda path, s=stand_in: (path.unlink(), s(path)))


def dataset_cases(files):
    yield from byte_cases(functools.partial(data_case, files), files.test)
    if h5.library is None:
        return
    data, attributes = h5.read(files.test)
    n, images, labels = data["labels"][1][0], data["images"][2], data["labels"][2]

    def pixels(kind, shape, raw=None):
        return lambda path: h5.set_data(path, "images", kind, shape, raw)

    def classes(kind, shape, raw=None):
        return lambda path: h5.set_data(path, "labels", kind, shape, raw)

    def attribute(name, kind, value):
        return lambda path: h5.set_attribute(path, name, kind, value)

    for name, change in {
        "no images": lambda path: h5.remove_data(path, "images"),
        "no labels": lambda path: h5.remove_data(path, "labels"),
        "float pixels": pixels("float32", (n, 8, 8, 1), images * 4),
        "wide pixels": pixels("int32", (n, 8, 8, 1), images * 4),
        "images of rank 3": pixels("uint8", (n, 8, 8), images),
        "images of rank 5": pixels("uint8", (n, 8, 8, 1, 1), images),
        "images that are one number": pixels("uint8", (), b"\1"),
        "an empty image": pixels("uint8", (n, 0, 8, 1), b""),
        "no samples": lambda path: (pixels("uint8", (0, 8, 8, 1), b"")(path),
                                    classes("int32", (0,), b"")(path)),
        "images of 9 columns": pixels("uint8", (n, 8, 9, 1), bytes(n * 72)),
        "images of three colours": pixels("uint8", (n, 8, 8, 3), images * 3),
        "as many images as fit nowhere": pixels("uint8", (1 << 40, 8, 8, 1)),
        "images as large as fit nowhere": pixels("uint8", (n, 1 << 31, 1 << 20, 1)),
        "more images than labels": pixels("uint8", (n + 1, 8, 8, 1), images + bytes(64)),
        "images that are a group": lambda path: (h5.remove_data(path, "images"),
                                                 h5.set_data(path, "images/x", "uint8", (1,), b"\0")),
        "labels of rank 2": classes("int32", (n, 1), labels),
        "float labels": classes("float32", (n,), labels),
        "wide labels that fit nowhere": classes("int64", (n,), struct.pack("<q", 1 << 40) * n),
        "a negative label": classes("int32", (n,), struct.pack("<i", -1) + labels[4:]),
        "a label beyond the classes": classes("int32", (n,), labels[:-4] + struct.pack("<i", 10)),
        "as many labels as fit nowhere": classes("int32", (1 << 40,)),
        "no format": lambda path: h5.remove_attribute(path, "format"),
        "a checkpoint's format": attribute("format", "text", "crossbow-checkpoint"),
        "a numeric format": attribute("format", "int64", 7),
        "an empty format": attribute("format", "text", "\0"),
        "version 2": attribute("version", "int64", 2),
        "version 2^62": attribute("version", "int64", HUGE),
        "a version in words": attribute("version", "text", "one"),
        "no classes": attribute("classes", "int64", 0),
        "a negative number of classes": attribute("classes", "int64", -10),
        "2^62 classes": attribute("classes", "int64", HUGE),
        "a list of classes": attribute("classes", "int64", [10, 10]),
        "classes in words": attribute("classes", "text", "ten"),
        "classes not given": lambda path: h5.remove_attribute(path, "classes"),
    }.items():
        yield data_case(files, name, change)
    scale = {
        "a NaN mean": attribute("mean", "float64", float("nan")),
        "an infinite mean": attribute("mean", "float64", float("inf")),
        "a mean of -3": attribute("mean", "float64", -3.0),
        "a std of 0": attribute("std", "float64", 0.0),
        "a negative std": attribute("std", "float64", -1.0),
        "a NaN std": attribute("std", "float64", float("nan")),
        "a std in words": attribute("std", "text", "wide"),
        "no std": lambda path: h5.remove_attribute(path, "std"),
        "a numeric digest": attribute("sha256", "int64", 7),
    }
    for name, change in scale.items():
        yield Case("data set", f"trained on: {name}",
                   ["check", "deck.toml", "data.train=./bad.h5", "data.test=./bad.h5"], DATA,
                   both(place("deck.toml", DECK.replace("mean =", "# mean =").replace(
                       "std =", "# std =")), copied(files.test, "bad.h5", change)), "bad.h5")
    del attributes


# What a resumed run need not look at: it has it from the deck and the data.
HARMLESS = ("a tensor more", "a restart of 77", "images of height 2^40", "images of height -8",
            "images of height 0", "no classes", "2^62 classes")


def crafted(files):
    """Checkpoints that say something absurd, with a digest that fits."""
    data, attributes = h5.read(files.newest)
    tensors = sorted(data)
    average = [name for name in tensors if name.startswith("average/")]
    first = average[0]
    shape, raw = data[first][1], data[first][2]

    def attribute(name, kind, value):
        return lambda path: h5.set_attribute(path, name, kind, value)

    def tensor(name, kind, new_shape, new_raw=None):
        return lambda path: h5.set_data(path, name, kind, new_shape, new_raw)

    nan = struct.pack("<f", float("nan"))
    changes = {
        "a NaN weight": tensor(first, "float32", shape, nan + raw[4:]),
        "an infinite weight": tensor(first, "float32", shape, struct.pack("<f", float("inf")) + raw[4:]),
        "a tensor turned": tensor(first, "float32", shape[::-1], raw) if len(shape) > 1 else
        tensor(first, "float32", (1, *shape), raw),
        "a tensor of 0": tensor(first, "float32", (0,), b""),
        "a tensor of doubles": tensor(first, "float64", shape, raw * 2),
        "a tensor without values": tensor(first, "float32", ()),
        "a tensor that fits nowhere": tensor(first, "float32", (1 << 50,)),
        "a missing tensor": lambda path: h5.remove_data(path, first),
        "a tensor more": tensor("average/extra", "float32", (3,), bytes(12)),
        "no tensors": lambda path: [h5.remove_data(path, name) for name in tensors],
        "a deck that is none": attribute("deck", "text", "[[["),
        "an empty deck": attribute("deck", "text", "\n"),
        "a deck of another network": attribute(
            "deck", "text", attributes["deck"].replace("hidden", "hiddne")),
        "a numeric deck": attribute("deck", "int64", 3),
        "no deck": lambda path: h5.remove_attribute(path, "deck"),
        "images of height 2^40": attribute("image_height", "int64", 1 << 40),
        "images of height -8": attribute("image_height", "int64", -8),
        "images of height 0": attribute("image_height", "int64", 0),
        "no classes": attribute("classes", "int64", 0),
        "2^62 classes": attribute("classes", "int64", HUGE),
        "a NaN mean": attribute("data_mean", "float64", float("nan")),
        "a std of 0": attribute("data_std", "float64", 0.0),
        "a negative std": attribute("data_std", "float64", -1.0),
        "a mean in words": attribute("data_mean", "text", "0.1"),
    }
    resumed = {
        "a round of -1": attribute("round", "int64", -1),
        "a round of 2^62": attribute("round", "int64", HUGE),
        "a round of words": attribute("round", "text", "many"),
        "no round": lambda path: h5.remove_attribute(path, "round"),
        "no learners": attribute("learners", "int64", 0),
        "learners of -2": attribute("learners", "int64", -2),
        "2^62 learners": attribute("learners", "int64", HUGE),
        "NaN seconds": attribute("seconds", "float64", float("nan")),
        "seconds of -1e300": attribute("seconds", "float64", -1e300),
        "another training set": attribute("data_digest", "text", "0" * 64),
        "a restart of 77": attribute("restart_pending", "int64", 77),
    }
    for name in tensors:
        if not name.startswith("average/") and name.split("/")[0] not in {
                other.split("/")[0] for other in resumed}:
            group = name.split("/")[0]
            resumed[f"{group}/ without one"] = functools.partial(h5.remove_data, name=name)
            resumed[f"{group}/ of another shape"] = tensor(name, "float32", (1,), bytes(4))
            resumed[f"{group}/ with a NaN"] = tensor(
                name, "float32", data[name][1], nan + data[name][2][4:])
    return changes, resumed


def with_digest(name, change):
    """The change, and a digest that fits; of what fits nowhere there can be none."""
    return change if "fits nowhere" in name else lambda path: (change(path), h5.set_digest(path))


def resume_case(files, name, change, statuses=DATA, **more):
    """Resume a run after a change of its folder `out`."""
    def prepare(work):
        subprocess.run(["cp", "-r", files.run, work / "out"], check=True)
        change(work / "out")
    return Case("resume", name, ["run", str(files.deck), "run.output=out", "model.hidden=[8]",
                                 "training.epochs=1.2", "--resume"], statuses, prepare, many=True,
                may_write=("out/run.log", "out/run.lock"), **more)


def on_newest(change):
    def changed(out):
        files = sorted(out.glob("checkpoints/round-*.h5"))
        for old in files[:-1]:
            old.unlink()
        change(files[-1])
    return changed


def replaced(name, stand_in):
    def changed(out):
        path = out / name
        if path.is_dir():
            subprocess.run(["rm", "-r", path], check=True)
        elif path.exists():
            path.unlink()
        stand_in(path)
    return changed


def checkpoint_cases(files):
    yield from byte_cases(functools.partial(point_case, files), files.newest)
    yield from byte_cases(functools.partial(point_case, files, command="export"), files.newest)
    raw = files.newest.read_bytes()
    for n in cuts(len(raw), 10):
        yield resume_case(files, f"newest of two cut to {n}",
                          lambda out, n=n: sorted(out.glob("checkpoints/round-*.h5"))[-1].write_bytes(
                              raw[:n]), GOOD, sampled=n > 2, verify=lambda work: fell_back(work))
        yield resume_case(files, f"the only one cut to {n}",
                          on_newest(lambda path, n=n: path.write_bytes(raw[:n])), sampled=n > 2)
    for name, stand_in in STAND_INS.items():
        if name == "a device without end":
            continue
        yield resume_case(files, f"{name} for the newest of two",
                          lambda out, s=stand_in: replaced(
                              "checkpoints/" + files.newest.name, s)(out), (0, 3))
        for part in ("history.csv", "run.json", "run.log", "run.lock", "checkpoints"):
            statuses = (0, 3)
            case = resume_case(files, f"{name} for {part}", replaced(part, stand_in), statuses)
            case.may_write = ("out",) if part == "checkpoints" else (
                "out/run.lock", "out/run.log", "out/run.json")
            yield case
    for name, text in {
        "a history of another header": "a,b,c\n1,2,3\n",
        "a history without header": "0.5,1,1,1,1,1,1,1,1,,1\n",
        "a history of words": None, "a history with rounds that fall": None,
        "a history of NaN": None,
        "a history with a zero byte": None,
    }.items():
        def change(out, name=name, text=text):
            path = out / "history.csv"
            rows = path.read_text().splitlines()
            row = rows[-1].split(",")
            if "words" in name:
                row[0] = "half"
            if "fall" in name:
                rows += [",".join([row[0], "1", "1", *row[3:]])] * 2
            if "NaN" in name:
                row[6:9] = ["nan"] * 3
            if "zero" in name:
                row[1] += "\0"
            rows[1:1] = [",".join(row)]
            path.write_text(text or "\n".join(rows) + "\n")
        yield resume_case(files, name, change, (0, 3))
    if h5.library is None:
        return
    changes, resumed = crafted(files)
    for name, change in changes.items():
        numbers = ("NaN" in name or "infinite" in name) and "weight" in name
        case = point_case(files, name, with_digest(name, change),
                          (3, 4) if numbers else (0, 3) if name == "a tensor more" else DATA)
        if "images" in name or "classes" in name:
            case.says = ""  # the data may be what is wrong
        yield case
        yield point_case(files, name, with_digest(name, change), (3, 4) if numbers else (0, 3),
                         command="export")
        yield resume_case(files, name, on_newest(with_digest(name, change)),
                          (0, 2, 3) if name in HARMLESS else (2, 3))
        if "deck" not in name:
            yield point_case(files, f"{name}, digest as it was", change)
    for name, change in resumed.items():
        yield resume_case(files, name, on_newest(with_digest(name, change)),
                          (0, 2, 3) if name in HARMLESS else (2, 3))


def fell_back(work):
    """A resumed run that had to take the older checkpoint must have trained to its end."""
    rows = (work / "out/history.csv").read_text().splitlines()
    return "" if rows[-1].startswith("1.2") else f"the last row is {rows[-1]}"


# --- plans and machines ----------------------------------------------------------------------

ODD_VALUES = [None, -1, 0, 1e308, HUGE, "x", "", [], {}, True, [[]], "\u0000", 1.5]


def paths_of(value, path=()):
    """Every place in a JSON document."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(
        value, list) else ()
    for key, child in children:
        yield from paths_of(child, (*path, key))


def with_value(document, path, value, remove=False):
    """Write the document with one place changed."""
    return writer(lambda: changed_document(document, path, value, remove).encode())


def changed_document(document, path, value, remove):
    document = copy.deepcopy(document)
    at = document
    for key in path[:-1]:
        at = at[key]
    if remove:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(document)


MACHINE = "pack:2 numa:1 core:2 pu:1"


def plan_case(name, text, statuses=(0, 2, 3), **more):
    return Case("plan", name, ["check", "deck.toml", f"devices.topology={MACHINE}",
                               "devices.plan=plan.json"], statuses,
                both(place("deck.toml", DECK), place("plan.json", text)), **more)


def plan_cases(program):
    good = crossbow(program, "topology", "--synthetic", MACHINE, "--learners", "2", "--json")
    document = json.loads(good)
    yield plan_case("the good one", good, GOOD)
    for n in cuts(len(good.rstrip()), 100):
        yield plan_case(f"cut to {n}", good[:n], DATA, says="plan.json", sampled=n > 2)
    for bit in range(0, len(good) * 8, 7):
        yield plan_case(f"bit {bit} flipped", flip(good, bit), sampled=True)
    for path in paths_of(document):
        if path:
            where = ".".join(map(str, path))
            yield plan_case(f"without {where}", with_value(document, path, None, remove=True),
                            sampled=True)
            for value in ODD_VALUES:
                yield plan_case(f"{where} is {value!r}", with_value(document, path, value), sampled=True)
    for name, stand_in in STAND_INS.items():
        yield plan_case(f"{name} for it", stand_in, DATA, says="plan.json")
    edges = document["tree"]["edges"]
    root = document["tree"]["root"]
    other = edges[0]["from"]
    for name, path, value in (
        ("no tree", ("tree",), {}),
        ("no edges", ("tree", "edges"), []),
        ("an edge twice", ("tree", "edges"), edges + edges),
        ("a cycle", ("tree", "edges"), [*edges, {**edges[0], "from": root, "to": other}]),
        ("an edge to itself", ("tree", "edges", 0, "to"), other),
        ("a root of nowhere", ("tree", "root"), "numa99"),
        ("an edge from nowhere", ("tree", "edges", 0, "from"), "numa99"),
        ("no learners", ("placement", "learners"), []),
        ("learners on one device only", ("placement", "learners"),
         [learner for learner in document["placement"]["learners"] if learner["device"] == root]),
        ("a learner of nowhere", ("placement", "learners", 0, "device"), "numa99"),
        ("a learner without cores", ("placement", "learners", 0, "pus"), []),
        ("a learner on a core of nowhere", ("placement", "learners", 0, "pus"), [4096]),
        ("a learner on core -1", ("placement", "learners", 0, "pus"), [-1]),
        ("5000 learners", ("placement", "learners"), document["placement"]["learners"] * 1250),
    ):
        yield plan_case(name, with_value(document, path, value), (2, 3), says="plan.json")
    yield plan_case("nested 100000 deep", "[" * 100000 + "]" * 100000, DATA)
    yield plan_case("a list", "[1]", (2, 3))
    yield plan_case("null", "null", (2, 3))
    yield plan_case("NaN", '{"tree": NaN}', DATA)
    yield plan_case("no UTF-8", good.replace(b'"root"', b'"r\xff\xfet"'), DATA)
    yield plan_case("UTF-16", good.decode().encode("utf-16"), (0, 3))
    yield plan_case("a byte order mark", b"\xef\xbb\xbf" + good, (0, 3))
    yield plan_case("a key twice", good.replace(b'"tree"', b'"placement"'), (2, 3))


SMALL_XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" allowed_cpuset="0x3"
      nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
      complete_nodeset="0x1" gp_index="2" local_memory="1073741824"/>
    <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
      complete_nodeset="0x1" gp_index="3">
      <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1"
        complete_nodeset="0x1" gp_index="4"/>
    </object>
    <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
      complete_nodeset="0x1" gp_index="5">
      <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x1"
        complete_nodeset="0x1" gp_index="6"/>
    </object>
  </object>
</topology>
"""


def exchanged(raw, span, value):
    return raw[:span[0]] + value + raw[span[1]:]


def xml_case(name, text, statuses=(0, 3), played=False, **more):
    arguments = ["check", "deck.toml", "devices.topology=machine.xml"] if played else [
        "topology", "--xml", "machine.xml", "--json", "new.json"]
    return Case("machine", ("played: " if played else "") + name, arguments, statuses,
                both(place("deck.toml", DECK), place("machine.xml", text)), **more)


def machine_cases():
    yield xml_case("the good one", SMALL_XML, GOOD)
    big = (SOURCE / "topology/machines/dgx1v-like.xml").read_bytes()
    for file_name, raw in (("small", SMALL_XML.encode()), ("dgx1v", big)):
        for n in cuts(len(raw.rstrip()), 100):
            yield xml_case(f"{file_name} cut to {n}", cut(raw, n), DATA, says="machine.xml", sampled=n > 2)
        step = max(1, len(raw) * 8 // 1500) | 1
        for bit in range(0, len(raw) * 8, step):
            yield xml_case(f"{file_name}, bit {bit} flipped", flip(raw, bit), sampled=True)
        # Numbers by absurd ones.
        numbers = list(re.finditer(rb'"(0x)?[0-9a-f]+"', raw))
        for i, match in list(enumerate(numbers))[::max(1, len(numbers) // 100)]:
            for value in (b'"-1"', b'"0"', b'"0xffffffff"', b'"99999999999999999999"', b'"x"', b'""'):
                yield xml_case(f"{file_name}, number {i} is {value.decode()}",
                               writer(exchanged, raw, match.span(), value), sampled=True)
    for name, text in {
        "a machine without cores": '<?xml version="1.0"?><topology version="2.0"></topology>',
        "another XML": "<html><body>not found</body></html>",
        "entities without end": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + "".join(
            f'<!ENTITY a{i} "{f"&a{i - 1};" * 10 if i else "&a;" * 10}">' for i in range(9)) +
            ']><topology version="2.0">&a8;</topology>',
        "a file of the system": '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "/etc/passwd">]>'
                                '<topology version="2.0">&a;</topology>',
        "nested 50000 deep": '<topology version="2.0">' + '<object type="Group">' * 50000,
        "UTF-16": SMALL_XML.encode("utf-16"),
        "a version of the future": SMALL_XML.replace('version="2.0"', 'version="9.9"'),
    }.items():
        yield xml_case(name, text, (0, 3) if "future" in name or "UTF" in name else DATA)
        yield xml_case(name, text, (0, 2, 3) if "future" in name or "UTF" in name else DATA, played=True)
    for name, stand_in in STAND_INS.items():
        yield xml_case(f"{name} for it", stand_in, DATA, says="machine.xml")
        yield xml_case(f"{name} for it", stand_in, (2, 3), says="machine.xml", played=True)
    for text in ("", "x", ":", "pu", "pu:", "pu:0", "pu:-1", "pu:1.5", "pu:99999999999999999999", "numa:0 pu:1",
                 "pu:1 pu:1", "pu:2 core:2", "pack:2 pack:2 pu:2", "core:(", "(((", "pu:1(indexes=0",
                 "numa:2(memory=x) pu:1", "numa:2(memory=-1) pu:1", "pack:1000000000 pu:1", "é:1", "pu:1\nx",
                 "l3:2 " * 1000 + "pu:1", "pu:4(indexes=0,0,0,0)", "numa:2(indexes=7,7) pu:2"):
        yield Case("machine", f"the description {text[:40]!r}", ["topology", "--synthetic", text],
                   (0, 2), many=not text)
        yield Case("machine", f"the played description {text[:40]!r}",
                   ["check", "deck.toml", f"devices.topology={json.dumps(text)}"], (0, 2, 3),
                   place("deck.toml", DECK), many=True)
    for name, target in (("a folder", "."), ("no folder", "none/x.json"), ("a full device", "/dev/full"),
                         ("a pipe", "pipe")):
        for option in ("--json", "--svg"):
            yield Case("machine", f"{option} to {name}",
                       ["topology", "--synthetic", MACHINE, option, target], DATA,
                       lambda work: os.mkfifo(work / "pipe"))


def command_cases(files):
    """Command lines that nobody should write."""
    for arguments in ([], [""], ["rnu"], ["run"], ["run", "--resum"], ["check"], ["check", ""],
                      ["check", "a", "b"], ["import"], ["import", "mnist"], ["evaluate"],
                      ["evaluate", "x"], ["export", "x"], ["predict", "x"], ["import-weights", "x", "y"],
                      ["topology", "--learners", "x"],
                      ["topology", "--learners", "99999999999999999999"], ["topology", "--model", "nan"],
                      ["topology", "--domain", "x"], ["bench", str(files.deck), "--batches", "0"],
                      ["bench", str(files.deck), "--batches", ","],
                      ["bench", str(files.deck), "--window", "nan"], ["--nonsense"], ["\xff"], ["日本"],
                      ["compare"], ["compare", "x"]):
        yield Case("command", repr(arguments)[:60], arguments, USAGE, many=True)
    for arguments in (["evaluate", "none.h5", str(files.test)], ["evaluate", "", str(files.test)],
                      ["evaluate", str(files.newest), "none.h5"], ["evaluate", str(files.newest), ""],
                      ["evaluate", str(files.newest), str(files.newest)],
                      ["evaluate", str(files.test), str(files.test)], ["export", "none.h5", "new.h5"],
                      ["export", str(files.newest), "none/new.h5"], ["export", str(files.newest), "."],
                      ["export", str(files.newest), "/dev/full"], ["export", str(files.test), "new.h5"],
                      ["export", str(files.newest), "none/new.npz"], ["export", str(files.newest), "none/new.onnx"],
                      ["evaluate", str(files.newest), str(files.test), "--logits", "none/new.npz"],
                      ["predict", str(files.newest), str(files.test)], ["predict", str(files.newest), "none.png"],
                      ["import-weights", str(files.newest), "none.toml", "new.h5"],
                      ["import-weights", "none.npz", str(files.deck), "new.h5"],
                      ["compare", "none", "none"], ["compare", str(files.run), "none"],
                      ["keys", "none/keys.md"], ["keys", "."],
                      ["run", str(files.deck), "--json", "none/x.json"],
                      ["run", str(files.deck), "run.output=out", "--json", "."]):
        shown = [pathlib.Path(a).name if a.startswith("/") else a for a in arguments]
        yield Case("command", repr(shown), arguments, (2, 3))


def all_cases(program, folder, rng):
    """Every case, in a fixed order."""
    del rng
    try:
        h5.load(program)
    except OSError as error:
        print(f"left out, data sets and checkpoints that the program would not write: {error}")
    files = Files(program, folder)
    crossbow(program, "check", SOURCE / "inputs" / "smoke_digits.toml")  # imports the data once
    cases = [*deck_cases(program), *idx_cases(), *dataset_cases(files), *checkpoint_cases(files),
             *plan_cases(program), *machine_cases(), *command_cases(files)]
    return cases
