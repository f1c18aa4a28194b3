#pragma once
// How much memory this process can have at most.

#include <cstdint>
#include <string>

namespace crossbow {

/// A limit and whose it is.
struct MemoryLimit {
  std::int64_t bytes = 0;
  std::string owner;  // for messages: "this machine", "the job's cgroup"
};

/// The smallest of: the machine's memory, the limits of the process's control groups
/// (versions 1 and 2), the limit of its address space (ulimit -v). `root` stands for "/"
/// in tests.
MemoryLimit memory_limit(const std::string& root = "");

}  // namespace crossbow
