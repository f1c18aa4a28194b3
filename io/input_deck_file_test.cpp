// What InputDeck makes of files and texts that are no decks; input_deck_test.cpp has the
// rest.

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
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

TEST_F(InputDeckFile, Endless) {
  EXPECT_EQ(usage_error([&] { InputDeck::from_file("/dev/zero"); }),
            "cannot read the deck /dev/zero (it is larger than 16 MiB). Give the path of "
            "a TOML "
            "file");
}

}  // namespace
}  // namespace crossbow
