#include "base/error.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace crossbow {
namespace {

constexpr std::size_t longest_part = 600;  // [bytes]

unsigned char byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

bool is_between(unsigned char byte, unsigned char low, unsigned char high) {
  return byte >= low && byte <= high;
}

/// Bytes of the UTF-8 character that `text` begins with (RFC 3629, table of section 4);
/// 0: there is none.
std::size_t character_length(std::string_view text) {
  const unsigned char lead = byte_at(text, 0), second = byte_at(text, 1);
  if (lead < 0x80) {
    return 1;
  }
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!is_between(lead, 0xC2, 0xF4) || !is_between(second, low, high)) {
    return 0;
  }
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_between(byte_at(text, i), 0x80, 0xBF)) {
      return 0;
    }
  }
  return length;
}

/// Whether a terminal obeys the character instead of showing it.
bool is_control(std::string_view character) {
  const unsigned char first = byte_at(character, 0);
  return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(character, 1) < 0xA0);
}

/// A part of a sentence: one line, not endless.
std::string part(const std::string& text) {
  if (text.size() <= longest_part) {
    return printable(text);
  }
  // Ends of paths tell more than their middles; no cut goes through a character.
  const std::size_t head = cut_at_character(text, longest_part / 2);
  const std::size_t tail = cut_at_character(text, text.size() - longest_part / 4);
  return printable(text.substr(0, head)) +
         fmt::format(" ... ({} bytes) ... ", text.size()) + printable(text.substr(tail));
}

}  // namespace

std::string printable(std::string_view text, bool keep_lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    if ((keep_lines && character == "\n") || (length > 0 && !is_control(character))) {
      shown += character;
    } else {
      for (const char byte : character) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
      }
    }
    text.remove_prefix(character.size());
  }
  return shown;
}

std::string to_sentence(const ErrorText& text) {
  std::string sentence = part(text.what);
  if (!text.why.empty() || !text.where.empty()) {
    const bool both = !text.why.empty() && !text.where.empty();
    sentence += " (" + part(text.why) + (both ? ", " : "") + part(text.where) + ")";
  }
  if (!text.remedy.empty()) {
    sentence += ". " + part(text.remedy);
  }
  return sentence;
}

Error::Error(ExitCode code, const ErrorText& text)
    : std::runtime_error(to_sentence(text)), code_(code) {}

Error::Error(ExitCode code, const std::string& message)
    : std::runtime_error(printable(message, true)), code_(code) {}

}  // namespace crossbow
