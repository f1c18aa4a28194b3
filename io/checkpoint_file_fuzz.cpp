// Fuzz target of checkpoints: what is accepted is written again and reads back equal.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "base/fuzzing.hpp"

#include "io/checkpoint_file.hpp"

namespace {

using namespace crossbow;

bool same_numbers(const std::map<std::string, double>& a,
                  const std::map<std::string, double>& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
        return x.first == y.first &&
               (x.second == y.second || (std::isnan(x.second) && std::isnan(y.second)));
      });
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return crossbow::fuzzing::let_children_fail();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzzing::put("input", data, size);
  const auto read = fuzzing::accepted([&] { return read_checkpoint(path); });
  if (read) {
    const std::string written = fuzzing::folder() + "/again.h5";
    write_checkpoint(written, *read);
    const Checkpoint again = read_checkpoint(written);
    fuzzing::require(again.tensors == read->tensors && again.shapes == read->shapes &&
                         again.integers == read->integers &&
                         same_numbers(again.numbers, read->numbers) &&
                         again.texts == read->texts,
                     "a checkpoint that was written again reads back equal");
  }
  return 0;
}
