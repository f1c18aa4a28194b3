#pragma once
// Finds the data that a deck names and loads it: an HDF5 data set, what an importer takes
// (files of IDX or CIFAR, folders and archives of images), or the name of a folder with
// one of these, looked for in a list of places. An import happens once: the result is
// kept as HDF5 in a cache, under the digest of the source's bytes, so that it is never
// stale.

#include <string>
#include <vector>

#include "base/notice.hpp"

#include "io/dataset_file.hpp"
#include "io/importers/import_job.hpp"

namespace crossbow {

struct DataSearch {
  std::vector<std::string> extra_paths;  // of --data-path, looked at first
};

/// Return the folders that a name is looked for in, best first: `extra_paths`;
/// CROSSBOW_DATA (colon-separated); inputs/data of the working directory and of the
/// source tree that holds the program (../../ of its folder); ../shared/data beside both;
/// /usr/share/datasets; and .deps/usr/share/datasets of the source tree.
std::vector<std::string> search_places(const DataSearch& search);

/// Return the folder of the cache: CROSSBOW_CACHE, else $XDG_CACHE_HOME/crossbow, else
/// ~/.cache/crossbow; empty if none of the variables is set.
std::string cache_folder();

/// Load one split of `name_or_path`: an .h5 file (one file is one split), a source that
/// an importer recognises, a folder that holds either (train.h5 and test.h5, or an
/// archive), or the name of such a folder, as "digits". `notice` hears of an import and
/// of a cache that cannot be used. Throws Error(data): not found (every place looked at,
/// and a remedy), or what is wrong in a file.
Dataset load_data(const std::string& name_or_path,
                  Split split,
                  const DataSearch& search,
                  const Notice& notice);

}  // namespace crossbow
