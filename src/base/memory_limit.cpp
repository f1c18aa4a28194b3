#include "base/memory_limit.hpp"

#include <filesystem>
#include <fstream>
#include <utility>

#include <sys/resource.h>
#include <unistd.h>

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// Lower `limit` to the number in `file`, where there is one ("max" is none).
void lower_to_file(const fs::path& file, MemoryLimit& limit) {
  std::ifstream stream(file);
  std::int64_t bytes = 0;
  if (stream >> bytes && bytes < limit.bytes) {
    limit = {bytes, "the control group of this process"};
  }
}

/// A group is also bound by those that it is in; a container may not see its own group's
/// path, only the folders from the mount on.
void lower_to_group(const fs::path& mount,
                    const std::string& group,
                    const char* file,
                    MemoryLimit& limit) {
  for (fs::path path = fs::path(group).relative_path(); !path.empty();
       path = path.parent_path()) {
    lower_to_file(mount / path / file, limit);
  }
  lower_to_file(mount / file, limit);
}

void lower_to_groups(const std::string& root, MemoryLimit& limit) {
  std::ifstream groups(root + "/proc/self/cgroup");
  const fs::path mount = root + "/sys/fs/cgroup";
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      lower_to_group(mount, path, "memory.max", limit);
    } else if (("," + controllers + ",").find(",memory,") != std::string::npos) {
      lower_to_group(mount / "memory", path, "memory.limit_in_bytes", limit);
    }
  }
}

}  // namespace

MemoryLimit memory_limit(const std::string& root) {
  MemoryLimit limit = {std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE),
                       "this machine"};
  lower_to_groups(root, limit);
  rlimit space = {};
  const bool is_known = getrlimit(RLIMIT_AS, &space) == 0;
  if (is_known && std::cmp_less(space.rlim_cur, limit.bytes)) {
    limit = {static_cast<std::int64_t>(space.rlim_cur), "ulimit -v"};
  }
  return limit;
}

}  // namespace crossbow
