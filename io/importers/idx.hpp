#pragma once
// Imports the IDX files of MNIST and its family (format "mnist"): a pair of files a
// split, plain or gzip. Nothing of a header, size or label is believed unchecked; offsets
// in messages count the uncompressed bytes.

#include <string>

#include "io/importers/import_job.hpp"

namespace crossbow {

/// The two files of a split.
struct IdxPair {
  std::string images;  // ...-images-idx3-ubyte, or with .gz
  std::string labels;  // ...-labels-idx1-ubyte, or with .gz
};

/// Whether `folder` has the images of either split.
bool is_idx_folder(const std::string& folder);

/// Return the paths of the split's files in `folder`: train-* or, for the test, t10k-* or
/// test-*; throw Error(data) with the names looked for if one is missing.
IdxPair find_idx_pair(const std::string& folder, Split split);

/// Return "IMAGES and LABELS", what an import names as its source.
std::string source_text(const IdxPair& pair);

/// Read a split from `folder`: images (n, h, w, 1), labels, classes (largest label + 1),
/// mean, std, and the digest of the images' file followed by the labels'. Throws
/// Error(data) with file, offset and value for whatever is wrong with the files.
Dataset import_idx(const std::string& folder, Split split);

}  // namespace crossbow
