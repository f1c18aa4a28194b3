#include "base/error.hpp"

#include <string>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

TEST(Error, SentenceHasWhatIsGiven) {
  EXPECT_EQ(to_sentence({"it fails", "why", "a.h5", "Do this"}),
            "it fails (why, a.h5). Do this");
  EXPECT_EQ(to_sentence({"it fails", "", "a.h5", ""}), "it fails (a.h5)");
  EXPECT_EQ(to_sentence({"it fails", "why", "", ""}), "it fails (why)");
  EXPECT_EQ(to_sentence({"it fails", "", "", "Do this"}), "it fails. Do this");
}

// What a terminal would obey, cut or choke on comes from files and decks.
TEST(Error, MessageIsOneLineOfTextWhateverItQuotes) {
  EXPECT_EQ(printable("tab\there"), "tab\\x09here");
  EXPECT_EQ(printable("two\nlines"), "two\\x0alines");
  EXPECT_EQ(printable("two\nlines", true), "two\nlines");
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // a control character of two bytes
  const Error error(ExitCode::data, ErrorText{std::string("a\0b\n", 4), "", "", ""});
  EXPECT_STREQ(error.what(), "a\\x00b\\x0a");
}

// Examples of the Unicode Standard 15, table 3-7, and of what it forbids.
TEST(Error, MessageIsUtf8) {
  for (const std::string good :
       {"Gr\xc3\xbc\xc3\x9f", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x98\x80"}) {
    EXPECT_EQ(printable(good), good);
  }
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");           // cut
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");  // overlong
  EXPECT_EQ(printable("\xe0\x80\xaf"), "\\xe0\\x80\\xaf");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(printable("\xe2\x82"
                      "A"),
            "\\xe2\\x82"
            "A");
}

TEST(Error, EndlessPartsAreCut) {
  const std::string text =
      to_sentence({std::string(999990, 'x') + "/some/file", "why", "", ""});
  EXPECT_LT(text.size(), 600U);
  EXPECT_NE(text.find("xxx ... (1000000 bytes) ... xxx"), std::string::npos) << text;
  EXPECT_NE(text.find("xxx/some/file (why)"), std::string::npos) << text;
  std::string umlauts = "x";
  for (int i = 0; i < 1000; ++i) {
    umlauts += "\xc3\xbc";
  }
  EXPECT_EQ(to_sentence({umlauts, "", "", ""}).find("\\x"), std::string::npos);
}

}  // namespace
}  // namespace crossbow
