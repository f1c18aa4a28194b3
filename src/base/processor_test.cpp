#include "base/processor.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

TEST(Processor, names_what_is_missing_and_nothing_else) {
  try {
    check_processor({{"AVX2", true, true},
                     {"FMA", true, false},
                     {"BMI2", false, false},
                     {"AVX-512F", true, false}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::device);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("one that has FMA, AVX-512F)"));
  }
}

TEST(Processor, more_than_was_built_for_does_no_harm) {
  EXPECT_NO_THROW(check_processor({{"AVX2", false, true}, {"FMA", true, true}}));
  EXPECT_NO_THROW(check_processor({}));
}

/// What Linux says that the processor has, as one line.
std::string flags_of_system() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("flags")) {
      return line + " ";
    }
  }
  return "";
}

TEST(Processor, has_the_features_that_the_system_lists) {
  const std::string flags = flags_of_system();
  if (flags.empty()) {
    GTEST_SKIP() << "no list of processor flags here";
  }
  const std::vector<ProcessorFeature> features = processor_features();
  EXPECT_NO_THROW(check_processor(features));
  ASSERT_EQ(features.size(), 6U);
  for (const ProcessorFeature& feature : features) {
    std::string flag(feature.name);
    std::erase(flag, '-');
    std::transform(flag.begin(), flag.end(), flag.begin(), [](unsigned char letter) {
      return static_cast<char>(std::tolower(letter));
    });
    EXPECT_EQ(feature.present, flags.find(" " + flag + " ") != std::string::npos) << flag;
  }
}

}  // namespace
}  // namespace crossbow
