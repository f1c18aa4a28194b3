#include "io/deck_scan.hpp"

#include <algorithm>
#include <vector>

#include "base/utf8.hpp"

namespace crossbow {
namespace {

/// Return the place after the string that begins at `begin` with a quote of either kind.
std::size_t end_of_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const bool has_lines =
      text.size() - begin >= 3 && text[begin + 1] == quote && text[begin + 2] == quote;
  const std::size_t width = has_lines ? 3 : 1;
  std::size_t i = begin + width;
  for (; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (text[i] == '\n' && !has_lines) {
      return i;  // no TOML: a string that does not end
    } else if (text.substr(i, width) == text.substr(begin, width)) {
      break;
    }
  }
  i = std::min(i + width, text.size());
  for (int extra = 0; has_lines && extra < 2 && i < text.size() && text[i] == quote;
       ++extra) {
    ++i;  // """a quote at the end""""
  }
  return i;
}

/// Follows a text character by character, strings and comments left out.
class Nesting {
 public:
  std::size_t depth() const { return header_ + brackets_ + dots_; }

  void take(char c) {
    switch (c) {
      case '\n':
        end_line();
        return;
      case '.':
        add_dot();
        break;
      case '[':
      case '{':
        open();
        break;
      case ']':
      case '}':
        close();
        break;
      case ',':
        end_item();
        break;
      default:
        break;
    }
    at_start_ = at_start_ && (c == ' ' || c == '\t' || c == '\r');
  }

  /// What stands at the place is a string: no header begins behind it.
  void take_string() { at_start_ = false; }

 private:
  void add_dot() {
    if (in_header_) {
      ++header_;
    } else {
      ++dots_;
      ++dots_of_.back();
    }
  }

  void open() {
    if (at_start_ && brackets_ == 0) {
      in_header_ = true;
      header_ = 0;
    } else if (!in_header_) {
      ++brackets_;
      dots_of_.push_back(0);
    }
  }

  void close() {
    if (!in_header_ && brackets_ > 0) {
      end_item();
      --brackets_;
      dots_of_.pop_back();
    }
  }

  void end_item() {
    dots_ -= dots_of_.back();
    dots_of_.back() = 0;
  }

  void end_line() {
    if (brackets_ == 0) {
      end_item();
      in_header_ = false;
      at_start_ = true;
    }
  }

  std::size_t header_ = 0;                  // dots of the section's name
  std::size_t brackets_ = 0;                // open ones, of values
  std::size_t dots_ = 0;                    // of the keys that are open, all brackets
  std::vector<std::size_t> dots_of_ = {0};  // the same, bracket by bracket
  bool in_header_ = false;
  bool at_start_ = true;  // of a line, spaces left out
};

/// Return the place after what begins at `begin`: a string, a comment, or one character.
std::size_t end_of_token(std::string_view text, std::size_t begin) {
  if (text[begin] == '"' || text[begin] == '\'') {
    return end_of_string(text, begin);
  }
  return text[begin] == '#' ? std::min(text.find('\n', begin), text.size()) : begin + 1;
}

TextPlace place_at(std::string_view text, std::size_t position) {
  const std::string_view before = text.substr(0, position);
  const std::size_t begin = before.rfind('\n') + 1;  // 0 where there is none
  const auto count = [&](std::size_t from, auto counts) {
    return static_cast<std::size_t>(std::count_if(
        before.begin() + static_cast<std::ptrdiff_t>(from), before.end(), counts));
  };
  return {count(0, [](char c) { return c == '\n'; }) + 1,
          count(begin, begins_character) + 1};
}

}  // namespace

std::optional<TextPlace> stray_character(std::string_view text) {
  std::size_t i = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  while (i < text.size()) {
    if ((static_cast<unsigned char>(text[i]) & 0x80U) != 0) {
      return place_at(text, i);
    }
    i = end_of_token(text, i);
  }
  return std::nullopt;
}

std::optional<std::size_t> line_nested_deeper(std::string_view text, std::size_t most) {
  Nesting nesting;
  for (std::size_t i = 0; i < text.size(); i = end_of_token(text, i)) {
    if (text[i] == '"' || text[i] == '\'') {
      nesting.take_string();
    } else if (text[i] != '#') {
      nesting.take(text[i]);
    }
    if (nesting.depth() > most) {
      return place_at(text, i).line;
    }
  }
  return std::nullopt;
}

}  // namespace crossbow
