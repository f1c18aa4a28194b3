#pragma once
// What is looked for in the text of a deck before toml++ parses it: nesting, since toml++
// bounds what stands in brackets, but not the parts of dotted keys, and frees nested
// tables by recursion, which ends with the stack; and characters that it was seen to
// stumble over.

#include <cstddef>
#include <optional>
#include <string_view>

namespace crossbow {

/// Far above any deck, far below what a stack bears.
inline constexpr std::size_t deepest_deck = 100;

/// Return the first line, from 1, where `text` is nested deeper than `most`; none if it
/// is not. Counts the dots of keys and the open brackets; exact to a few for TOML, and up
/// to its first mistake for what is none.
std::optional<std::size_t> line_nested_deeper(std::string_view text, std::size_t most);

/// A place in a text, both from 1.
struct TextPlace {
  std::size_t line = 0;
  std::size_t column = 0;  // [characters of UTF-8]
};

/// Return the first character that is not ASCII and stands neither in quotes nor in a
/// comment, where TOML has none; a byte order mark at the beginning is left out.
/// toml++ 3.3 classifies such characters by what its compiler made of unreachable code.
std::optional<TextPlace> stray_character(std::string_view text);

}  // namespace crossbow
