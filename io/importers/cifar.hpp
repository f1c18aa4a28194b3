#pragma once
// Imports the binary version of CIFAR-10 and CIFAR-100 (formats "cifar10", "cifar100"):
// records of one label (CIFAR-100: coarse and fine) and 32 x 32 pixels, all red, all
// green, all blue. The files lie in a folder, in the folder in it that their archive
// makes, or in the archive itself.

#include <string>

#include "io/importers/import_job.hpp"

namespace crossbow {

/// What distinguishes the two.
struct CifarFormat {
  const char* name;                // of the format
  const char* folder;              // that the archive makes
  std::vector<std::string> train;  // files, in order
  std::vector<std::string> test;   //
  const char* names_file;          // names of the classes, a line each; may be missing
  std::vector<int> label_limits;   // of a record's labels; the last is the one to learn
};

const CifarFormat& cifar10();
const CifarFormat& cifar100();

/// Whether `source` has a file of records of the format.
bool is_cifar(const CifarFormat& format, const std::string& source);

/// Return the SHA-256 of an archive's bytes, or of the split's files one after the other.
std::string cifar_digest(const CifarFormat& format,
                         const std::string& source,
                         Split split);

/// Read a split: images (n, 32, 32, 3). Labels out of range and a record that is cut are
/// faults of single samples. Throws Error(data).
ImportResult import_cifar(const CifarFormat& format,
                          const std::string& source,
                          const ImportOptions& options);

}  // namespace crossbow
