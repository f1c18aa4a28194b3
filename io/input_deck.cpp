#include "io/input_deck.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <tuple>

#include <toml++/toml.h>

#include "io/deck_checker.hpp"
#include "io/deck_scan.hpp"

namespace crossbow {

namespace {

// Far above any deck; a data set given by mistake must not fill the memory.
constexpr std::size_t largest_deck = std::size_t{16} << 20;  // [bytes]

[[noreturn]] void refuse_deck(const std::string& what, const std::string& why) {
  throw Error(ExitCode::usage, ErrorText{what, why, {}, "Give the path of a TOML file"});
}

std::string read_text_file(const std::string& path) {
  const std::string what = "cannot read the deck " + path;
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) {
    refuse_deck(what, "it is a directory");
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    refuse_deck(what, "it is not a file");  // a named pipe would be waited for, for ever
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    refuse_deck(what, errno == 0 ? "it cannot be opened" : std::strerror(errno));
  }
  std::string text(largest_deck + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) {
    refuse_deck(what, "reading it failed");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > largest_deck) {
    refuse_deck(what, "it is larger than 16 MiB");
  }
  return text;
}

/// Refuse what toml++ would call a mistake in a line although the file is no deck at all.
void check_is_text(const std::string& text, const std::string& path) {
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos) {
    refuse_deck(path + " is no deck but a binary file",
                "byte " + std::to_string(zero) + " is 0");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    refuse_deck("the deck " + path + " is empty", std::to_string(text.size()) + " bytes");
  }
}

/// What is nested too deep for the parser is refused before it sees it.
void check_nesting(std::string_view text, const std::string& name) {
  if (const auto line = line_nested_deeper(text, deepest_deck)) {
    throw Error(
        ExitCode::usage,
        ErrorText{"the deck is nested deeper than " + std::to_string(deepest_deck),
                  "tables and lists within one another",
                  DeckPlace{name, *line, 1}.text(),
                  "Write its sections and keys side by side"});
  }
}

void check_characters(std::string_view text, const std::string& name) {
  if (const auto place = stray_character(text)) {
    throw Error(ExitCode::usage,
                ErrorText{"the deck is not valid TOML",
                          "a character that is not ASCII stands outside quotes",
                          DeckPlace{name, place->line, place->column}.text(),
                          "Put it in quotes or take it out"});
  }
}

toml::table parse(std::string_view text, const std::string& name) {
  check_nesting(text, name);
  check_characters(text, name);
  try {
    return toml::parse(text, std::string_view(name));
  } catch (const toml::parse_error& error) {
    std::string why(error.description());
    const bool unquoted = why.find("could not determine value type") != std::string::npos;
    const DeckPlace place{name, error.source().begin.line, error.source().begin.column};
    throw Error(ExitCode::usage,
                ErrorText{"the deck is not valid TOML",
                          why,
                          place.text(),
                          unquoted ? "Write strings in quotes" : "Correct this line"});
  }
}

/// Parse `text` as one value whose place is `source`; none where it is no TOML.
std::optional<toml::table> try_parse_value(const std::string& text,
                                           const std::string& source) {
  const std::string assignment = "v = " + text;
  if (line_nested_deeper(assignment, deepest_deck) || stray_character(assignment)) {
    return std::nullopt;
  }
  try {
    toml::table parsed = toml::parse(assignment, source);
    if (parsed.size() == 1) {  // else a line break in the text has brought in more keys
      return parsed;
    }
  } catch (const toml::parse_error&) {
    // Not an error: "sma" without quotes is what a shell leaves of a string.
  }
  return std::nullopt;
}

/// Parse `text` as a value, else as a string; none where it is not even text.
std::optional<toml::table> parse_value(std::string_view text, const std::string& source) {
  std::optional<toml::table> parsed = try_parse_value(std::string(text), source);
  return parsed ? std::move(parsed) : try_parse_value(toml_text(text), source);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Cut "a.b.c" into its keys; none where one of them is not a key without quotes.
std::vector<std::string> split_keys(std::string_view path) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  };
  std::vector<std::string> keys(1);
  for (const char c : path) {
    if (c == '.') {
      keys.emplace_back();
    } else if (is_plain(static_cast<unsigned char>(c))) {
      keys.back() += c;
    } else {
      return {};
    }
  }
  const bool complete = std::none_of(
      keys.begin(), keys.end(), [](const std::string& key) { return key.empty(); });
  return complete && keys.size() > 1 ? keys : std::vector<std::string>{};
}

/// Put the only value of `parsed` into `table` as `key`.
void put(toml::table& table, const toml::key& key, toml::table parsed) {
  parsed.get("v")->visit(
      [&](auto& value) { table.insert_or_assign(key, std::move(value)); });
}

}  // namespace

std::string DeckPlace::text() const {
  if (line == 0) {
    return source;
  }
  return source + ":" + std::to_string(line) + ":" + std::to_string(column);
}

const DeckValue* DeckTable::find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second.value;
}

const DeckPlace& DeckTable::place(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? place_ : found->second.place;
}

struct InputDeck::Impl {
  std::string name;
  toml::table root;
  CheckedDeck checked;
};

InputDeck::InputDeck(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InputDeck::InputDeck(InputDeck&&) noexcept = default;
InputDeck& InputDeck::operator=(InputDeck&&) noexcept = default;
InputDeck::~InputDeck() = default;

InputDeck InputDeck::from_file(const std::string& path) {
  const std::string text = read_text_file(path);
  check_is_text(text, path);
  return from_text(text, path);
}

InputDeck InputDeck::from_text(std::string_view text, const std::string& name) {
  auto impl = std::make_unique<Impl>();
  impl->name = name;
  impl->root = parse(text, name);
  return InputDeck(std::move(impl));
}

void InputDeck::set(std::string_view assignment) {
  const std::string source = std::string(command_line_source) + toml_text(assignment);
  const std::size_t equals = std::min(assignment.find('='), assignment.size());
  const std::vector<std::string> keys = split_keys(trimmed(assignment.substr(0, equals)));
  const bool is_assignment =
      equals < assignment.size() && !keys.empty() && keys.size() <= deepest_deck;
  std::optional<toml::table> value =
      is_assignment ? parse_value(assignment.substr(equals + 1), source) : std::nullopt;
  if (!value) {
    complain(
        {source},
        {"cannot read an override",
         is_assignment ? "its value is not UTF-8" : "its form is not section.key=value",
         {},
         "Correct it"});
    return;
  }
  toml::table* table = &impl_->root;
  const auto path = std::make_shared<const std::string>(source);
  const auto located = [&](const std::string& key) {
    return toml::key(key, toml::source_region{{}, {}, path});
  };
  for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
    if (const toml::node* next = table->get(keys[i]);
        next == nullptr || !next->is_table()) {
      put(*table,
          located(keys[i]),
          *parse_value("{}", source));  // a table that knows its place
    }
    table = table->get(keys[i])->as_table();
  }
  put(*table, located(keys.back()), *std::move(value));
}

void InputDeck::check(const DeckSchema& schema) {
  DeckChecker(schema, impl_->checked).check(impl_->root, {impl_->name});
}

const DeckTable& InputDeck::table(std::string_view section) const {
  static const DeckTable none;
  const auto found = impl_->checked.tables.find(section);
  return found == impl_->checked.tables.end() ? none : found->second;
}

const std::vector<DeckTable>& InputDeck::tables(std::string_view section) const {
  static const std::vector<DeckTable> none;
  const auto found = impl_->checked.lists.find(section);
  return found == impl_->checked.lists.end() ? none : found->second;
}

void InputDeck::complain(const DeckPlace& place, ErrorText complaint) {
  impl_->checked.complain(place, std::move(complaint));
}

void InputDeck::throw_complaints() const {
  auto complaints = impl_->checked.complaints;
  // The deck's lines from the top; then what has no line: overrides and what is missing.
  const auto order = [](const CheckedDeck::Complaint& c) {
    return std::tuple(c.place.line == 0, c.place.line, c.place.column);
  };
  std::stable_sort(complaints.begin(),
                   complaints.end(),
                   [&](const auto& a, const auto& b) { return order(a) < order(b); });
  std::string message;
  for (const CheckedDeck::Complaint& complaint : complaints) {
    message += (message.empty() ? "" : "\n") + complaint.sentence;
  }
  if (impl_->checked.is_full()) {
    message += "\nThere may be more: these are the first " +
               std::to_string(CheckedDeck::most_complaints) + " found.";
  }
  if (!message.empty()) {
    throw Error(ExitCode::usage, message);
  }
}

}  // namespace crossbow
