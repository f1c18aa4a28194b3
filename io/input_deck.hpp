#pragma once
// An input deck: a TOML file and the "section.key=value" of the command line, checked
// against a schema. It exists to find every mistake of a user at once, before anything
// runs, and to name its place. Which keys there are is not known here: a DeckSchema says
// it.
//
//   InputDeck deck = InputDeck::from_file("lenet.toml");
//   deck.set("training.batch=16");
//   deck.check(schema);
//   if (const DeckValue* batch = deck.table("training").find("batch")) { ... }
//   deck.throw_complaints();

#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

#include "io/key_spec.hpp"

namespace crossbow {

/// Where something stands: a line of the deck, or an override as a whole (line 0).
struct DeckPlace {
  std::string source;  // the deck's path, or `command line, "training.batch=0"`
  std::size_t line = 0;
  std::size_t column = 0;

  /// Write "file:line:column", or the source alone without a line.
  std::string text() const;
};

/// The checked values of one table of a deck.
class DeckTable {
 public:
  struct Entry {
    DeckValue value;
    DeckPlace place;
  };

  explicit DeckTable(DeckPlace place = {}) : place_(std::move(place)) {}

  /// Find a value; null where the deck does not give it, or gives a bad one.
  const DeckValue* find(std::string_view key) const;
  /// Whether the deck gives a bad value, so that what follows from it is better not
  /// complained of.
  bool failed(std::string_view key) const { return failed_.contains(key); }
  /// Return the place of a key's value, or of the table where the key is not given.
  const DeckPlace& place(std::string_view key) const;
  const DeckPlace& place() const { return place_; }

  void insert(std::string_view key, Entry entry) {
    entries_.insert_or_assign(std::string(key), std::move(entry));
  }
  void fail(std::string_view key) { failed_.emplace(key); }

 private:
  DeckPlace place_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::set<std::string, std::less<>> failed_;
};

class InputDeck {
 public:
  /// Read a file; throw Error(usage) where it cannot be read, is empty, no text or no
  /// TOML.
  static InputDeck from_file(const std::string& path);
  /// Take a text; `name` stands for the file in messages. Throw Error(usage) where it is
  /// no TOML.
  static InputDeck from_text(std::string_view text, const std::string& name);

  InputDeck(const InputDeck&) = delete;
  InputDeck& operator=(const InputDeck&) = delete;
  InputDeck(InputDeck&&) noexcept;
  InputDeck& operator=(InputDeck&&) noexcept;
  ~InputDeck();

  /// Set one value, "section.key=value", instead of the deck's. A value that is no TOML
  /// is a string. A mistake in the form becomes a complaint.
  void set(std::string_view assignment);

  /// Compare all with `schema`: a complaint for every unknown key and section, wrong
  /// type, value out of range and required key that is missing; the good values can be
  /// found afterwards.
  void check(const DeckSchema& schema);

  /// Return the table of a section; one without values where the deck has none.
  const DeckTable& table(std::string_view section) const;
  /// Return the tables [[section]] in the deck's order.
  const std::vector<DeckTable>& tables(std::string_view section) const;

  /// Add a complaint; its `where` is the text of `place`.
  void complain(const DeckPlace& place, ErrorText complaint);
  /// Throw Error(usage) with all complaints, a line each in the deck's order, if there
  /// are any.
  void throw_complaints() const;

 private:
  struct Impl;
  explicit InputDeck(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace crossbow
