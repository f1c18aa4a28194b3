// Fuzz target of CIFAR files and of the archives that they come in. The first byte: the
// format (bit 0), an archive (bit 1) or a plain folder, whether bad records are left out
// (bit 2). The rest is the archive, or the file of records.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/fuzzing.hpp"

#include "io/importers/cifar.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossbow;
  if (size < 1) {
    return 0;
  }
  const CifarFormat& format = (data[0] & 1U) == 0 ? cifar10() : cifar100();
  const bool is_archive = (data[0] & 2U) != 0;
  const ImportOptions options{
      .split = Split::test, .skip_bad = (data[0] & 4U) != 0, .progress = {}};
  const std::string name = is_archive ? "a.tar.gz" : format.test.front();
  const std::string file = fuzzing::put(name, data + 1, size - 1);
  const std::string source = is_archive ? file : fuzzing::folder();
  const auto imported =
      fuzzing::accepted([&] { return import_cifar(format, source, options); });
  if (imported) {
    check_dataset(imported->data, "an imported data set");
  }
  return 0;
}
