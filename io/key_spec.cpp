#include "io/key_spec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>

namespace crossbow {

namespace {

/// "1000000" and "0.1", never "1e+06": limits are read by people.
std::string plain(double value) {
  char buffer[64];
  const bool whole = std::abs(value) < 1e15 && value == std::floor(value);
  const auto end =
      whole ? std::to_chars(buffer, buffer + sizeof buffer, std::int64_t(value))
            : std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, end.ptr};
}

std::string item_text(const KeySpec& spec, std::string_view noun) {
  const std::string range = range_text(spec.range);
  return std::string(noun) + (range.empty() ? "" : " " + range);
}

/// "a list of ", with how many items there may be.
std::string list_text(const KeySpec& spec) {
  const std::string least = std::to_string(spec.least_size);
  const std::string most = std::to_string(spec.most_size);
  if (spec.most_size > 0) {
    return spec.least_size == 0 ? "a list of at most " + most + " "
                                : "a list of " + least + " to " + most + " ";
  }
  return spec.least_size == 0   ? "a list of "
         : spec.least_size == 1 ? "a list of one or more "
                                : "a list of at least " + least + " ";
}

std::string quoted_words(const KeySpec& spec) {
  std::vector<std::string> quoted;
  for (const std::string& word : spec.words) {
    quoted.push_back(toml_text(word));
  }
  return join(quoted, ", ", " or ");
}

/// Edits from `word` to `candidate`, where containing one another counts as near
/// ("batch_size" and "batch"); nothing where they are too far apart to be a slip.
std::optional<std::size_t> nearness(std::string_view word, std::string_view candidate) {
  constexpr std::size_t longest = 100;  // the work grows with the product of both lengths
  if (word.size() > longest || candidate.size() > longest) {
    return std::nullopt;
  }
  const std::size_t distance = edit_distance(word, candidate);
  if (distance <= std::max<std::size_t>(1, (word.size() + 1) / 3)) {
    return distance;
  }
  const std::string_view shorter = word.size() < candidate.size() ? word : candidate;
  const std::string_view longer = word.size() < candidate.size() ? candidate : word;
  if (shorter.size() >= 3 && longer.find(shorter) != std::string_view::npos) {
    return distance;
  }
  return std::nullopt;
}

}  // namespace

std::string join(const std::vector<std::string>& words,
                 std::string_view separator,
                 std::string_view last) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) {
      text += i + 1 == words.size() ? last : separator;
    }
    text += words[i];
  }
  return text;
}

std::string range_text(const KeyRange& range) {
  std::string text;
  if (range.low) {
    text = (range.above_low ? "above " : "from ") + plain(*range.low);
  }
  if (range.high) {
    const std::string to = range.below_high ? "below " : "up to ";
    const bool from = range.low && !range.above_low;
    text += text.empty()               ? to
            : from && range.below_high ? " to below "
            : from                     ? " to "
                                       : " " + to;
    text += plain(*range.high);
  } else if (range.low && !range.above_low) {
    text += " upwards";
  }
  return text;
}

std::string allowed_text(const KeySpec& spec) {
  std::string words = quoted_words(spec);
  const std::string list = list_text(spec);
  const std::string or_words = words.empty() ? "" : " or " + words;
  switch (spec.type) {
    case KeyType::boolean:
      return "true or false" + or_words;
    case KeyType::integer:
      return item_text(spec, "an integer") + or_words;
    case KeyType::number:
      return item_text(spec, "a number") + or_words;
    case KeyType::integer_list:
      return list + item_text(spec, "integers") + or_words;
    case KeyType::number_list:
      return list + item_text(spec, "numbers") + or_words;
    case KeyType::text_list:
      return list + "strings" + or_words;
    case KeyType::text:
      break;
  }
  if (!words.empty()) {
    return words;
  }
  return spec.least_size > 0 ? "a string that is not empty" : "a string";
}

bool is_inside(const KeyRange& range, double value) {
  const bool above =
      !range.low || (range.above_low ? value > *range.low : value >= *range.low);
  const bool below =
      !range.high || (range.below_high ? value < *range.high : value <= *range.high);
  return above && below && !std::isnan(value);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Row i of the table holds the distances of a's first i characters to b's first j.
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last.swap(last);
    last.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::optional<std::size_t> best_distance;
  for (const std::string& candidate : candidates) {
    const std::optional<std::size_t> distance = nearness(word, candidate);
    if (distance && (!best_distance || *distance < *best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string toml_text(double value) {
  if (!std::isfinite(value)) {
    return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".e") == std::string::npos) {
    text += ".0";
  }
  return text;
}

std::string toml_text(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04X", static_cast<unsigned>(c));
      text += escape;
    } else {
      text += c;
    }
  }
  return text + "\"";
}

}  // namespace crossbow
