#include "base/error.hpp"

namespace crossbow {

std::string to_sentence(const ErrorText& text) {
  std::string sentence = text.what;
  if (!text.why.empty() || !text.where.empty()) {
    const bool both = !text.why.empty() && !text.where.empty();
    sentence += " (" + text.why + (both ? ", " : "") + text.where + ")";
  }
  if (!text.remedy.empty()) {
    sentence += ". " + text.remedy;
  }
  return sentence;
}

Error::Error(ExitCode code, const ErrorText& text)
    : std::runtime_error(to_sentence(text)), code_(code) {}

Error::Error(ExitCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}

}  // namespace crossbow
