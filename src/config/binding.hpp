#pragma once
// A key of the deck tied to the option that it sets. Reading a deck, writing the
// effective deck and printing the reference of keys all go through the same table of
// bindings.

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "io/input_deck.hpp"

namespace crossbow {

/// `Target` is RunConfig, or LayerOptions for the keys of [[model.layer]].
template <class Target>
struct Binding {
  KeySpec spec;
  std::function<void(const DeckValue&, Target&)> read;
  std::function<std::string(const Target&)>
      show;  // as TOML; empty where no value was given
  std::function<bool(const Target&)> applies = {};  // none: always
  std::string condition = {};   // `applies` in words: "with policy = "multistep""
  std::string decided_by = {};  // the key of the same section that `applies` looks at
};

inline void assign(const DeckValue& value, bool& target) {
  target = std::get<bool>(value);
}

/// Range checks have made sure that the number fits.
template <std::integral T>
void assign(const DeckValue& value, T& target) {
  target = static_cast<T>(std::get<std::int64_t>(value));
}

inline void assign(const DeckValue& value, double& target) {
  target = std::get<double>(value);
}

inline void assign(const DeckValue& value, std::string& target) {
  target = std::get<std::string>(value);
}

inline void assign(const DeckValue& value, std::optional<double>& target) {
  target = std::get<double>(value);
}

inline void assign(const DeckValue& value, std::vector<int>& target) {
  const auto& list = std::get<std::vector<std::int64_t>>(value);
  target.assign(list.begin(), list.end());
}

template <class T>
void assign(const DeckValue& value, std::vector<T>& target) {
  target = std::get<std::vector<T>>(value);
}

template <class T>
std::string show(const T& value) {
  return toml_text(value);
}

inline std::string show(const std::optional<double>& value) {
  return value ? toml_text(*value) : "";
}

/// Tie a key to the member that `access` returns a reference to.
template <class Target, class Access>
Binding<Target> bind_key(KeySpec spec, Access access) {
  return {
      std::move(spec),
      [access](const DeckValue& value, Target& target) { assign(value, access(target)); },
      [access](const Target& target) { return show(access(target)); }};
}

template <class Enum>
using EnumNames = std::vector<std::pair<std::string, Enum>>;

/// Tie a key to an enumeration by names; `spec.words` become these names.
template <class Target, class Enum, class Access>
Binding<Target> bind_names(KeySpec spec, const EnumNames<Enum>& names, Access access) {
  for (const auto& [name, value] : names) {
    spec.words.push_back(name);
  }
  const auto read = [names, access](const DeckValue& word, Target& target) {
    for (const auto& [name, value] : names) {
      if (name == std::get<std::string>(word)) {
        access(target) = value;
      }
    }
  };
  const auto show = [names, access](const Target& target) {
    for (const auto& [name, value] : names) {
      if (value == access(target)) {
        return toml_text(name);
      }
    }
    return std::string();
  };
  return {std::move(spec), read, show};
}

/// Tie a key that is a number or a word, where `T{special}` stands for the word.
template <class Target, class Access, class T>
Binding<Target> bind_or_word(KeySpec spec,
                             const std::string& word,
                             T special,
                             Access access) {
  spec.words = {word};
  return {std::move(spec),
          [=](const DeckValue& value, Target& target) {
            if (std::holds_alternative<std::string>(value)) {
              access(target) = special;
            } else {
              assign(value, access(target));
            }
          },
          [=](const Target& target) {
            return access(target) == special ? toml_text(word) : show(access(target));
          }};
}

inline KeyRange at_least(double low) {
  return {low, {}};
}
inline KeyRange above(double low) {
  return {low, {}, true};
}
inline KeyRange from_to(double low, double high) {
  return {low, high};
}
inline KeyRange above_to(double low, double high) {
  return {low, high, true};
}
inline KeyRange from_to_below(double low, double high) {
  return {low, high, false, true};
}

}  // namespace crossbow
