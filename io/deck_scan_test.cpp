#include "io/deck_scan.hpp"

#include <string>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

/// The smallest limit that `text` keeps.
std::size_t depth_of(const std::string& text) {
  std::size_t most = 0;
  while (line_nested_deeper(text, most)) {
    ++most;
  }
  return most;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

TEST(DeckNesting, CountsDotsOfKeysAndOpenBrackets) {
  EXPECT_EQ(depth_of(""), 0U);
  EXPECT_EQ(depth_of("a = 1\n"), 0U);
  EXPECT_EQ(depth_of("a.b.c = 1\nd.e = 1\n"), 2U);
  EXPECT_EQ(depth_of("[a.b.c]\n"), 2U);
  EXPECT_EQ(depth_of("[[a.b.c]]\nd.e = 1\n[f]\n"), 3U);
  EXPECT_EQ(depth_of("a = [[1], [2, [3]]]\n"), 3U);
  EXPECT_EQ(depth_of("a = {b.c = {d.e = 1}, f = 2}\n"), 4U);
  EXPECT_EQ(depth_of("a = [\n[1],\n[2],\n]\nb = [\n[1],\n]\n"), 2U);
}

TEST(DeckNesting, WhatStandsSideBySideAddsNothing) {
  EXPECT_EQ(depth_of(repeated("a.b = 1\n", 50)), 1U);
  EXPECT_EQ(depth_of(repeated("[a.b]\n", 50)), 1U);
  EXPECT_EQ(depth_of("a = [" + repeated("{b.c = 1}, ", 50) + "]\n"), 3U);
  EXPECT_EQ(depth_of("a = {" + repeated("b.c = 1, ", 50) + "}\n"), 2U);
  EXPECT_EQ(depth_of("a = [" + repeated("[1.5, 2.5], ", 50) + "]\n"), 3U);
}

TEST(DeckNesting, StringsAndCommentsAreNotLookedInto) {
  const std::string dots = repeated(".[{", 50);
  EXPECT_EQ(depth_of("a = \"" + dots + "\\\"" + dots + "\"\n"), 0U);
  EXPECT_EQ(depth_of("a = '" + dots + "\\'\nb.c = 1\n"), 1U);
  EXPECT_EQ(depth_of("\"a" + dots + "\".b = 1 # " + dots + "\n"), 1U);
  EXPECT_EQ(depth_of("a = \"\"\"" + dots + "\n\"" + dots + "\"\"\"\"\"\nb.c.d = 1"), 2U);
  EXPECT_EQ(depth_of("a = '''" + dots + "\n''" + dots + "''''\nb.c.d = 1"), 2U);
  EXPECT_EQ(depth_of("a = \"\"\nb = ''\nc.d = \"\"\"\"\"\"\n"), 1U);
}

TEST(DeckNesting, SaysTheLine) {
  EXPECT_EQ(line_nested_deeper("a = 1\n\"b\" = '''\n\n'''\nc.d.e = 1\n", 1), 5U);
  EXPECT_EQ(line_nested_deeper("a.b.c = 1", 2), std::nullopt);
}

std::string stray(const std::string& text) {
  const std::optional<TextPlace> place = stray_character(text);
  return place ? std::to_string(place->line) + ":" + std::to_string(place->column) : "";
}

TEST(StrayCharacter, IsFoundOutsideQuotesAndComments) {
  EXPECT_EQ(stray("a = \"\xC3\xA9\" # \xC3\xA9\n'\xC3\xA9' = 1\n"), "");
  EXPECT_EQ(stray("\xEF\xBB\xBF"
                  "a = 1"),
            "");  // a byte order mark
  EXPECT_EQ(stray("a = 1\n\"\xC3\xA9\" = \xC2\xA0"
                  "1\n"),
            "2:7");
  EXPECT_EQ(stray("[[model\xD2\x8A"
                  "ayer]]"),
            "1:8");
}

TEST(DeckNesting, CutTextsEnd) {
  for (const std::string text :
       {"\"", "'", "\"\\", "\"\"\"", "'''a''", "#", "[", "a = {", "]}"}) {
    EXPECT_LE(depth_of(text), 1U) << text;
  }
}

}  // namespace
}  // namespace crossbow
