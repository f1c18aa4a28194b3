#pragma once
// What the fuzz targets share. libFuzzer takes every crash, sanitizer's complaint, hang
// and exception that leaves a target for a finding; here is said that an Error is none,
// and where the bytes lie for a reader that takes a path.

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

#include "base/error.hpp"

namespace crossbow::fuzzing {

/// Stop with a finding unless `good`.
inline void require(bool good, const char* what) {
  if (!good) {
    std::fprintf(stderr, "finding: not so: %s\n", what);
    std::abort();
  }
}

/// Return what `read` returns; none where it refuses its input with an Error. An internal
/// error is nothing that a file may cause.
template <class Read>
auto accepted(Read read) -> std::optional<decltype(read())> {
  try {
    return read();
  } catch (const Error& error) {
    require(error.exit_code() != ExitCode::internal_error, error.what());
    return std::nullopt;
  }
}

/// Let child processes end without a word: where a reader tries a file in one, what the
/// trial is for is no finding. To be called before the first input.
inline int let_children_fail() {
  return pthread_atfork(nullptr, nullptr, [] {
    __sanitizer_set_death_callback(nullptr);
    for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM}) {
      std::signal(number, SIG_DFL);
    }
  });
}

/// A folder of the process's own in TMPDIR, which scripts/fuzz empties afterwards.
inline const std::string& folder() {
  static const std::string path = [] {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "crossbow_fuzz_XXXXXX").string();
    require(mkdtemp(pattern.data()) != nullptr, "a folder can be made");
    return pattern;
  }();
  return path;
}

/// Put bytes into the file `name` of the folder; return its path.
inline std::string put(const std::string& name,
                       const std::uint8_t* data,
                       std::size_t size) {
  const std::string path = folder() + "/" + name;
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  file.close();
  require(file.good(), "a file can be written");
  return path;
}

}  // namespace crossbow::fuzzing
