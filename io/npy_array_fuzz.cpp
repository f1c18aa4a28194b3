// Fuzz target of arrays in .npy form. The ZIP archives around them are libarchive's,
// whose checksums keep whatever is changed inside from being read.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/fuzzing.hpp"

#include "io/npy_array.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossbow;
  const auto array = fuzzing::accepted([&] {
    return parse_npy({data, data + size}, "x");
  });
  if (array) {
    fuzzing::accepted([&] { return npy_values<float>(*array, "x"); });
    fuzzing::accepted([&] { return npy_values<std::int32_t>(*array, "x"); });
    const std::string header = npy_header(*array);
    std::vector<std::uint8_t> file(header.begin(), header.end());
    file.insert(file.end(), array->bytes.begin(), array->bytes.end());
    const NpyArray back = parse_npy(file, "x");
    fuzzing::require(back.type == array->type && back.shape == array->shape &&
                         back.bytes == array->bytes,
                     "what is written is what was read");
  }
  return 0;
}
