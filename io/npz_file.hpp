#pragma once
// Arrays by name in numpy's .npz files: ZIP archives (libarchive) of one .npy file an
// array. How weights and data come from Python and go there.

#include <map>
#include <string>

#include "io/npy_array.hpp"

namespace crossbow {

/// Arrays by name, as `numpy.load(FILE)[name]` has them.
using NpzArrays = std::map<std::string, NpyArray>;

/// Read all arrays of a file, stored or compressed; throw Error(data) with file and array
/// for whatever is wrong (see parse_npy).
NpzArrays read_npz(const std::string& path);

/// Write the arrays, stored, atomically; the same arrays are the same bytes. Throws
/// Error(data) with path, reason, bytes needed and bytes free.
void write_npz(const std::string& path, const NpzArrays& arrays);

}  // namespace crossbow
