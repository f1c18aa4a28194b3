#pragma once
// A trial of HDF5 files in a process of its own. The library bears damage where the
// format has checksums: in the files that it writes for 1.10 and later, but for texts of
// variable length. In others, which h5py writes unless told otherwise, it was seen to
// read a damaged file for ever. For h5_handle.cpp alone.

#include <string>

namespace crossbow::h5 {

/// Whether the structure of the file, from its first block on, has checksums.
bool has_checksums(const std::string& path);

/// Read all of a file in a child process. Return why that did not come to an end; empty
/// if it did, be it with an Error, which the reader meets again.
std::string trial_fault(const std::string& path);

}  // namespace crossbow::h5
