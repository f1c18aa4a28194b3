#include "io/key_spec.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

TEST(EditDistance, CountsEachKindOfEditOnce) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("batch", ""), 5u);
  EXPECT_EQ(edit_distance("", "batch"), 5u);
  EXPECT_EQ(edit_distance("batch", "bath"), 1u);      // removal
  EXPECT_EQ(edit_distance("bath", "batch"), 1u);      // insertion
  EXPECT_EQ(edit_distance("batch", "botch"), 1u);     // replacement
  EXPECT_EQ(edit_distance("bacth", "batch"), 1u);     // swap
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);          // no edit inside a swapped pair
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);  // the textbook's case
}

TEST(Nearest, TakesTheFirstOfTheNearestAndNothingFar) {
  const std::vector<std::string> keys = {"batch", "epochs", "test_every", "seed"};
  EXPECT_EQ(nearest("bacth", keys), "batch");
  EXPECT_EQ(nearest("epoch", keys), "epochs");
  EXPECT_EQ(nearest("batch_size", keys), "batch");
  EXPECT_EQ(nearest("every", keys), "test_every");
  EXPECT_EQ(nearest("lr", keys), "");
  EXPECT_EQ(nearest("momentum", keys), "");
  EXPECT_EQ(nearest("x", {}), "");
  EXPECT_EQ(nearest("aab", {"aac", "aad"}), "aac");
}

// The edits of two words of ten million letters would be counted for days.
TEST(Nearest, LooksAtNoWordThatNobodyTypes) {
  std::string endless;
  endless.resize(10000000, 'x');
  EXPECT_EQ(nearest(endless, {endless, "x"}), "");
  EXPECT_EQ(nearest("xx", {endless, "x"}), "x");
}

TEST(AllowedText, SaysTypeRangeAndWords) {
  EXPECT_EQ(allowed_text({.type = KeyType::integer, .range = {1, 65536}}),
            "an integer from 1 to 65536");
  EXPECT_EQ(allowed_text({.type = KeyType::integer, .range = {0, {}}}),
            "an integer from 0 upwards");
  EXPECT_EQ(allowed_text({.type = KeyType::number, .range = {0, {}, true}}),
            "a number above 0");
  EXPECT_EQ(allowed_text({.type = KeyType::number, .range = {0, 1e6, true}}),
            "a number above 0 up to 1000000");
  EXPECT_EQ(allowed_text({.type = KeyType::number, .range = {0, 1, false, true}}),
            "a number from 0 to below 1");
  EXPECT_EQ(allowed_text({.type = KeyType::number, .range = {0.5, 1, true, true}}),
            "a number above 0.5 below 1");
  EXPECT_EQ(allowed_text({.type = KeyType::number, .range = {{}, 1}}),
            "a number up to 1");
  EXPECT_EQ(allowed_text({.type = KeyType::number, .words = {"1/k", "auto"}}),
            "a number or \"1/k\" or \"auto\"");
  EXPECT_EQ(allowed_text({.words = {"a", "b", "c"}}), "\"a\", \"b\" or \"c\"");
  EXPECT_EQ(allowed_text({}), "a string");
  EXPECT_EQ(allowed_text({.least_size = 1}), "a string that is not empty");
  EXPECT_EQ(allowed_text({.type = KeyType::boolean}), "true or false");
  EXPECT_EQ(
      allowed_text({.type = KeyType::integer_list, .range = {1, 9}, .least_size = 1}),
      "a list of one or more integers from 1 to 9");
  EXPECT_EQ(allowed_text({.type = KeyType::number_list, .least_size = 3}),
            "a list of at least 3 numbers");
  EXPECT_EQ(allowed_text({.type = KeyType::number_list}), "a list of numbers");
  EXPECT_EQ(
      allowed_text({.type = KeyType::number_list, .least_size = 1, .most_size = 1000}),
      "a list of 1 to 1000 numbers");
  EXPECT_EQ(allowed_text({.type = KeyType::text_list, .most_size = 9}),
            "a list of at most 9 strings");
  EXPECT_EQ(allowed_text({.type = KeyType::text_list}), "a list of strings");
}

TEST(IsInside, TakesOrRefusesTheEnds) {
  EXPECT_TRUE(is_inside({1, 2}, 1));
  EXPECT_TRUE(is_inside({1, 2}, 2));
  EXPECT_FALSE(is_inside({1, 2}, 0.999));
  EXPECT_FALSE(is_inside({1, 2}, 2.001));
  EXPECT_FALSE(is_inside({1, 2, true}, 1));
  EXPECT_FALSE(is_inside({1, 2, false, true}, 2));
  EXPECT_TRUE(is_inside({}, -1e300));
  EXPECT_FALSE(is_inside({}, std::nan("")));
}

TEST(TomlText, DoublesAreShortAndNeverLookLikeIntegers) {
  EXPECT_EQ(toml_text(1.0), "1.0");
  EXPECT_EQ(toml_text(0.1), "0.1");
  EXPECT_EQ(toml_text(1e-5), "1e-05");
  EXPECT_EQ(toml_text(1e300), "1e+300");
  EXPECT_EQ(toml_text(-0.0), "-0.0");
  EXPECT_EQ(std::stod(toml_text(0.1 + 0.2)), 0.1 + 0.2);
  EXPECT_EQ(toml_text(std::nan("")), "nan");
  EXPECT_EQ(toml_text(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(TomlText, OtherValues) {
  EXPECT_EQ(toml_text(true), "true");
  EXPECT_EQ(toml_text(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
  EXPECT_EQ(toml_text("a\"b\\c\n\t\x01\x7f\xc3\xa9"),
            "\"a\\\"b\\\\c\\n\\t\\u0001\\u007F\xc3\xa9\"");
  EXPECT_EQ(toml_text(std::vector<double>{1, 2.5}), "[1.0, 2.5]");
  EXPECT_EQ(toml_text(std::vector<std::string>{}), "[]");
}

TEST(Join, PutsTheLastSeparatorBeforeTheLastWord) {
  EXPECT_EQ(join({}, ", ", " and "), "");
  EXPECT_EQ(join({"a"}, ", ", " and "), "a");
  EXPECT_EQ(join({"a", "b"}, ", ", " and "), "a and b");
  EXPECT_EQ(join({"a", "b", "c"}, ", ", " and "), "a, b and c");
}

}  // namespace
}  // namespace crossbow
