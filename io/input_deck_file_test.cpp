// What InputDeck makes of files and texts that are no decks; input_deck_test.cpp has the
// rest.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/input_deck.hpp"

namespace crossbow {
namespace {

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

TEST(InputDeckSyntax, IsReportedAloneWithItsPlace) {
  const auto error = [](const std::string& text) {
    return usage_error([&] { InputDeck::from_text(text, "g.toml"); });
  };
  EXPECT_EQ(error("[garden]\nzzz = 1\narea = \n"),
            "the deck is not valid TOML (Error while parsing key-value pair: expected "
            "value, saw "
            "'\\n', g.toml:3:8). Correct this line");
  EXPECT_EQ(
      error("[garden]\narea = 1\narea = 2\n"),
      "the deck is not valid TOML (Error while parsing key-value pair: cannot redefine "
      "existing integer 'area', g.toml:3:8). Correct this line");
  EXPECT_EQ(
      error("[tools]\nkind = rake\n"),
      "the deck is not valid TOML (Error while parsing value: could not determine value "
      "type, g.toml:2:8). Write strings in quotes");
}

TEST(InputDeckComplaints, EndAfterAThousand) {
  std::string text = "[garden]\n";
  for (int i = 0; i < 200000; ++i) {
    text += "k" + std::to_string(i) + "=1\n";
  }
  InputDeck deck = InputDeck::from_text(text, "g.toml");
  deck.check({{{.section = "garden", .key = "area", .type = KeyType::number}}, {}});
  const std::string error = usage_error([&] { deck.throw_complaints(); });
  EXPECT_EQ(std::count(error.begin(), error.end(), '\n'), 1000);
  EXPECT_TRUE(error.ends_with("\nThere may be more: these are the first 1000 found."));
}

class InputDeckFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() /
             ("input_deck_test." + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    path = (folder / "g.toml").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string error_of(const std::string& content) const {
    std::ofstream(path, std::ios::binary) << content;
    return usage_error([&] { InputDeck::from_file(path); });
  }

  std::filesystem::path folder;
  std::string path;
};

TEST_F(InputDeckFile, IsReadWithItsPathInPlaces) {
  std::ofstream(path) << "[garden]\narea = 3\n";
  InputDeck deck = InputDeck::from_file(path);
  deck.check({{{.section = "garden", .key = "area", .type = KeyType::number}}, {}});
  EXPECT_NO_THROW(deck.throw_complaints());
  EXPECT_EQ(deck.table("garden").place("area").text(), path + ":2:8");
}

TEST_F(InputDeckFile, ALetterOutsideQuotes) {
  EXPECT_EQ(error_of("[garden]\nfl\xC3\xA4"
                     "che = 1\n"),
            "the deck is not valid TOML (a character that is not ASCII stands outside "
            "quotes, " +
                path + ":2:3). Put it in quotes or take it out");
  InputDeck deck = InputDeck::from_text("", "g.toml");
  deck.set("garden.owner=J\xC3\xBCrgen");  // as a shell leaves it
  deck.check({{{.section = "garden", .key = "owner"}}, {}});
  EXPECT_EQ(std::get<std::string>(*deck.table("garden").find("owner")), "J\xC3\xBCrgen");
}

TEST_F(InputDeckFile, Missing) {
  EXPECT_EQ(usage_error([&] { InputDeck::from_file(path); }),
            "cannot read the deck " + path +
                " (No such file or directory). Give the path of a TOML file");
}

TEST_F(InputDeckFile, Directory) {
  EXPECT_EQ(usage_error([&] { InputDeck::from_file(folder.string()); }),
            "cannot read the deck " + folder.string() +
                " (it is a directory). Give the path of a TOML file");
}

TEST_F(InputDeckFile, Unreadable) {
  std::ofstream(path) << "[garden]\n";
  std::filesystem::permissions(path, std::filesystem::perms::none);
  const bool is_root = ::geteuid() == 0;
  if (is_root) {  // may read every file
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const std::string error = usage_error([&] { InputDeck::from_file(path); });
  if (is_root) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  EXPECT_EQ(error,
            "cannot read the deck " + path +
                " (Permission denied). Give the path of a TOML file");
}

TEST_F(InputDeckFile, Empty) {
  EXPECT_EQ(error_of(""),
            "the deck " + path + " is empty (0 bytes). Give the path of a TOML file");
  EXPECT_EQ(error_of(" \n\t\r\n"),
            "the deck " + path + " is empty (5 bytes). Give the path of a TOML file");
}

TEST_F(InputDeckFile, Binary) {
  EXPECT_EQ(
      error_of(std::string("\x89HDF\0\0", 6)),
      path + " is no deck but a binary file (byte 4 is 0). Give the path of a TOML file");
  EXPECT_EQ(error_of("a = \"\xff\xff\"\n"),
            "the deck is not valid TOML (Encountered invalid utf-8 sequence, " + path +
                ":1:5). Correct this line");
}

TEST_F(InputDeckFile, TooLarge) {
  std::ofstream(path) << "#";
  std::filesystem::resize_file(path, (16 << 20) + 1);
  EXPECT_EQ(usage_error([&] { InputDeck::from_file(path); }),
            "cannot read the deck " + path +
                " (it is larger than 16 MiB). Give the path of a TOML file");
}

// Nobody writes to the pipe: whoever opens it waits for ever.
TEST_F(InputDeckFile, NoFile) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  for (const std::string& name : {path, std::string("/dev/zero")}) {
    EXPECT_EQ(usage_error([&] { InputDeck::from_file(name); }),
              "cannot read the deck " + name +
                  " (it is not a file). Give the path of a TOML file");
  }
}

TEST_F(InputDeckFile, NestedTooDeep) {
  std::string dots;
  for (int i = 0; i < 30000; ++i) {
    dots += ".a";
  }
  const std::string error =
      "the deck is nested deeper than 100 (tables and lists within one another, " + path +
      ":2:1). Write its sections and keys side by side";
  EXPECT_EQ(error_of("[garden]\na" + dots + " = 1\n"), error);
  EXPECT_EQ(error_of("\n[a" + dots + "]\n"), error);
  EXPECT_EQ(error_of("\na = {b" + dots + " = 1}\n"), error);
  EXPECT_EQ(error_of("\na = " + std::string(200, '[') + std::string(200, ']')), error);
  InputDeck deck = InputDeck::from_text("", "g.toml");
  deck.set("a" + dots + "=1");
  deck.set("garden.area={a" + dots + "=1}");
  EXPECT_NE(usage_error([&] {
              deck.throw_complaints();
            }).find("its form is not section.key=value"),
            std::string::npos);
}

}  // namespace
}  // namespace crossbow
