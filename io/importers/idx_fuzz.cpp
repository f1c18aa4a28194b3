// Fuzz target of IDX files. The first byte: whether the names end with .gz (bit 0); the
// next two: the size of the images' file, low byte first; then that file and the labels'.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/fuzzing.hpp"

#include "io/importers/idx.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossbow;
  constexpr std::size_t header = 3;
  if (size < header) {
    return 0;
  }
  const bool named_gzip = (data[0] & 1U) != 0;
  const std::size_t images =
      std::min<std::size_t>(data[1] + std::size_t{256} * data[2], size - header);
  const std::string folder = named_gzip ? "gzip" : "plain";
  const std::string ending = named_gzip ? "-ubyte.gz" : "-ubyte";
  std::filesystem::create_directories(fuzzing::folder() + "/" + folder);
  fuzzing::put(folder + "/train-images-idx3" + ending, data + header, images);
  fuzzing::put(folder + "/train-labels-idx1" + ending,
               data + header + images,
               size - header - images);
  const auto set = fuzzing::accepted(
      [&] { return import_idx(fuzzing::folder() + "/" + folder, Split::train); });
  if (set) {
    check_dataset(*set, "an imported data set");
  }
  return 0;
}
