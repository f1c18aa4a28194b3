#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/testing.hpp"

namespace crossbow {
namespace {

using testing::complaints;

// Which methods have what: DESIGN 2.1 to 2.8.
TEST(AveragingKeys, ThatTheMethodDoesNotUseAreRefused) {
  const std::map<std::string, std::vector<std::string>> used = {
      {"sma", {"alpha", "momentum", "period", "restart"}},
      {"easgd", {"alpha", "period", "restart"}},
      {"easgd_async", {"alpha", "period"}},
      {"ssgd", {}},
      {"local_sgd", {"period"}},
      {"post_local_sgd", {"period"}},
      {"polyak_ruppert", {}},
      {"downpour", {"period"}},
      {"hogwild", {}},
      {"reference", {"momentum", "period", "restart"}}};
  const std::map<std::string, std::string> values = {
      {"alpha", "0.1"}, {"momentum", "0.5"}, {"period", "2"}, {"restart", "false"}};
  for (const auto& [method, keys] : used) {
    for (const auto& [name, value] : values) {
      const bool is_used = std::find(keys.begin(), keys.end(), name) != keys.end();
      const std::string said = complaints(
          fmt::format("[averaging]\nmethod = \"{}\"\n{} = {}\n", method, name, value));
      const std::string refusal =
          fmt::format("averaging.{} has no effect (only with method = ", name);
      if (is_used) {
        EXPECT_EQ(said, "no error") << method;
      } else {
        EXPECT_THAT(said, ::testing::StartsWith(refusal)) << method;
      }
    }
  }
}

}  // namespace
}  // namespace crossbow
