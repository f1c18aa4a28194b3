#include "io/deck_checker.hpp"

#include <algorithm>
#include <cmath>

#include "base/utf8.hpp"

namespace crossbow {

namespace {

bool is_bare(std::string_view key) {
  const auto bare = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), bare);
}

/// Join section and key; a key that needs quotes in TOML has them here.
std::string full_name(const std::string& section, std::string_view key) {
  const std::string name = is_bare(key) ? std::string(key) : toml_text(key);
  return section.empty() ? name : section + "." + name;
}

bool starts_section(std::string_view section, std::string_view name) {
  return section == name || (section.size() > name.size() && section.starts_with(name) &&
                             section[name.size()] == '.');
}

bool has_kind(const KeySpec& spec, const std::string& kind) {
  return spec.kinds.empty() || kind.empty() ||
         std::find(spec.kinds.begin(), spec.kinds.end(), kind) != spec.kinds.end();
}

/// Cut a long text at a character of UTF-8, so that a complaint stays one line.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 40;
  return text.size() <= longest ? text
                                : text.substr(0, cut_at_character(text, longest)) + "...";
}

std::string description(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "the string " + toml_text(shortened(node.as_string()->get()));
    case toml::node_type::integer:
      return "the integer " + toml_text(node.as_integer()->get());
    case toml::node_type::floating_point:
      return "the number " + toml_text(node.as_floating_point()->get());
    case toml::node_type::boolean:
      return toml_text(node.as_boolean()->get());
    default:
      return "a date or time";
  }
}

struct Reading {
  std::optional<DeckValue> value;
  std::string fault;  // why there is no value
};

Reading read_number(double value, DeckValue result, const KeySpec& spec) {
  if (!std::isfinite(value)) {
    return {{}, "not finite"};
  }
  if (!is_inside(spec.range, value)) {
    return {{}, "out of range"};
  }
  return {std::move(result), {}};
}

Reading read_text(const std::string& text, const KeySpec& spec) {
  const auto& words = spec.words;
  if (std::find(words.begin(), words.end(), text) != words.end()) {
    return {DeckValue(text), {}};
  }
  if (!words.empty()) {
    return {{}, spec.type == KeyType::text ? "unknown" : "unknown word"};
  }
  if (spec.type != KeyType::text) {
    return {{}, "wrong type"};
  }
  if (text.find('\0') != std::string::npos) {
    return {{}, "it has a NUL character, which would end a name or path"};
  }
  return text.size() < spec.least_size ? Reading{{}, "empty"}
                                       : Reading{DeckValue(text), {}};
}

/// Read one value that is no list, as `type`.
Reading read_scalar(const toml::node& node, const KeySpec& spec, KeyType type) {
  if (const auto* text = node.as_string()) {
    KeySpec scalar = spec;
    scalar.type = type;
    return read_text(text->get(), scalar);
  }
  if (const auto* integer = node.as_integer()) {
    const auto number = static_cast<double>(integer->get());
    if (type == KeyType::integer) {
      return read_number(number, integer->get(), spec);
    }
    if (type == KeyType::number) {
      return read_number(number, number, spec);
    }
  }
  if (const auto* number = node.as_floating_point(); number && type == KeyType::number) {
    return read_number(number->get(), number->get(), spec);
  }
  if (const auto* boolean = node.as_boolean(); boolean && type == KeyType::boolean) {
    return {DeckValue(boolean->get()), {}};
  }
  return {{}, "wrong type"};
}

std::string suggestion(const std::string& near) {
  return near.empty() ? "Remove it or use one of these" : "Did you mean " + near + "?";
}

}  // namespace

DeckPlace place_of(const toml::source_region& source) {
  const std::string path = source.path ? *source.path : "";
  if (path.starts_with(command_line_source)) {
    return {path};
  }
  return {path, source.begin.line, source.begin.column};
}

void CheckedDeck::complain(const DeckPlace& place, ErrorText complaint) {
  if (is_full()) {
    return;
  }
  complaint.where = place.text();
  complaints.push_back({place, to_sentence(complaint)});
}

void DeckChecker::check(const toml::table& root, const DeckPlace& deck) {
  check_section(root, "");
  for (const KeySpec& spec : schema_.keys) {
    check_required(spec, checked_.tables.try_emplace(spec.section, deck).first->second);
  }
}

void DeckChecker::check_section(const toml::table& table, const std::string& section) {
  DeckTable& into =
      checked_.tables.insert_or_assign(section, DeckTable(place_of(table.source())))
          .first->second;
  const std::vector<std::string> sections = section_names();
  for (const auto& [key, node] : table) {
    if (checked_.is_full()) {
      return;
    }
    const Item item{key, node, full_name(section, key.str())};
    const bool is_section =
        std::any_of(sections.begin(), sections.end(), [&](const auto& name) {
          return starts_section(name, item.name);
        });
    if (const KeySpec* spec = find_key(section, key.str())) {
      check_key(item, *spec, into);
    } else if (const TableListSpec* list = find_list(item.name)) {
      check_list(item, *list);
    } else if (!is_section) {
      complain_unknown(item, section);
    } else if (const toml::table* child = node.as_table()) {
      check_section(*child, item.name);
    } else {
      checked_.complain(place_of(node.source()),
                        {item.name + " is " + description(node),
                         "wrong type",
                         {},
                         "It holds keys: write a table [" + item.name + "]"});
    }
  }
}

void DeckChecker::check_list(const Item& item, const TableListSpec& list) {
  std::vector<DeckTable>& tables = checked_.lists[list.section];
  const toml::array* array = item.node.as_array();
  const auto refuse = [&](const toml::node& node, const std::string& why) {
    checked_.complain(place_of(node.source()),
                      {item.name + " is " + description(node),
                       why,
                       {},
                       "Write each of its tables below a line [[" + item.name + "]]"});
  };
  if (array == nullptr || array->empty()) {
    refuse(item.node, array == nullptr ? "wrong type" : "empty");
    return;
  }
  if (list.most_size > 0 && array->size() > list.most_size) {
    checked_.complain(
        place_of(array->source()),
        {"there are " + std::to_string(array->size()) + " tables [[" + item.name + "]]",
         "at most " + std::to_string(list.most_size) + " are taken",
         {},
         "Take some out"});
    return;
  }
  for (const toml::node& node : *array) {
    if (checked_.is_full()) {
      return;
    }
    if (const toml::table* table = node.as_table()) {
      tables.push_back(check_list_table(*table, list));
    } else {
      refuse(node, "wrong type");
    }
  }
}

DeckTable DeckChecker::check_list_table(const toml::table& table,
                                        const TableListSpec& list) {
  DeckTable into(place_of(table.source()));
  const auto by_name = [&](std::string_view key) {
    return std::find_if(list.keys.begin(), list.keys.end(), [&](const KeySpec& spec) {
      return spec.key == key;
    });
  };
  if (const auto selector = table.find(list.selector); selector != table.end()) {
    const Item item{
        selector->first, selector->second, list.section + "." + list.selector};
    check_key(item, *by_name(list.selector), into);
  }
  const DeckValue* selected = into.find(list.selector);
  const std::string kind = selected == nullptr ? "" : std::get<std::string>(*selected);
  for (const auto& [key, node] : table) {
    const Item item{key, node, full_name(list.section, key.str())};
    const auto spec = by_name(key.str());
    if (spec == list.keys.end() || !has_kind(*spec, kind)) {
      complain_list_key(item, list, kind);
    } else if (spec->key != list.selector) {
      check_key(item, *spec, into);
    }
  }
  for (const KeySpec& spec : list.keys) {
    if (spec.key == list.selector || (!kind.empty() && has_kind(spec, kind))) {
      check_required(spec, into);
    }
  }
  return into;
}

void DeckChecker::check_key(const Item& item, const KeySpec& spec, DeckTable& into) {
  if (std::optional<DeckValue> value = read(item, spec)) {
    into.insert(spec.key, {*std::move(value), place_of(item.node.source())});
  } else {
    into.fail(spec.key);
  }
}

void DeckChecker::check_required(const KeySpec& spec, DeckTable& table) {
  if (spec.required && table.find(spec.key) == nullptr && !table.failed(spec.key)) {
    table.fail(spec.key);
    checked_.complain(table.place(),
                      {full_name(spec.section, spec.key) + " is missing",
                       "it has no default",
                       {},
                       "Give " + allowed_text(spec)});
  }
}

std::optional<DeckValue> DeckChecker::read(const Item& item, const KeySpec& spec) {
  if (item.node.is_array()) {
    switch (spec.type) {
      case KeyType::integer_list:
        return read_list<std::int64_t>(item, spec, KeyType::integer);
      case KeyType::number_list:
        return read_list<double>(item, spec, KeyType::number);
      case KeyType::text_list:
        return read_list<std::string>(item, spec, KeyType::text);
      default:
        break;
    }
  }
  Reading reading = read_scalar(item.node, spec, spec.type);
  if (!reading.value) {
    std::string remedy = "Give " + allowed_text(spec);
    if (const auto* text = item.node.as_string()) {
      const std::string near = nearest(text->get(), spec.words);
      remedy += near.empty() ? "" : "; did you mean " + toml_text(near) + "?";
    }
    checked_.complain(
        place_of(item.node.source()),
        {item.name + " is " + description(item.node), reading.fault, {}, remedy});
  }
  return std::move(reading.value);
}

template <class T>
std::optional<DeckValue> DeckChecker::read_list(const Item& item,
                                                const KeySpec& spec,
                                                KeyType type) {
  const toml::array& array = *item.node.as_array();
  const std::string remedy = "Give " + allowed_text(spec);
  const bool too_long = spec.most_size > 0 && array.size() > spec.most_size;
  if (array.size() < spec.least_size || too_long) {
    checked_.complain(place_of(array.source()),
                      {item.name + " is a list of length " + std::to_string(array.size()),
                       too_long ? "too long" : "too short",
                       {},
                       remedy});
    return std::nullopt;
  }
  std::vector<T> values;
  for (const toml::node& node : array) {
    Reading reading = read_scalar(node, spec, type);
    if (reading.value) {
      values.push_back(std::get<T>(*std::move(reading.value)));
    } else {
      checked_.complain(
          place_of(node.source()),
          {item.name + " has " + description(node), reading.fault, {}, remedy});
    }
  }
  return values.size() == array.size() ? std::optional<DeckValue>(std::move(values))
                                       : std::nullopt;
}

std::vector<std::string> DeckChecker::keys_of(const std::string& section) const {
  std::vector<std::string> keys;
  for (const KeySpec& spec : schema_.keys) {
    if (spec.section == section) {
      keys.push_back(spec.key);
    }
  }
  const std::string prefix = section + ".";
  for (const std::string& name : section_names()) {
    if (name.starts_with(prefix) && name.find('.', prefix.size()) == std::string::npos) {
      keys.push_back(name.substr(prefix.size()));
    }
  }
  return keys;
}

/// Look for a key that was meant by `key`: in its own section, but a key of just that
/// name elsewhere is nearer than a similar one here.
std::string DeckChecker::nearest_key(std::string_view key,
                                     const std::string& section) const {
  std::vector<std::string> everywhere;
  for (const KeySpec& spec : schema_.keys) {
    everywhere.push_back(spec.key);
  }
  const std::string here = nearest(key, keys_of(section));
  const std::string there = nearest(key, everywhere);
  if (there.empty() || (!here.empty() && there != key)) {
    return here.empty() ? here : full_name(section, here);
  }
  const auto spec = std::find_if(schema_.keys.begin(),
                                 schema_.keys.end(),
                                 [&](const auto& s) { return s.key == there; });
  return full_name(spec->section, there);
}

void DeckChecker::complain_unknown(const Item& item, const std::string& section) {
  if (item.node.is_table() || item.node.is_array_of_tables()) {
    complain_unknown_section(item);
    return;
  }
  const std::string keys = join(keys_of(section), ", ", " and ");
  checked_.complain(place_of(item.key.source()),
                    {"unknown key " + item.name,
                     section.empty() ? "it stands in no section"
                                     : "the keys of [" + section + "] are " + keys,
                     {},
                     suggestion(nearest_key(item.key.str(), section))});
}

void DeckChecker::complain_unknown_section(const Item& item) {
  const std::vector<std::string> names = section_names();
  const std::string near = nearest(item.name, names);
  checked_.complain(place_of(item.key.source()),
                    {"unknown section [" + item.name + "]",
                     "the sections are " + join(names, ", ", " and "),
                     {},
                     suggestion(near.empty() ? "" : "[" + near + "]")});
}

void DeckChecker::complain_list_key(const Item& item,
                                    const TableListSpec& list,
                                    const std::string& kind) {
  std::vector<std::string> own;
  for (const KeySpec& spec : list.keys) {
    if (has_kind(spec, kind)) {
      own.push_back(spec.key);
    }
  }
  const std::string of =
      kind.empty() ? "[[" + list.section + "]]" : list.selector + " = " + toml_text(kind);
  checked_.complain(place_of(item.key.source()),
                    {"unknown key " + item.name,
                     "the keys of " + of + " are " + join(own, ", ", " and "),
                     {},
                     suggestion(nearest(item.key.str(), own))});
}

const KeySpec* DeckChecker::find_key(std::string_view section,
                                     std::string_view key) const {
  const auto found =
      std::find_if(schema_.keys.begin(), schema_.keys.end(), [&](const KeySpec& spec) {
        return spec.section == section && spec.key == key;
      });
  return found == schema_.keys.end() ? nullptr : &*found;
}

const TableListSpec* DeckChecker::find_list(std::string_view section) const {
  const auto found = std::find_if(
      schema_.lists.begin(), schema_.lists.end(), [&](const TableListSpec& list) {
        return list.section == section;
      });
  return found == schema_.lists.end() ? nullptr : &*found;
}

std::vector<std::string> DeckChecker::section_names() const {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  };
  for (const KeySpec& spec : schema_.keys) {
    add(spec.section);
  }
  for (const TableListSpec& list : schema_.lists) {
    add(list.section);
  }
  return names;
}

}  // namespace crossbow
