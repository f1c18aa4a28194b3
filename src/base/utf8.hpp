#pragma once
// Where characters begin in UTF-8 (RFC 3629, section 3), for texts that are cut or
// counted.

#include <cstddef>
#include <string_view>

namespace crossbow {

/// Whether a character begins with this byte; false for its further ones.
constexpr bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

/// The last place up to `size` where `text` can be cut before a character.
constexpr std::size_t cut_at_character(std::string_view text, std::size_t size) {
  while (size > 0 && size < text.size() && !begins_character(text[size])) {
    --size;
  }
  return size;
}

}  // namespace crossbow
