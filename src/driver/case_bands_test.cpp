#include "driver/case_bands.hpp"

#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

HistoryRow row(double epoch, double loss, double accuracy) {
  HistoryRow row;
  row.epoch = epoch;
  row.samples = static_cast<std::int64_t>(100 * epoch);
  row.test_loss = loss;
  row.test_accuracy = accuracy;
  return row;
}

Band band(const std::string& column, double below, double above) {
  return {column, {}, below, above, "by hand"};
}

bool is_good(const Band& band, const std::vector<HistoryRow>& measured) {
  const std::vector<HistoryRow> reference = {row(1, 0.5, 0.75), row(2, 0.25, 0.875)};
  return check_bands({band}, measured, reference).at(0).good;
}

TEST(CheckBands, the_last_row_counts_unless_an_epoch_is_given) {
  const std::vector<HistoryRow> measured = {row(1, 0.625, 0.75), row(2, 0.25, 0.75)};
  EXPECT_FALSE(is_good(band("test_accuracy", 0.1, 0.1), measured));  // 0.125 below
  EXPECT_TRUE(is_good(band("test_accuracy", 0.125, 0), measured));
  EXPECT_TRUE(is_good(band("test_loss", 0, 0), measured));
  Band first = band("test_loss", 0, 0.1);
  first.epoch = 1;
  EXPECT_FALSE(is_good(first, measured));  // 0.125 above
  first.above = 0.125;
  EXPECT_TRUE(is_good(first, measured));
}

TEST(CheckBands, what_is_missing_or_no_number_is_not_good) {
  const Band wide = band("test_accuracy", 1, 1);
  EXPECT_FALSE(is_good(wide, {row(1, 0.5, 0.875)}));  // a row is missing
  EXPECT_FALSE(is_good(wide, {}));
  EXPECT_FALSE(is_good(band("median_of_five", 1, 1), {row(1, 0, 0), row(2, 0, 0)}));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_good(band("test_loss", 9, 9), {row(1, 0, 0), row(2, nan, 0)}));
  EXPECT_TRUE(is_good(wide, {row(1, 0, 0), row(2, 0, 0.875), row(3, 0, 0)}));
}

TEST(MedianHistory, takes_each_column_by_itself) {
  const std::vector<HistoryRow> three = median_history(
      {{row(1, 0.5, 0.7)}, {row(1, 0.3, 0.9)}, {row(1, 0.4, 0.1), row(2, 0, 0)}});
  ASSERT_EQ(three.size(), 1U);  // rows that all runs have
  EXPECT_EQ(three[0].test_loss, 0.4);
  EXPECT_EQ(three[0].test_accuracy, 0.7);
  EXPECT_EQ(three[0].epoch, 1);
  const std::vector<HistoryRow> two =
      median_history({{row(1, 0.5, 0)}, {row(1, 0.25, 0)}});
  EXPECT_EQ(two[0].test_loss, 0.375);
}

TEST(MedianHistory, runs_of_unlike_decks_are_an_error) {
  try {
    median_history({{row(1, 0, 0)}, {row(2, 0, 0)}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::data);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("100 samples"));
  }
}

std::string complaint_of(const std::string& text) {
  const std::string path = ::testing::TempDir() + "check.toml";
  std::ofstream(path) << text;
  try {
    read_case_check(path);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(CaseCheck, a_band_needs_its_column_its_width_and_a_reason) {
  const std::string head = "[check]\nseeds = [1]\n[[band]]\n";
  const std::string band = "column = \"test_loss\"\nbelow = 0.1\nabove = 0.2\n";
  EXPECT_EQ(complaint_of(head + band + "reason = \"measured\"\n"), "no error");
  EXPECT_THAT(complaint_of(head + band), ::testing::HasSubstr("reason"));
  EXPECT_THAT(complaint_of(head + "column = \"tset_loss\"\nbelow = 1\nabove = 1\n"
                                  "reason = \"x\"\n"),
              ::testing::HasSubstr("test_loss"));
  EXPECT_THAT(complaint_of(head + "column = \"test_loss\"\nbelow = -1\nabove = 1\n"
                                  "reason = \"x\"\n"),
              ::testing::HasSubstr("band.below"));
  EXPECT_THAT(complaint_of("[check]\nseeds = [1]\n"), ::testing::HasSubstr("no band"));
}

}  // namespace
}  // namespace crossbow
