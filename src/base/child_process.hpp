#pragma once
// For trials in a child process, in which a crash is an answer and no accident.

#include <optional>

#include <sys/types.h>

namespace crossbow {

/// In the child: leave no core file behind.
void leave_no_core();

/// Block until `child` has ended, whatever signals come meanwhile; return its status as
/// waitpid() has it. None, with errno set, where there is no such child (fork() failed).
std::optional<int> wait_for_end(pid_t child);

}  // namespace crossbow
