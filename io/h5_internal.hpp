#pragma once
// What the three sources of H5File share; the only header that includes hdf5.h.

#include <algorithm>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include <hdf5.h>

#include "io/h5_handle.hpp"

namespace crossbow::h5 {

static_assert(std::is_same_v<hid_t, std::int64_t>, "HDF5 1.10 or newer is needed");
static_assert(std::is_same_v<herr_t, int>);

using Lock = std::unique_lock<std::recursive_mutex>;

/// Take the process-wide lock of the HDF5 library and switch off its own print of errors.
Lock lock();

/// Take the lock no more: in a child process, where the thread that held it is not, nor
/// any other.
void be_alone();

/// Return the reason of the last failure: the system's text if there is one, else HDF5's
/// own.
std::string last_reason();

/// Return a dataspace of `shape`; empty: of one value.
H5Handle make_space(const H5Shape& shape);

/// Return the extents of a dataspace.
H5Shape to_shape(hid_t space);

}  // namespace crossbow::h5
