#pragma once
// Errors that a user can cause or meet. Each is one sentence of the form
// "what is wrong (why, where). what to do" and carries the exit status of the program.

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/exit_code.hpp"

namespace crossbow {

/// Parts of an error sentence; `why`, `where` and `remedy` may be empty.
struct ErrorText {
  std::string what;    // "label 12 is out of range"
  std::string why;     // "the data set has 10 classes"
  std::string where;   // "train-labels-idx1-ubyte.gz, byte 4711"
  std::string remedy;  // "Import the data set again"
};

/// Return `text` as a terminal can show it: control characters and bytes that are no
/// UTF-8 become \xNN. `keep_lines`: but for the ends of lines.
std::string printable(std::string_view text, bool keep_lines = false);

/// Join the parts to "what (why, where). remedy.", printable and each of bounded length.
std::string to_sentence(const ErrorText& text);

/// An error of the user, of a file, of the numbers or of a device.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const ErrorText& text);
  /// Take a finished message, e.g. several complaints, a line each.
  Error(ExitCode code, const std::string& message);

  ExitCode exit_code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

}  // namespace crossbow

/// Check input, in every build: throw Error(code, ErrorText) unless `condition` holds.
#define CROSSBOW_VALIDATE(condition, code, ...)                           \
  do {                                                                    \
    if (!(condition)) {                                                   \
      throw ::crossbow::Error((code), ::crossbow::ErrorText __VA_ARGS__); \
    }                                                                     \
  } while (false)
