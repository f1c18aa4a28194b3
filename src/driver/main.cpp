// The program: reads the command line, runs a command, turns errors into a sentence and a
// status.

#include <cstdio>
#include <exception>

#include "base/error.hpp"
#include "base/processor.hpp"

#include "driver/command_line.hpp"

int main(int argc, char** argv) {
  try {
    crossbow::check_processor(crossbow::processor_features());
    return crossbow::run_command_line(argc, argv);
  } catch (const crossbow::Error& error) {
    std::fprintf(stderr, "crossbow: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crossbow: internal error: %s\n", error.what());
    return static_cast<int>(crossbow::ExitCode::internal_error);
  }
}
