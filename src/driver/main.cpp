// The program: reads the command line, runs a command, turns errors into a sentence and a
// status.

#include <cerrno>
#include <cstdio>
#include <exception>
#include <new>
#include <system_error>

#include <fcntl.h>

#include "base/error.hpp"
#include "base/processor.hpp"

#include "driver/command_line.hpp"

namespace {

/// A standard stream that the caller has closed would be the next file that is opened,
/// and messages would go into that.
void open_standard_streams() {
  for (int stream = 0; stream <= 2; ++stream) {
    if (fcntl(stream, F_GETFD) == -1) {
      open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_streams();
  try {
    crossbow::check_processor(crossbow::processor_features());
    const int status = crossbow::run_command_line(argc, argv);
    // A run that is to be requeued must not lose its status for lost lines.
    errno = 0;  // of an earlier failure to write it may be that of something else by now
    const bool is_printed = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (status == 0 && !is_printed) {
      const int reason = errno == 0 ? EIO : errno;
      throw std::system_error(reason, std::generic_category(), "standard output");
    }
    return status;
  } catch (const crossbow::Error& error) {
    std::fprintf(stderr, "crossbow: %s\n", error.what());
    return static_cast<int>(error.exit_code());
  } catch (const std::bad_alloc& error) {
    std::fprintf(stderr,
                 "crossbow: there is not enough memory (%s). Lower training.batch or the "
                 "number of learners, or use a smaller network\n",
                 error.what());
    return static_cast<int>(crossbow::ExitCode::device);
  } catch (const std::system_error& error) {
    // Paths that cannot be looked at, an output that cannot be written to.
    std::fprintf(
        stderr,
        "crossbow: a file cannot be used (%s). Check its path, its permissions and "
        "where the output goes\n",
        error.what());
    return static_cast<int>(crossbow::ExitCode::data);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "crossbow: internal error: %s\n", error.what());
    return static_cast<int>(crossbow::ExitCode::internal_error);
  }
}
