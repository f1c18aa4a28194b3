#include "io/input_deck.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

namespace crossbow {
namespace {

/// A small world of keys: none of them is one of Crossbow's.
DeckSchema garden() {
  const std::string bed = "garden.bed";
  TableListSpec beds{
      bed,
      "plant",
      {{.section = bed, .key = "plant", .words = {"rose", "bean"}, .required = true},
       {.section = bed, .key = "rows", .type = KeyType::integer, .range = {1, 9}},
       {.section = bed, .key = "colour", .required = true, .kinds = {"rose"}},
       {.section = bed,
        .key = "poles",
        .type = KeyType::integer,
        .range = {0, 99},
        .kinds = {"bean"}}}};
  return {{{.section = "garden",
            .key = "area",
            .type = KeyType::number,
            .range = {0, 1e4, true}},
           {.section = "garden", .key = "owner", .least_size = 1},
           {.section = "garden", .key = "open", .type = KeyType::boolean},
           {.section = "garden.water",
            .key = "litres",
            .type = KeyType::integer,
            .range = {1, 500},
            .words = {"auto"}},
           {.section = "garden.water",
            .key = "hours",
            .type = KeyType::number_list,
            .range = {0, 24}},
           {.section = "tools", .key = "kind", .words = {"spade", "rake"}},
           {.section = "tools",
            .key = "sizes",
            .type = KeyType::integer_list,
            .least_size = 2,
            .most_size = 5},
           {.section = "tools", .key = "labels", .type = KeyType::text_list}},
          {beds}};
}

InputDeck checked(const std::string& text,
                  const std::vector<std::string>& overrides = {}) {
  InputDeck deck = InputDeck::from_text(text, "g.toml");
  for (const std::string& assignment : overrides) {
    deck.set(assignment);
  }
  deck.check(garden());
  return deck;
}

template <class Action>
std::string usage_error(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

std::string complaints(const std::string& text,
                       const std::vector<std::string>& overrides = {}) {
  return usage_error([&] { checked(text, overrides).throw_complaints(); });
}

template <class T>
T value(const InputDeck& deck, const std::string& section, const std::string& key) {
  const DeckValue* found = deck.table(section).find(key);
  EXPECT_NE(found, nullptr) << section << "." << key;
  return found == nullptr ? T() : std::get<T>(*found);
}

TEST(InputDeck, FindsValuesOfEveryType) {
  const InputDeck deck = checked(R"([garden]
area = 12
owner = "Ann"
open = true
water = {litres = 20, hours = [6, 18.5]}
[[garden.bed]]
plant = "rose"
colour = "red"
[[garden.bed]]
plant = "bean"
poles = 4
[tools]
kind = "rake"
sizes = [1, -2]
labels = []
)");
  EXPECT_NO_THROW(deck.throw_complaints());
  EXPECT_EQ(value<double>(deck, "garden", "area"), 12.0);
  EXPECT_EQ(value<std::string>(deck, "garden", "owner"), "Ann");
  EXPECT_TRUE(value<bool>(deck, "garden", "open"));
  EXPECT_EQ(value<std::int64_t>(deck, "garden.water", "litres"), 20);
  EXPECT_EQ(value<std::vector<double>>(deck, "garden.water", "hours"),
            (std::vector<double>{6, 18.5}));
  EXPECT_EQ(value<std::vector<std::int64_t>>(deck, "tools", "sizes"),
            (std::vector<std::int64_t>{1, -2}));
  EXPECT_TRUE(value<std::vector<std::string>>(deck, "tools", "labels").empty());
  const std::vector<DeckTable>& beds = deck.tables("garden.bed");
  ASSERT_EQ(beds.size(), 2u);
  EXPECT_EQ(beds[0].place().text(), "g.toml:6:1");
  EXPECT_EQ(beds[1].place().text(), "g.toml:9:1");
  EXPECT_EQ(std::get<std::string>(*beds[0].find("colour")), "red");
  EXPECT_EQ(std::get<std::int64_t>(*beds[1].find("poles")), 4);
  EXPECT_EQ(beds[1].find("colour"), nullptr);
  EXPECT_EQ(beds[1].place("poles").text(), "g.toml:11:9");
}

TEST(InputDeck, WhatIsNotGivenIsNotFound) {
  const InputDeck deck = checked("[tools]\n");
  EXPECT_EQ(deck.table("tools").find("kind"), nullptr);
  EXPECT_FALSE(deck.table("tools").failed("kind"));
  EXPECT_EQ(deck.table("tools").place("kind").text(), "g.toml:1:1");
  EXPECT_EQ(deck.table("garden").place().text(), "g.toml");
  EXPECT_TRUE(deck.tables("garden.bed").empty());
}

TEST(InputDeck, WordsStandBesideNumbers) {
  const InputDeck deck = checked("[garden.water]\nlitres = \"auto\"\n");
  EXPECT_NO_THROW(deck.throw_complaints());
  EXPECT_EQ(value<std::string>(deck, "garden.water", "litres"), "auto");
}

TEST(InputDeck, NamesNearestKey) {
  EXPECT_EQ(complaints("[garden]\n  aera = 3\n"),
            "unknown key garden.aera (the keys of [garden] are area, owner, open, water "
            "and bed, "
            "g.toml:2:3). Did you mean garden.area?");
  EXPECT_EQ(complaints("[garden]\nwatr = 3\n"),
            "unknown key garden.watr (the keys of [garden] are area, owner, open, water "
            "and bed, "
            "g.toml:2:1). Did you mean garden.water?");
  EXPECT_EQ(complaints("[garden]\nzzz = 3\n"),
            "unknown key garden.zzz (the keys of [garden] are area, owner, open, water "
            "and bed, "
            "g.toml:2:1). Remove it or use one of these");
}

TEST(InputDeck, NamesKeyOfAnotherSection) {
  EXPECT_EQ(complaints("[garden]\nlitres = 3\n"),
            "unknown key garden.litres (the keys of [garden] are area, owner, open, "
            "water and bed, "
            "g.toml:2:1). Did you mean garden.water.litres?");
  EXPECT_EQ(complaints("area = 3\n"),
            "unknown key area (it stands in no section, g.toml:1:1). Did you mean "
            "garden.area?");
}

TEST(InputDeck, NamesNearestSection) {
  const std::string sections =
      "(the sections are garden, garden.water, tools and garden.bed, g.toml:1:2). ";
  EXPECT_EQ(complaints("[tool]\nkind = \"rake\"\n"),
            "unknown section [tool] " + sections + "Did you mean [tools]?");
  EXPECT_EQ(complaints("[zzzzzz]\n"),
            "unknown section [zzzzzz] " + sections + "Remove it or use one of these");
  EXPECT_EQ(
      complaints("[garden]\n[garden.watr]\n"),
      "unknown section [garden.watr] (the sections are garden, garden.water, tools and "
      "garden.bed, g.toml:2:9). Did you mean [garden.water]?");
}

TEST(InputDeck, QuotesKeysThatNeedIt) {
  EXPECT_EQ(
      complaints("[tools]\n\"a\\nb\" = 1\n"),
      "unknown key tools.\"a\\nb\" (the keys of [tools] are kind, sizes and labels, "
      "g.toml:2:1). Remove it or use one of these");
}

TEST(InputDeck, RefusesWrongTypes) {
  EXPECT_EQ(
      complaints("[garden]\narea = \"big\"\n"),
      "garden.area is the string \"big\" (wrong type, g.toml:2:8). Give a number above 0 "
      "up to 10000");
  EXPECT_EQ(
      complaints("[garden]\nowner = 7\n"),
      "garden.owner is the integer 7 (wrong type, g.toml:2:9). Give a string that is not "
      "empty");
  EXPECT_EQ(complaints("[garden]\nopen = 1\n"),
            "garden.open is the integer 1 (wrong type, g.toml:2:8). Give true or false");
  EXPECT_EQ(complaints("[garden]\nopen = 2020-01-01\n"),
            "garden.open is a date or time (wrong type, g.toml:2:8). Give true or false");
  EXPECT_EQ(complaints("[tools]\nsizes = 3\n"),
            "tools.sizes is the integer 3 (wrong type, g.toml:2:9). Give a list of 2 "
            "to 5 integers");
  EXPECT_EQ(complaints("[tools]\nkind = [1]\n"),
            "tools.kind is a list (wrong type, g.toml:2:8). Give \"spade\" or \"rake\"");
  EXPECT_EQ(complaints("[tools]\nkind = {a = 1}\n"),
            "tools.kind is a table (wrong type, g.toml:2:8). Give \"spade\" or \"rake\"");
  EXPECT_EQ(complaints("[tools]\nlabels = [\"a\", true]\n"),
            "tools.labels has true (wrong type, g.toml:2:16). Give a list of strings");
}

TEST(InputDeck, AnIntegerKeyTakesNoFraction) {
  EXPECT_EQ(
      complaints("[garden.water]\nlitres = 1.0\n"),
      "garden.water.litres is the number 1.0 (wrong type, g.toml:2:10). Give an integer "
      "from 1 to 500 or \"auto\"");
}

TEST(InputDeck, RefusesValuesOutOfRange) {
  EXPECT_EQ(
      complaints("[garden]\narea = 0\n"),
      "garden.area is the integer 0 (out of range, g.toml:2:8). Give a number above 0 up "
      "to 10000");
  EXPECT_EQ(complaints("[garden.water]\nlitres = -9223372036854775808\n"),
            "garden.water.litres is the integer -9223372036854775808 (out of range, "
            "g.toml:2:10). Give an integer from 1 to 500 or \"auto\"");
  EXPECT_EQ(
      complaints("[garden]\nowner = \"\"\n"),
      "garden.owner is the string \"\" (empty, g.toml:2:9). Give a string that is not "
      "empty");
  EXPECT_NE(
      complaints("[garden]\nowner = \"a\\u0000b\"\n")
          .find("it has a NUL character, which would end a name or path, g.toml:2:9"),
      std::string::npos);
  EXPECT_EQ(complaints("[tools]\nsizes = [1]\n"),
            "tools.sizes is a list of length 1 (too short, g.toml:2:9). Give a list of "
            "2 to 5 integers");
  EXPECT_EQ(complaints("[tools]\nsizes = [1, 2, 3, 4, 5, 6]\n"),
            "tools.sizes is a list of length 6 (too long, g.toml:2:9). Give a list of "
            "2 to 5 integers");
  EXPECT_EQ(
      complaints("[garden.water]\nhours = [1, 25, -1]\n"),
      "garden.water.hours has the integer 25 (out of range, g.toml:2:13). Give a list of "
      "numbers from 0 to 24\n"
      "garden.water.hours has the integer -1 (out of range, g.toml:2:17). Give a list of "
      "numbers from 0 to 24");
}

TEST(InputDeck, RefusesNumbersThatAreNotFinite) {
  for (const std::string number : {"nan", "inf", "-inf"}) {
    EXPECT_EQ(complaints("[garden]\narea = " + number + "\n"),
              "garden.area is the number " + number +
                  " (not finite, g.toml:2:8). Give a number above 0 up to 10000");
  }
}

TEST(InputDeck, NamesNearestWord) {
  EXPECT_EQ(complaints("[tools]\nkind = \"raek\"\n"),
            "tools.kind is the string \"raek\" (unknown, g.toml:2:8). Give \"spade\" or "
            "\"rake\"; did you mean \"rake\"?");
  EXPECT_EQ(
      complaints("[tools]\nkind = \"hammer\"\n"),
      "tools.kind is the string \"hammer\" (unknown, g.toml:2:8). Give \"spade\" or "
      "\"rake\"");
  EXPECT_EQ(
      complaints("[garden.water]\nlitres = \"aut\"\n"),
      "garden.water.litres is the string \"aut\" (unknown word, g.toml:2:10). Give an "
      "integer from 1 to 500 or \"auto\"; did you mean \"auto\"?");
}

TEST(InputDeck, ASectionIsATable) {
  EXPECT_EQ(
      complaints("garden = 3\n"),
      "garden is the integer 3 (wrong type, g.toml:1:10). It holds keys: write a table "
      "[garden]");
  EXPECT_EQ(
      complaints("[[tools]]\n"),
      "tools is a list (wrong type, g.toml:1:1). It holds keys: write a table [tools]");
  EXPECT_EQ(
      complaints("[garden.bed]\nplant = \"bean\"\n"),
      "garden.bed is a table (wrong type, g.toml:1:1). Write each of its tables below a "
      "line [[garden.bed]]");
  EXPECT_EQ(
      complaints("[garden]\nbed = []\n"),
      "garden.bed is a list (empty, g.toml:2:7). Write each of its tables below a line "
      "[[garden.bed]]");
  EXPECT_EQ(
      complaints("[garden]\nbed = [{plant = \"bean\"}, 3]\n"),
      "garden.bed is the integer 3 (wrong type, g.toml:2:26). Write each of its tables "
      "below a line [[garden.bed]]");
}

TEST(InputDeck, ATableOfAListHasTheKeysOfItsKind) {
  EXPECT_EQ(
      complaints("[[garden.bed]]\nplant = \"bean\"\ncolour = \"red\"\n"),
      "unknown key garden.bed.colour (the keys of plant = \"bean\" are plant, rows and "
      "poles, g.toml:3:1). Remove it or use one of these");
  EXPECT_EQ(
      complaints("[[garden.bed]]\nplant = \"bean\"\npolse = 3\n"),
      "unknown key garden.bed.polse (the keys of plant = \"bean\" are plant, rows and "
      "poles, g.toml:3:1). Did you mean poles?");
  EXPECT_EQ(
      complaints("[[garden.bed]]\nplant = \"rose\"\ncolour = \"red\"\nrows = 0\n"),
      "garden.bed.rows is the integer 0 (out of range, g.toml:4:8). Give an integer from "
      "1 to 9");
}

TEST(InputDeck, MissingKeysAreNamed) {
  EXPECT_EQ(
      complaints("\n[[garden.bed]]\nplant = \"rose\"\n"),
      "garden.bed.colour is missing (it has no default, g.toml:2:1). Give a string");
  // Without its kind only the kind is asked for, and keys of any kind are taken.
  EXPECT_EQ(
      complaints("[[garden.bed]]\npoles = 3\n"),
      "garden.bed.plant is missing (it has no default, g.toml:1:1). Give \"rose\" or "
      "\"bean\"");
  EXPECT_EQ(
      complaints("[[garden.bed]]\nplant = \"fern\"\npoles = 3\nsize = 1\n"),
      "garden.bed.plant is the string \"fern\" (unknown, g.toml:2:9). Give \"rose\" or "
      "\"bean\"\n"
      "unknown key garden.bed.size (the keys of [[garden.bed]] are plant, rows, colour "
      "and poles, g.toml:4:1). Remove it or use one of these");
}

TEST(InputDeck, ARequiredKeyOfASectionThatIsMissing) {
  InputDeck deck = InputDeck::from_text("", "g.toml");
  deck.check(
      {{{.section = "a", .key = "b", .type = KeyType::integer, .required = true}}, {}});
  EXPECT_TRUE(deck.table("a").failed("b"));
  EXPECT_EQ(usage_error([&] { deck.throw_complaints(); }),
            "a.b is missing (it has no default, g.toml). Give an integer");
}

TEST(InputDeck, AllComplaintsComeAtOnceInTheDecksOrder) {
  const InputDeck deck = checked(
      "[tools]\nkind = 3\n[garden]\nopen = 1\narea = 2\nx = 1\n", {"garden.owner="});
  EXPECT_EQ(
      usage_error([&] { deck.throw_complaints(); }),
      "tools.kind is the integer 3 (wrong type, g.toml:2:8). Give \"spade\" or \"rake\"\n"
      "garden.open is the integer 1 (wrong type, g.toml:4:8). Give true or false\n"
      "unknown key garden.x (the keys of [garden] are area, owner, open, water and bed, "
      "g.toml:6:1). "
      "Remove it or use one of these\n"
      "garden.owner is the string \"\" (empty, command line, \"garden.owner=\"). Give a "
      "string that is not empty");
  EXPECT_TRUE(deck.table("tools").failed("kind"));
  EXPECT_EQ(deck.table("tools").find("kind"), nullptr);
  EXPECT_EQ(value<double>(deck, "garden", "area"), 2.0);
}

TEST(InputDeck, AComplaintIsOneLineEvenForALongText) {
  // 39 letters and an e with an accent: the cut may not fall into the accented letter.
  const std::string letters(39, 'a');
  EXPECT_EQ(complaints("[tools]\nkind = \"" + letters + "\xc3\xa9 and on\"\n"),
            "tools.kind is the string \"" + letters +
                "...\" (unknown, g.toml:2:8). Give \"spade\" or \"rake\"");
  EXPECT_EQ(complaints("[tools]\nkind = \"a\\nb\"\n"),
            "tools.kind is the string \"a\\nb\" (unknown, g.toml:2:8). Give \"spade\" or "
            "\"rake\"");
}

TEST(InputDeckOverride, ReplacesAndAdds) {
  const InputDeck deck = checked("[garden]\narea = 1\nopen = false\n",
                                 {"garden.area=2.5",
                                  "garden.open = true",
                                  "garden.owner=Ann of B",
                                  "garden.water.litres=auto",
                                  "garden.water.hours=[1, 2]",
                                  "tools.kind=\"spade\"",
                                  "tools.kind=rake",
                                  "garden.bed=[{plant=\"bean\", poles=2}]"});
  EXPECT_NO_THROW(deck.throw_complaints());
  EXPECT_EQ(value<double>(deck, "garden", "area"), 2.5);
  EXPECT_TRUE(value<bool>(deck, "garden", "open"));
  EXPECT_EQ(value<std::string>(deck, "garden", "owner"), "Ann of B");
  EXPECT_EQ(value<std::string>(deck, "garden.water", "litres"), "auto");
  EXPECT_EQ(value<std::vector<double>>(deck, "garden.water", "hours"),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(value<std::string>(deck, "tools", "kind"), "rake");  // the last one counts
  ASSERT_EQ(deck.tables("garden.bed").size(), 1u);
  EXPECT_EQ(deck.table("garden").place("area").text(),
            "command line, \"garden.area=2.5\"");
}

TEST(InputDeckOverride, OfOneKeyKeepsTheOthersOfItsTable) {
  const std::string text = "[garden]\nwater = {litres = 20, hours = [1]}\n";
  const InputDeck one = checked(text, {"garden.water.litres=30"});
  EXPECT_EQ(value<std::int64_t>(one, "garden.water", "litres"), 30);
  EXPECT_NE(one.table("garden.water").find("hours"), nullptr);
  const InputDeck whole = checked(text, {"garden.water={litres=30}"});
  EXPECT_EQ(whole.table("garden.water").find("hours"), nullptr);
}

TEST(InputDeckOverride, ObeysTheRulesOfTheDeck) {
  EXPECT_EQ(complaints("", {"garden.water.litres=0"}),
            "garden.water.litres is the integer 0 (out of range, command line, "
            "\"garden.water.litres=0\"). Give an integer from 1 to 500 or \"auto\"");
  EXPECT_EQ(complaints("[garden]\narea = 1\n", {"garden.aera=0"}),
            "unknown key garden.aera (the keys of [garden] are area, owner, open, water "
            "and bed, command "
            "line, \"garden.aera=0\"). Did you mean garden.area?");
  EXPECT_EQ(complaints("", {"tool.kind=rake"}),
            "unknown section [tool] (the sections are garden, garden.water, tools and "
            "garden.bed, command line, \"tool.kind=rake\"). Did you mean [tools]?");
  EXPECT_EQ(
      complaints("[garden]\narea = 1\n", {"garden.area.x=0"}),
      "garden.area is a table (wrong type, command line, \"garden.area.x=0\"). Give a "
      "number above 0 up to 10000");
  EXPECT_EQ(
      complaints("", {"garden.water.litres=99999999999999999999"}),
      "garden.water.litres is the string \"99999999999999999999\" (unknown word, command "
      "line, \"garden.water.litres=99999999999999999999\"). Give an integer from 1 to "
      "500 "
      "or \"auto\"");
}

TEST(InputDeckOverride, RefusesOtherForms) {
  for (const std::string text :
       {"garden", "area=3", "=3", "garden.=3", ".area=3", "a b.c=3", ""}) {
    EXPECT_EQ(
        complaints("", {text}),
        "cannot read an override (its form is not section.key=value, command line, \"" +
            text + "\"). Correct it");
  }
  EXPECT_EQ(complaints("", {"garden.owner=\xff"}),
            "cannot read an override (its value is not UTF-8, command line, "
            "\"garden.owner=\\xff\"). Correct it");
}

TEST(InputDeckOverride, CannotBringInMoreThanOneKey) {
  const InputDeck deck = checked("", {"garden.owner=1\nopen = true"});
  EXPECT_EQ(value<std::string>(deck, "garden", "owner"), "1\nopen = true");
  EXPECT_EQ(deck.table("garden").find("open"), nullptr);
}

}  // namespace
}  // namespace crossbow
