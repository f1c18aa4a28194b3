#pragma once
// What the keys of an input deck may hold, as data. A reader of decks gives the
// specifications (only src/config knows the names of keys); io checks decks against them
// and words complaints, and the reference of keys is printed from the same values, so
// that the three cannot differ.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crossbow {

enum class KeyType {
  boolean,
  integer,
  number,  // an integer is taken, too
  text,
  integer_list,
  number_list,
  text_list,
};

/// Limits of a number, or of each item of a list; none: no limit on that side.
struct KeyRange {
  std::optional<double> low;
  std::optional<double> high;
  bool above_low = false;   // low itself is not allowed
  bool below_high = false;  // high itself is not allowed
};

/// One key of a deck.
struct KeySpec {
  std::string section = {};  // "training", "optimizer.schedule"
  std::string key = {};
  KeyType type = KeyType::text;
  KeyRange range = {};
  std::vector<std::string> words =
      {};                      // text: the only ones; else taken besides the type
  std::size_t least_size = 0;  // of a list [items] or a text [bytes]
  std::size_t most_size = 0;   // of a list [items]; 0: no limit
  bool required = false;
  std::vector<std::string> kinds =
      {};  // in a list of tables: those with the key; empty: all
  std::string unit = {};
  std::string default_text =
      {};  // for the reference, where no value stands for the default
  std::string help = {};
};

/// Tables [[section]] whose key `selector` says which other keys a table has.
struct TableListSpec {
  std::string section;
  std::string selector;
  std::vector<KeySpec> keys;
  std::size_t most_size = 0;  // [tables]; 0: no limit
};

/// All that a deck may contain.
struct DeckSchema {
  std::vector<KeySpec> keys;
  std::vector<TableListSpec> lists;
};

/// A checked value; a number is a double even where the deck has an integer. A key with
/// words holds a string where a word is given.
using DeckValue = std::variant<bool,
                               std::int64_t,
                               double,
                               std::string,
                               std::vector<std::int64_t>,
                               std::vector<double>,
                               std::vector<std::string>>;

/// Say what `spec` takes: "an integer from 1 to 65536", "a number above 0 or "auto"".
std::string allowed_text(const KeySpec& spec);

/// Say what a value within `range` is: "from 1 to 65536"; empty without limits.
std::string range_text(const KeyRange& range);

/// Whether `value` lies in `range`; never for NaN.
bool is_inside(const KeyRange& range, double value);

/// Return the candidate that `word` was most likely meant to be, empty where none is
/// near. A swap of neighbours is one edit; of equally near candidates the first is taken.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// Count the insertions, removals, replacements and swaps of neighbours from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Join with `separator`, and with `last` before the last word.
std::string join(const std::vector<std::string>& words,
                 std::string_view separator,
                 std::string_view last);

/// Write a value as TOML; a double is the shortest text that reads back as the same
/// value, and never looks like an integer.
std::string toml_text(double value);
std::string toml_text(std::string_view value);

template <std::integral T>
std::string toml_text(T value) {
  if constexpr (std::same_as<T, bool>) {
    return value ? "true" : "false";
  } else {
    return std::to_string(value);
  }
}

/// Write a list as TOML.
template <class T>
std::string toml_text(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) {
    text += (text.size() > 1 ? ", " : "") + toml_text(value);
  }
  return text + "]";
}

}  // namespace crossbow
