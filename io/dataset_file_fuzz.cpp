// Fuzz target of HDF5 data sets: what is accepted can be written again.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/fuzzing.hpp"

#include "io/dataset_file.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return crossbow::fuzzing::let_children_fail();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossbow;
  const std::string path = fuzzing::put("input", data, size);
  const auto read = fuzzing::accepted([&] { return read_dataset(path); });
  if (read) {
    const std::string written = fuzzing::folder() + "/again.h5";
    write_dataset(written, *read);
    const Dataset again = read_dataset(written);
    fuzzing::require(again.images == read->images && again.jpeg == read->jpeg &&
                         again.offsets == read->offsets && again.labels == read->labels &&
                         again.class_names == read->class_names,
                     "a data set that was written again reads back equal");
  }
  return 0;
}
