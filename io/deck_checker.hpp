#pragma once
// The check of a parsed deck against a schema; a part of input_deck.cpp on its own, so
// that toml++ is seen by two files only.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <toml++/toml.h>

#include "io/input_deck.hpp"

namespace crossbow {

/// What a check leaves.
struct CheckedDeck {
  struct Complaint {
    DeckPlace place;
    std::string sentence;
  };

  std::map<std::string, DeckTable, std::less<>> tables;
  std::map<std::string, std::vector<DeckTable>, std::less<>> lists;
  std::vector<Complaint> complaints;
  /// More would help nobody: what is no deck must not cost a page for each of its words.
  static constexpr std::size_t most_complaints = 1000;

  bool is_full() const { return complaints.size() >= most_complaints; }
  /// Add a complaint about `place`, unless there are enough.
  void complain(const DeckPlace& place, ErrorText complaint);
};

/// How the places of overrides begin: toml++ keeps one source for each value, and these
/// have no lines that a user could look up.
inline constexpr std::string_view command_line_source = "command line, ";

/// Return the place of a value or key that toml++ has parsed.
DeckPlace place_of(const toml::source_region& source);

/// Compares a deck with a schema, once.
class DeckChecker {
 public:
  DeckChecker(const DeckSchema& schema, CheckedDeck& checked)
      : schema_(schema), checked_(checked) {}

  /// Check all of `root`; `deck` is the place of what is missing.
  void check(const toml::table& root, const DeckPlace& deck);

 private:
  /// A key as the deck has it.
  struct Item {
    const toml::key& key;
    const toml::node& node;
    std::string name;  // with its section, for messages
  };

  void check_section(const toml::table& table, const std::string& section);
  void check_list(const Item& item, const TableListSpec& list);
  DeckTable check_list_table(const toml::table& table, const TableListSpec& list);
  void check_key(const Item& item, const KeySpec& spec, DeckTable& into);
  void check_required(const KeySpec& spec, DeckTable& table);
  void complain_unknown(const Item& item, const std::string& section);
  void complain_unknown_section(const Item& item);
  void complain_list_key(const Item& item,
                         const TableListSpec& list,
                         const std::string& kind);

  std::optional<DeckValue> read(const Item& item, const KeySpec& spec);
  template <class T>
  std::optional<DeckValue> read_list(const Item& item, const KeySpec& spec, KeyType type);

  const KeySpec* find_key(std::string_view section, std::string_view key) const;
  const TableListSpec* find_list(std::string_view section) const;
  std::vector<std::string> section_names() const;
  std::vector<std::string> keys_of(const std::string& section) const;
  std::string nearest_key(std::string_view key, const std::string& section) const;

  const DeckSchema& schema_;
  CheckedDeck& checked_;
};

}  // namespace crossbow
