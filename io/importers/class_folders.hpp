#pragma once
// How the images of a tree of folders are divided into splits and classes, from their
// paths alone.

#include <cstdint>
#include <string>
#include <vector>

#include "io/file_tree.hpp"
#include "io/importers/import_job.hpp"

namespace crossbow {

/// The images of one split.
struct ClassFolders {
  std::vector<std::string> class_names;  // sorted; of all splits, so that labels agree
  std::vector<std::string> paths;        // sorted by class and path
  std::vector<std::int32_t> labels;      // of each path
};

/// Sort the images of `entries` (as of list_tree) into classes; add to `faults` images in
/// no class, images of other kinds than JPEG and PNG, and classes without images. Throws
/// Error(data) naming `source` if there is no image or no such split.
ClassFolders find_classes(const std::vector<TreeEntry>& entries,
                          Split split,
                          const std::string& source,
                          ImportFaults& faults);

}  // namespace crossbow
