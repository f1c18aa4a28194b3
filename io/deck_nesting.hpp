#pragma once
// How deep the tables and lists of a deck lie within one another, before it is parsed:
// toml++ bounds what stands in brackets, but not the parts of dotted keys, and frees
// nested tables by recursion, which ends with the stack.

#include <cstddef>
#include <optional>
#include <string_view>

namespace crossbow {

/// Far above any deck, far below what a stack bears.
inline constexpr std::size_t deepest_deck = 100;

/// Return the first line, from 1, where `text` is nested deeper than `most`; none if it
/// nowhere is. Counts the dots of keys and the open brackets; exact to a few for TOML,
/// and up to its first mistake for what is none.
std::optional<std::size_t> line_nested_deeper(std::string_view text, std::size_t most);

}  // namespace crossbow
