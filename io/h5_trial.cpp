#include "io/h5_trial.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"
#include "base/error.hpp"

#include "io/h5_handle.hpp"
#include "io/h5_internal.hpp"

namespace crossbow::h5 {
namespace {

template <class T>
void read_if_it_has(const H5File& file, const std::string& data_set) {
  try {
    file.read<T>(data_set);
  } catch (const Error&) {
    // Of another type, or damaged in a way that is told.
  }
}

void read_all(const std::string& path) {
  const H5File file = H5File::open(path);
  for (const std::string& name : file.attribute_names()) {
    switch (file.attribute_kind(name)) {
      case H5Kind::text:
        file.read_texts(name);
        break;
      case H5Kind::integer:
      case H5Kind::number:
        file.read_numbers(name);
        break;
      case H5Kind::other:
        break;
    }
  }
  for (const std::string& name : file.data_set_names()) {
    read_if_it_has<std::uint8_t>(file, name);
    read_if_it_has<std::int32_t>(file, name);
    read_if_it_has<std::int64_t>(file, name);
    read_if_it_has<float>(file, name);
    read_if_it_has<double>(file, name);
  }
}

/// In the child. What never ends is ended by its processor time, which a slow file system
/// does not use up.
[[noreturn]] void try_to_read(const std::string& path) {
  constexpr std::uintmax_t bytes_per_second = 1 << 20;  // they may be compressed
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(path, failed);
  const rlim_t seconds = 5 + (failed ? 0 : bytes / bytes_per_second);
  const rlimit time = {seconds, seconds + 1};  // the first ends it with SIGXCPU
  setrlimit(RLIMIT_CPU, &time);
  leave_no_core();
  int status = 0;
  try {
    read_all(path);
  } catch (const Error&) {
    // The reader will meet it again.
  } catch (...) {
    status = 1;
  }
  _exit(status);
}

}  // namespace

bool has_checksums(const std::string& path) {
  constexpr std::array<char, 8> signature = {
      '\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  constexpr char first_version_with_checksums = 2;
  std::array<char, 9> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  return std::equal(signature.begin(), signature.end(), begin.begin()) &&
         begin[8] >= first_version_with_checksums;
}

std::string trial_fault(const std::string& path) {
  const Lock held = lock();  // so that nobody is within the library
  const pid_t child = fork();
  if (child == 0) {
    be_alone();
    try_to_read(path);
  }
  const std::optional<int> status = wait_for_end(child);
  if (!status.has_value()) {
    return std::string("no process can be started to try it: ") + std::strerror(errno);
  }
  if (WIFSIGNALED(*status) && WTERMSIG(*status) == SIGXCPU) {
    return "the HDF5 library does not come to an end with it";
  }
  const bool good = WIFEXITED(*status) && WEXITSTATUS(*status) == 0;
  return good ? "" : "the HDF5 library cannot bear it";
}

}  // namespace crossbow::h5
