#include "io/run_record.hpp"

#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "io/test_support.hpp"

namespace crossbow {
namespace {

using testing_support::expect_error;
using testing_support::TestFolder;
using testing_support::write_text;

TEST(RunRecord, ComesBack) {
  const TestFolder folder;
  const nlohmann::json record = {{"seed", 18446744073709551615U},
                                 {"rate", 0.1},
                                 {"deck", "[run]\nname = \"größer\""},
                                 {"learners", {1, 2}}};
  write_run_record(folder / "run.json", record);
  write_run_record(folder / "run.json", record);
  EXPECT_EQ(read_run_record(folder / "run.json"), record);
  EXPECT_EQ(folder.names().size(), 1U);
}

TEST(RunRecord, BytesThatAreNotUtf8AndNanDoNotStopIt) {
  const TestFolder folder;
  const nlohmann::json record = {{"path", "caf\xe9"},
                                 {"loss", std::numeric_limits<double>::quiet_NaN()}};
  write_run_record(folder / "run.json", record);
  EXPECT_TRUE(read_run_record(folder / "run.json")["loss"].is_null());
}

TEST(RunRecord, WhatIsNotJsonIsNamed) {
  const TestFolder folder;
  write_text(folder / "run.json", "{\"a\": ");
  expect_error([&] { read_run_record(folder / "run.json"); },
               {folder / "run.json", "JSON", "line 1, column 7"});
  write_text(folder / "run.json", "{\"a\": 1,\n \"b\": 2,\n \"c\" 3}");
  expect_error([&] { read_run_record(folder / "run.json"); }, {"line 3, column 6"});
  write_text(folder / "run.json", std::string(200, '['));
  expect_error([&] { read_run_record(folder / "run.json"); },
               {"nested more than 100 deep"});
  expect_error([&] { read_run_record(folder / "none"); }, {"No such file"});
  expect_error([&] { write_run_record(folder / "no/run.json", {}); },
               {folder / "no/run.json", "No such file or directory"});
}

}  // namespace
}  // namespace crossbow
