"""HDF5 files for tests, through the HDF5 library that the program itself uses.

Needs no package but ctypes: read a file's tensors and attributes whole, and change a copy in ways that
the program never would (other types, shapes and values), with a fitting digest where it is wanted.
"""

import contextlib
import ctypes
import hashlib
import re
import struct
import subprocess

INTEGER, FLOAT, TEXT = 0, 1, 3  # H5T_class_t
READ_ONLY, READ_WRITE = 0, 1

# Names of types as used here: HDF5's name, struct's letter.
TYPES = {
    "uint8": ("H5T_STD_U8LE_g", "B"),
    "int32": ("H5T_STD_I32LE_g", "i"),
    "int64": ("H5T_STD_I64LE_g", "q"),
    "float32": ("H5T_IEEE_F32LE_g", "f"),
    "float64": ("H5T_IEEE_F64LE_g", "d"),
}

library = None


class Hdf5Error(Exception):
    """A call of the library failed."""


def load(program):
    """Load the HDF5 library that the program is linked with; OSError if there is none."""
    global library
    linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    found = re.search(r"=> (\S*/libhdf5\S*)", linked)
    if not found:
        raise OSError("the program is not linked with a shared HDF5 library")
    library = ctypes.CDLL(found.group(1))
    library.H5open()
    library.H5Eset_auto2.argtypes = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p]
    library.H5Eset_auto2(0, None, None)


def call(name, *arguments):
    """Call a function of the library; integers are passed as hid_t."""
    function = getattr(library, name)
    function.restype = ctypes.c_int64 if name not in STATUS else ctypes.c_int
    result = function(*[ctypes.c_int64(a) if isinstance(a, int) else a for a in arguments])
    if result < 0:
        raise Hdf5Error(name)
    return result


STATUS = ("H5Dread", "H5Dwrite", "H5Aread", "H5Awrite", "H5Ldelete", "H5Adelete", "H5Tset_size",
          "H5Tget_class", "H5Fclose", "H5Dclose", "H5Aclose", "H5Sclose", "H5Tclose", "H5Gclose",
          "H5Pclose", "H5Pset_create_intermediate_group", "H5Pset_chunk", "H5Pset_fletcher32",
          "H5Sget_simple_extent_ndims", "H5Sget_simple_extent_dims", "H5Tis_variable_str")


def constant(name):
    return ctypes.c_int64.in_dll(library, name).value


@contextlib.contextmanager
def opened(close, name, *arguments):
    handle = call(name, *arguments)
    try:
        yield handle
    finally:
        call(close, handle)


def file_of(path, mode=READ_ONLY):
    return opened("H5Fclose", "H5Fopen", str(path).encode(), ctypes.c_uint(mode), 0)


def extents(handle, of):
    with opened("H5Sclose", f"H5{of}get_space", handle) as space:
        rank = call("H5Sget_simple_extent_ndims", space)
        dims = (ctypes.c_uint64 * max(rank, 1))()
        call("H5Sget_simple_extent_dims", space, dims, None)
        return tuple(dims[:rank])


def count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def read_data(file, name):
    """Return type class, shape and bytes of a data set."""
    with opened("H5Dclose", "H5Dopen2", file, name.encode(), 0) as data:
        shape = extents(data, "D")
        with opened("H5Tclose", "H5Dget_type", data) as kind:
            size = library.H5Tget_size(ctypes.c_int64(kind))
            buffer = ctypes.create_string_buffer(max(1, count(shape) * size))
            call("H5Dread", data, kind, 0, 0, 0, buffer)
            return call("H5Tget_class", kind), shape, buffer.raw[:count(shape) * size]


def names_in(file, group):
    """Names of the members of a group, in order."""
    names = []
    buffer = ctypes.create_string_buffer(1024)
    while True:
        try:
            call("H5Lget_name_by_idx", file, group.encode(), ctypes.c_int(0), ctypes.c_int(0),
                 ctypes.c_uint64(len(names)), buffer, ctypes.c_size_t(1024), 0)
        except Hdf5Error:
            return names
        names.append(buffer.value.decode())


def data_names(file, group="/"):
    """Full names, without the first slash, of all data sets of a file."""
    found = []
    for name in names_in(file, group):
        path = group.rstrip("/") + "/" + name
        try:
            with opened("H5Dclose", "H5Dopen2", file, path.encode(), 0):
                found.append(path[1:])
        except Hdf5Error:
            found += data_names(file, path)
    return found


def attribute_names(file):
    names = []
    buffer = ctypes.create_string_buffer(1024)
    while True:
        try:
            call("H5Aget_name_by_idx", file, b"/", ctypes.c_int(0), ctypes.c_int(0),
                 ctypes.c_uint64(len(names)), buffer, ctypes.c_size_t(1024), 0)
        except Hdf5Error:
            return names
        names.append(buffer.value.decode())


def read_attribute(file, name):
    with opened("H5Aclose", "H5Aopen_by_name", file, b"/", name.encode(), 0, 0) as attribute, \
            opened("H5Tclose", "H5Aget_type", attribute) as kind:
        size = library.H5Tget_size(ctypes.c_int64(kind))
        n = count(extents(attribute, "A"))
        buffer = ctypes.create_string_buffer(max(1, size * n))
        call("H5Aread", attribute, kind, buffer)
        raw = buffer.raw[:size * n]
        kind_class = call("H5Tget_class", kind)
        if kind_class == TEXT:
            texts = [raw[i * size:(i + 1) * size].rstrip(b"\0").decode() for i in range(n)]
            return texts[0] if n == 1 else texts
        letter = {INTEGER: {8: "q", 4: "i", 1: "B"}, FLOAT: {8: "d", 4: "f"}}[kind_class][size]
        values = struct.unpack(f"<{n}{letter}", raw)
        return values[0] if n == 1 else list(values)


def read(path):
    """Return all data sets {name: (class, shape, bytes)} and attributes {name: value} of a file."""
    with file_of(path) as file:
        data = {name: read_data(file, name) for name in data_names(file)}
        return data, {name: read_attribute(file, name) for name in attribute_names(file)}


def pack(kind, values):
    return struct.pack(f"<{len(values)}{TYPES[kind][1]}", *values)


def set_data(path, name, kind, shape, raw=None, maximum_chunk=1 << 16):
    """Replace or add a data set. Without `raw` its values are never written: huge ones are small."""
    with file_of(path, READ_WRITE) as file:
        with contextlib.suppress(Hdf5Error):
            call("H5Ldelete", file, name.encode(), 0)
        dims = (ctypes.c_uint64 * max(1, len(shape)))(*shape)
        with contextlib.ExitStack() as stack:
            links = stack.enter_context(
                opened("H5Pclose", "H5Pcreate", constant("H5P_CLS_LINK_CREATE_ID_g")))
            call("H5Pset_create_intermediate_group", links, ctypes.c_uint(1))
            how = stack.enter_context(
                opened("H5Pclose", "H5Pcreate", constant("H5P_CLS_DATASET_CREATE_ID_g")))
            if raw is None and shape and 0 not in shape:
                chunk = [min(extent, maximum_chunk) for extent in shape[:1]] + [1] * (len(shape) - 1)
                call("H5Pset_chunk", how, ctypes.c_int(len(shape)),
                     (ctypes.c_uint64 * len(shape))(*chunk))
            space = stack.enter_context(
                opened("H5Sclose", "H5Screate_simple", ctypes.c_int(len(shape)), dims, None))
            data = stack.enter_context(
                opened("H5Dclose", "H5Dcreate2", file, name.encode(), constant(TYPES[kind][0]),
                       space, links, how, 0))
            if raw is not None:
                call("H5Dwrite", data, constant(TYPES[kind][0]), 0, 0, 0,
                     ctypes.create_string_buffer(raw, max(1, len(raw))))


def remove_data(path, name):
    with file_of(path, READ_WRITE) as file:
        call("H5Ldelete", file, name.encode(), 0)


def remove_attribute(path, name):
    with file_of(path, READ_WRITE) as file, \
            opened("H5Gclose", "H5Gopen2", file, b"/", 0) as root:
        call("H5Adelete", root, name.encode())


def set_attribute(path, name, kind, value):
    """Replace or add an attribute of the file: a number, a list of numbers, or a text ("text")."""
    with contextlib.suppress(Hdf5Error):
        remove_attribute(path, name)
    with file_of(path, READ_WRITE) as file, contextlib.ExitStack() as stack:
        if kind == "text":
            raw = value if isinstance(value, bytes) else value.encode()
            type_ = stack.enter_context(opened("H5Tclose", "H5Tcopy", constant("H5T_C_S1_g")))
            call("H5Tset_size", type_, ctypes.c_size_t(max(1, len(raw))))
        else:
            type_ = constant(TYPES[kind][0])
            raw = pack(kind, value if isinstance(value, list) else [value])
        if isinstance(value, list):
            space = stack.enter_context(
                opened("H5Sclose", "H5Screate_simple", ctypes.c_int(1),
                       (ctypes.c_uint64 * 1)(len(value)), None))
        else:
            space = stack.enter_context(opened("H5Sclose", "H5Screate", ctypes.c_int(0)))
        attribute = stack.enter_context(
            opened("H5Aclose", "H5Acreate_by_name", file, b"/", name.encode(), type_, space, 0, 0,
                   0))
        call("H5Awrite", attribute, type_, ctypes.create_string_buffer(raw, max(1, len(raw))))


def digest(path):
    """SHA-256 of a checkpoint's content, as io/README.md defines it."""
    data, attributes = read(path)
    sha = hashlib.sha256()

    def add_name(kind, name):
        sha.update(kind + struct.pack("<q", len(name)) + name)

    for name in sorted(data, key=str.encode):
        _, shape, raw = data[name]
        add_name(b"tensor", name.encode())
        sha.update(struct.pack(f"<{len(shape) + 1}q", len(shape), *shape) + raw)
    for kind, type_, letter in ((b"integer", int, "<q"), (b"number", float, "<d"),
                                (b"text", str, "")):
        for name in sorted(attributes, key=str.encode):
            value = attributes[name]
            if name in ("format", "version", "sha256") or not isinstance(value, type_):
                continue
            add_name(kind, name.encode())
            if kind == b"text":
                add_name(b"", value.encode())
            else:
                sha.update(struct.pack(letter, value))
    return sha.hexdigest()


def set_digest(path):
    """Give a changed checkpoint the digest of what it now holds."""
    set_attribute(path, "sha256", "text", digest(path))
