#pragma once
// Imports arrays `images` (n, h, w, c) or (n, h, w) of uint8 and `labels` (n) or (n, 1)
// of integers from a NumPy .npz file or an HDF5 file (format "npz"). They may also be
// called x and y, or x_train, y_train, x_test and y_test.

#include <string>

#include "io/importers/import_job.hpp"

namespace crossbow {

/// Whether `source` is a file called .npz.
bool is_npz(const std::string& source);

/// Read a split. Classes are counted up to the largest label that is believed: at least
/// half of the labels up to it are there; other labels are faults of single samples.
/// Throws Error(data).
ImportResult import_npz(const std::string& source, const ImportOptions& options);

}  // namespace crossbow
