#pragma once
// What a deck says about data: [data].

#include <optional>
#include <string>

namespace crossbow {

struct DataOptions {
  std::string train = "digits";  // HDF5 file, or folder or name of an IDX data set
  std::string test = "digits";
  bool shuffle = true;
  std::optional<double> mean;  // none: the training set's own
  std::optional<double> std;   // none: the training set's own

  bool operator==(const DataOptions&) const = default;
};

}  // namespace crossbow
