#include "topology/xml_trial.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"

namespace crossbow {
namespace {

constexpr unsigned patience = 30;                                 // [s]
[[maybe_unused]] constexpr rlim_t most_memory = rlim_t{4} << 30;  // [bytes]
constexpr int not_understood = 1;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CROSSBOW_HAS_SHADOW_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CROSSBOW_HAS_SHADOW_MEMORY
#endif
#endif

void limit_memory() {
#ifndef CROSSBOW_HAS_SHADOW_MEMORY  // a sanitizer's, of terabytes
  const rlimit memory = {most_memory, most_memory};
  setrlimit(RLIMIT_AS, &memory);
#endif
}

/// In the child: read the file with all complaints going to `complaints`.
[[noreturn]] void try_to_read(const std::string& path, int complaints) {
  dup2(complaints, STDERR_FILENO);
  dup2(complaints, STDOUT_FILENO);
  limit_memory();
  leave_no_core();
  alarm(patience);
  _exit(load_xml(path) ? 0 : not_understood);
}

/// Read to the end; whether anything came.
bool has_output(int descriptor) {
  std::array<char, 4096> buffer{};
  bool any = false;
  for (;;) {
    const ssize_t count = read(descriptor, buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EINTR)) {
      return any;
    }
    any = any || count > 0;
  }
}

}  // namespace

HwlocHandle load_xml(const std::string& path) {
  HwlocHandle source = make_hwloc();
  const bool good = source && hwloc_topology_set_xml(source.get(), path.c_str()) == 0 &&
                    hwloc_topology_load(source.get()) == 0;
  return good ? std::move(source) : HwlocHandle();
}

std::string xml_fault(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0 || access(path.c_str(), R_OK) != 0) {
    return std::strerror(errno);
  }
  if (!S_ISREG(about.st_mode)) {
    return "it is not a file";
  }
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return std::strerror(errno);
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    try_to_read(path, ends[1]);
  }
  close(ends[1]);
  const bool complains = has_output(ends[0]);
  close(ends[0]);
  const std::optional<int> status = wait_for_end(child);
  if (!status.has_value()) {
    return "no process can be started to read it";
  }
  if (WIFSIGNALED(*status)) {
    return "hwloc cannot bear it";
  }
  if (WEXITSTATUS(*status) != 0) {
    return "hwloc does not understand it";
  }
  return complains ? "hwloc finds contradictions in it" : "";
}

}  // namespace crossbow
