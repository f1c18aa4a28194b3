#pragma once
// The command line (README, "Commands").

namespace crossbow {

/// Parse and run the command; returns the exit status. Throws what the command throws.
int run_command_line(int argc, char** argv);

}  // namespace crossbow
