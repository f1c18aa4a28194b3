#include "base/child_process.hpp"

#include <cerrno>

#include <sys/resource.h>
#include <sys/wait.h>

namespace crossbow {

void leave_no_core() {
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
}

std::optional<int> wait_for_end(pid_t child) {
  if (child < 0) {
    return std::nullopt;
  }
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == child ? std::optional<int>(status) : std::nullopt;
}

}  // namespace crossbow
