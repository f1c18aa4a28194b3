"""More cases of bad_input.py: what is broken in CIFAR files, archives, images and NumPy files."""

import base64
import gzip
import io
import struct
import tarfile
import zipfile
import zlib

from bad_input import Case
from bad_input_cases import (DATA, DECK, GOOD, STAND_INS, USAGE, both, crossbow, cut, cuts, flip, place,
                             writer)

# 5 x 7 pixels, colour at half resolution; and 4 x 6 grey. By Pillow 13.
COLOUR_JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMU"
    "FRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU"
    "FBQUFBQUFBT/wAARCAAFAAcDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAb/xAAdEAABAgcAAAAAAAAAAAAAAAAAAQIG"
    "BwgTIkJS/8QAFAEBAAAAAAAAAAAAAAAAAAAABP/EAB4RAAECBwEAAAAAAAAAAAAAAAUAAgEDBAYUFSOR/9oADAMBAAIRAxEAPwCN"
    "lpT/AA5abhrwgACEC1dkO6xSrOOEtNJ7u9X/2Q==")
GREY_JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4RDgsLEBYQERMU"
    "FRUVDA8XGBYUGBIUFRT/wAALCAAEAAYBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAB//EAB0QAAECBwAAAAAAAAAAAAAAAAcAAQII"
    "FSZCUtL/2gAIAQEAAD8AZhxJIJqe9v47Q8r/2Q==")


def png(h, w, c, interlace=0, rows=None):
    """A PNG of 8 bits, from its parts."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    head = struct.pack(">IIBBBBB", h, w, 8, 0 if c == 1 else 2, 0, 0, interlace)
    body = rows if rows is not None else b"".join(b"\0" + bytes(range(w * c)) for _ in range(h))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head[4:8] + head[:4] + head[8:]) + chunk(
        b"IDAT", zlib.compress(body)) + chunk(b"IEND", b"")


def tar(files, packed=False, form=tarfile.USTAR_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(out.getvalue(), mtime=0) if packed else out.getvalue()


def zipped(files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return out.getvalue()


def folder(name, files):
    return both(*[place(f"{name}/{path}", content) for path, content in files.items()])


def answer_of(program, arguments, prepare, work):
    """What the program says of the good source: of a damaged one it must say the same, or nothing."""
    work.mkdir()
    prepare(work)
    return crossbow(program, *[a.replace("{work}", str(work)) for a in arguments], cwd=work)


# --- CIFAR -----------------------------------------------------------------------------------

def record(*labels):
    return bytes(labels) + bytes((i * 31 + labels[0]) % 256 for i in range(3072))


CIFAR10 = {**{f"data_batch_{i}.bin": record(i) + record(9 - i) for i in range(1, 6)},
           "test_batch.bin": record(0),
           "batches.meta.txt": "\n".join(f"class{i}" for i in range(10)).encode()}
CIFAR100 = {"train.bin": record(19, 99) + record(0, 0), "test.bin": record(1, 2)}


def cifar_case(name, files, statuses=DATA, kind="cifar10", **more):
    return Case("CIFAR", name, ["import", kind, "mine", "new.h5"], statuses, folder("mine", files), many=True,
                **more)


def cifar_cases():
    yield cifar_case("the good one", CIFAR10, GOOD)
    yield cifar_case("the good one of a hundred", CIFAR100, GOOD, kind="cifar100")
    first = CIFAR10["data_batch_1.bin"]
    for n in cuts(len(first), 16):
        yield cifar_case(f"a batch cut to {n}", {**CIFAR10, "data_batch_1.bin": cut(first, n)},
                         GOOD if n and n % 3073 == 0 else DATA, sampled=n > 2)
    for bit in range(0, 8):
        yield cifar_case(f"bit {bit} of a label flipped", {**CIFAR10, "data_batch_1.bin": flip(first, bit)},
                         (0, 3))
    for name in CIFAR10:
        if name != "test_batch.bin":
            rest = {other: content for other, content in CIFAR10.items() if other != name}
            yield cifar_case(f"without {name}", rest, GOOD if name.endswith("txt") else DATA)
            yield cifar_case(f"an empty {name}", {**CIFAR10, name: b""})
            for stand_in_name, stand_in in STAND_INS.items():
                yield cifar_case(f"{stand_in_name} for {name}", {**rest, name: stand_in}, sampled=True)
    for name, labels in (("nine names", "x\n" * 9), ("eleven names", "x\n" * 11), ("blank names", "\n" * 10)):
        yield cifar_case(name, {**CIFAR10, "batches.meta.txt": labels.encode()})
    yield cifar_case("names of odd bytes", {**CIFAR10, "batches.meta.txt": b"\xff\x1b[2J\n" * 10}, (0, 3))
    yield cifar_case("a label of 10", {**CIFAR10, "data_batch_3.bin": record(10)}, says="record 0")
    yield cifar_case("a coarse label of 20", {**CIFAR100, "train.bin": record(20, 1)}, kind="cifar100",
                     says="label 20")
    yield cifar_case("a fine label of 100", {**CIFAR100, "train.bin": record(1, 100)}, kind="cifar100",
                     says="label 100")
    yield cifar_case("records of the other format", {**CIFAR10, "data_batch_1.bin": CIFAR100["train.bin"]})
    yield Case("CIFAR", "an unknown answer to errors",
               ["import", "cifar10", "mine", "new.h5", "--on-error", "ignore"], USAGE,
               folder("mine", CIFAR10), "--on-error")
    yield Case("CIFAR", "nothing to decode", ["import", "cifar10", "mine", "new.h5", "--decode"], USAGE,
               folder("mine", CIFAR10), "--decode")


# --- archives --------------------------------------------------------------------------------

SMALL = {"cat/1.jpg": COLOUR_JPEG, "dog/1.jpg": COLOUR_JPEG, "dog/2.jpg": COLOUR_JPEG}


def archive_case(name, raw, statuses=DATA, ending="tar", kind="image-folder", **more):
    return Case("archive", f"{ending}: {name}", ["import", kind, f"bad.{ending}", "new.h5"], statuses,
                place(f"bad.{ending}", raw), many=True, **more)


def archive_cases(program, scratch):
    for ending, good in (("tar", tar(SMALL)), ("tar.gz", tar(SMALL, packed=True)), ("zip", zipped(SMALL))):
        said = answer_of(program, ["import", "image-folder", f"bad.{ending}", "new.h5"],
                         place(f"bad.{ending}", good), scratch / ending)
        yield archive_case("the good one", good, GOOD, ending, same_answer=said)
        # Behind the members a tar file has zeros only, and a zip file what names them again.
        needed = good if ending == "tar.gz" else good.rstrip(b"\0")
        for n in cuts(len(needed), 32):
            yield archive_case(f"cut to {n}", cut(good, n), DATA if ending != "zip" else (0, 3), ending,
                               sampled=n > 2)
        for bit in range(0, len(needed) * 8, 11):
            yield archive_case(f"bit {bit} flipped", flip(good, bit), (0, 3), ending, sampled=True)
        for stand_in_name, stand_in in STAND_INS.items():
            yield archive_case(f"{stand_in_name} for it", stand_in, ending=ending)
    for name, files, statuses in (
        ("paths that lead out", {"../../cat/1.jpg": COLOUR_JPEG, "/etc/dog/1.jpg": COLOUR_JPEG}, (0, 3)),
        ("odd names", {"\x1b[2J/1.jpg": COLOUR_JPEG, "é/2.jpg": COLOUR_JPEG}, (0, 3)),
        ("long names", {"x" * 150 + "/" + "y" * 90 + ".jpg": COLOUR_JPEG}, GOOD),
        ("no images", {"cat/notes.txt": b"x"}, DATA),
        ("nothing", {}, DATA),
        ("images in no folder", {"1.jpg": COLOUR_JPEG, "cat/2.jpg": COLOUR_JPEG}, DATA),
    ):
        yield archive_case(name, tar(files), statuses)
    yield archive_case("CIFAR without its batches", tar({"x/test_batch.bin": record(1)}), kind="cifar10")
    whole = tar({f"cifar-10-batches-bin/{name}": content for name, content in CIFAR10.items()}, packed=True)
    yield archive_case("CIFAR, the good one", whole, GOOD, "tar.gz", "cifar10")
    for n in cuts(len(whole), 24):
        yield archive_case(f"CIFAR cut to {n}", cut(whole, n), DATA, "tar.gz", "cifar10", sampled=True)
    for bit in range(10 * 8, len(whole) * 8, 97):
        yield archive_case(f"CIFAR, bit {bit} flipped", flip(whole, bit), DATA, "tar.gz", "cifar10",
                           sampled=True)
    yield archive_case("rubbish after the packed", whole + b"rubbish", (0, 3), "tar.gz", "cifar10")
    yield Case("archive", "a damaged one in a deck", ["check", "deck.toml", "data.train=./bad.tar.gz"], DATA,
               both(place("deck.toml", DECK), place("bad.tar.gz", whole[:len(whole) // 2])), "bad.tar.gz",
               many=True)


# --- images ----------------------------------------------------------------------------------

def image_case(name, files, statuses=DATA, arguments=(), **more):
    return Case("image", name, ["import", "image-folder", "mine", "new.h5", *arguments], statuses,
                folder("mine", files), many=True, **more)


def image_cases():
    for kind, good, plain in (("jpg", COLOUR_JPEG, {"a/0.jpg": COLOUR_JPEG}),
                              ("png", png(2, 3, 3), {"a/0.png": png(2, 3, 3)})):
        yield image_case(f"the good {kind}", {**plain, f"b/1.{kind}": good}, GOOD)
        # The last of a PNG file are its end's mark, which nobody needs.
        for n in cuts(len(good) - (12 if kind == "png" else 2), 32):
            yield image_case(f"{kind} cut to {n}", {**plain, f"b/1.{kind}": cut(good, n)},
                             says=f"b/1.{kind}", sampled=n > 2)
        for bit in range(0, len(good) * 8, 3):
            yield image_case(f"{kind}, bit {bit} flipped", {**plain, f"b/1.{kind}": flip(good, bit)},
                             (0, 3), sampled=True)
        for stand_in_name, stand_in in STAND_INS.items():
            yield image_case(f"{stand_in_name} for a {kind}", {**plain, f"b/1.{kind}": stand_in},
                             GOOD if stand_in_name == "a folder" else DATA, sampled=True)
    huge = bytearray(COLOUR_JPEG)
    frame = huge.index(b"\xff\xc0") + 5
    huge[frame:frame + 4] = b"\xff\xff\xff\xff"
    for name, files in (
        ("grey among colour", {"a/1.jpg": COLOUR_JPEG, "a/2.jpg": COLOUR_JPEG, "b/1.jpg": GREY_JPEG}),
        ("two sizes of PNG", {"a/1.png": png(2, 3, 1), "b/1.png": png(3, 3, 1)}),
        ("JPEG and PNG of two sizes", {"a/1.png": png(2, 3, 3), "b/1.jpg": COLOUR_JPEG}),
        ("an enormous JPEG", {"a/1.jpg": bytes(huge)}),
        ("an enormous PNG", {"a/1.png": png(1 << 30, 1 << 30, 1, rows=b"")}),
        ("a PNG without pixels", {"a/1.png": png(0, 0, 1, rows=b"")}),
        ("a PNG of too few rows", {"a/1.png": png(50, 3, 1, rows=b"\0abc")}),
        ("a picture of another kind", {"a/1.jpg": COLOUR_JPEG, "b/1.gif": b"GIF89a"}),
        ("another kind under this name", {"a/1.jpg": b"GIF89a"}),
    ):
        yield image_case(name, files)
    yield image_case("only bad ones, left out", {"a/1.jpg": b"x"}, arguments=["--on-error", "skip"])
    yield image_case("one bad one, left out", {"a/1.jpg": b"x", "b/1.jpg": COLOUR_JPEG}, GOOD,
                     ["--on-error", "skip"])
    yield image_case("no test split", {"train/a/1.jpg": COLOUR_JPEG}, arguments=["--split", "test"])
    yield Case("image", "an empty class", ["import", "image-folder", "mine", "new.h5"], DATA,
               both(folder("mine", {"a/1.jpg": COLOUR_JPEG}), lambda work: (work / "mine/b").mkdir()),
               "class b", many=True)


# --- NumPy files -----------------------------------------------------------------------------

def npy(kind, shape, body, order="False"):
    head = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + body


def npz_case(name, raw, statuses=DATA, **more):
    return Case("npz", name, ["import", "npz", "bad.npz", "new.h5"], statuses, place("bad.npz", raw), many=True,
                **more)


IMAGES_NPY = npy("|u1", "(2, 2, 2)", bytes(range(8)))
LABELS_NPY = npy("<i8", "(2,)", struct.pack("<2q", 0, 1))


def npz_cases():
    def both_arrays(images=IMAGES_NPY, labels=LABELS_NPY):
        return zipped({"images.npy": images, "labels.npy": labels})

    good = both_arrays()
    yield npz_case("the good one", good, GOOD)
    yield npz_case("images by column", both_arrays(npy("|u1", "(2, 2, 2)", bytes(8), "True")), GOOD)
    for n in cuts(len(good), 64):
        yield npz_case(f"cut to {n}", cut(good, n), (0, 3) if n > 500 else DATA, sampled=n > 2)
    for bit in range(0, len(good) * 8, 7):
        yield npz_case(f"bit {bit} flipped", flip(good, bit), (0, 3), sampled=True)
    for name, stand_in in STAND_INS.items():
        yield npz_case(f"{name} for it", stand_in)
    for name, raw in (
        ("no labels", zipped({"images.npy": IMAGES_NPY})),
        ("floats for pixels", both_arrays(npy("<f4", "(2, 2, 2)", bytes(32)))),
        ("objects for labels", both_arrays(labels=npy("|O", "(2,)", bytes(16)))),
        ("floats for labels", both_arrays(labels=npy("<f8", "(2,)", bytes(16)))),
        ("wide pixels", both_arrays(npy("<u2", "(2, 2, 2)", bytes(16)))),
        ("images of rank 2", both_arrays(npy("|u1", "(2, 4)", bytes(8)))),
        ("images of rank 5", both_arrays(npy("|u1", "(2, 2, 2, 1, 1)", bytes(8)))),
        ("a byte too few", both_arrays(IMAGES_NPY[:-1])),
        ("a byte too many", both_arrays(IMAGES_NPY + b"\0")),
        ("no samples", both_arrays(npy("|u1", "(0, 2, 2)", b""), npy("<i8", "(0,)", b""))),
        ("a shape that fits nowhere", both_arrays(npy("|u1", f"({1 << 40}, {1 << 40}, 2)", b"x"))),
        ("a negative shape", both_arrays(npy("|u1", "(-2, 2, 2)", bytes(8)))),
        ("three labels", both_arrays(labels=npy("|u1", "(3,)", b"\0\1\1"))),
        ("a negative label", both_arrays(labels=npy("|i1", "(2,)", b"\0\xff"))),
        ("a label of 10^12", both_arrays(labels=npy("<i8", "(2,)", struct.pack("<2q", 0, 10**12)))),
        ("a head without end", both_arrays(b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")),
        ("a head of nonsense", both_arrays(b"\x93NUMPY\x01\x00\x04\x00{[(" + b"\n")),
        ("arrays that are text", both_arrays(b"images", b"labels")),
    ):
        yield npz_case(name, raw)
    yield Case("npz", "no split of that name", ["import", "npz", "bad.npz", "new.h5", "--split", "test"], DATA,
               place("bad.npz", zipped({"x_train.npy": IMAGES_NPY, "y_train.npy": LABELS_NPY})), "x_test",
               many=True)


# --- compressed data sets, and the look into one ---------------------------------------------

def inspect_cases(program, scratch):
    """What lies in an HDF5 file of JPEG images is damaged, or the picture cannot be written."""
    answer_of(program, ["import", "image-folder", "mine", "new.h5"], folder("mine", SMALL), scratch / "made")
    good = (scratch / "made" / "new.h5").read_bytes()
    for n in cuts(len(good), 40):
        yield Case("inspect", f"cut to {n}", ["inspect", "bad.h5"], DATA, place("bad.h5", cut(good, n)),
                   "bad.h5", sampled=True)
    for bit in range(0, len(good) * 8, 1009):
        yield Case("inspect", f"bit {bit} flipped", ["inspect", "bad.h5", "--png", "new.png"], (0, 3),
                   place("bad.h5", flip(good, bit)), sampled=True)
    for name, target in (("a folder", "."), ("no folder", "none/x.png"), ("a full device", "/dev/full")):
        yield Case("inspect", f"a picture to {name}", ["inspect", "good.h5", "--png", target], DATA,
                   place("good.h5", writer(lambda: good)))
    yield Case("inspect", "no data set", ["inspect", "none.h5"], DATA, says="none.h5")


def all_cases(program, scratch):
    scratch.mkdir()
    return [*cifar_cases(), *archive_cases(program, scratch), *image_cases(), *npz_cases(),
            *inspect_cases(program, scratch)]
