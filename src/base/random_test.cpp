#include "base/random.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

namespace crossbow {
namespace {

constexpr int n_draws = 1 << 16;
constexpr std::uint64_t seed = 20191028;

void expect_words(const RandomBlock& block,
                  const std::array<std::uint32_t, 4>& expected) {
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(block.word[i], expected[i]) << "word " << i;
  }
}

// Known answers of Random123 (D. E. Shaw Research), file kat_vectors, rows "philox4x32
// 10".
TEST(Random, gives_the_known_answers_of_random123) {
  constexpr std::uint32_t ones = 0xFFFFFFFF;
  expect_words(philox4x32_10({{0, 0, 0, 0}}, {{0, 0}}),
               {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  expect_words(philox4x32_10({{ones, ones, ones, ones}}, {{ones, ones}}),
               {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  expect_words(philox4x32_10({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
                             {{0xa4093822, 0x299f31d0}}),
               {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST(Random, is_known_at_compile_time) {
  static_assert(philox4x32_10({{0, 0, 0, 0}}, {{0, 0}}).word[0] == 0x6627e8d5);
  static_assert(random_uniform(1, RandomPurpose::dropout, 2, 3) < 1.0F);
  static_assert(random_below(1, RandomPurpose::shuffle, 2, 3, 7) < 7);
  static_assert(stable_hash("") == 0xcbf29ce484222325);
}

// Expected words: a program of the definition in another language, itself checked by the
// known answers above. They pin the layout of the counter, on which stored runs depend.
TEST(Random, lays_out_the_counter_as_ever) {
  const std::uint64_t key = 0x0123456789abcdef;
  const std::uint64_t a = 0xfedcba9876543210;
  const std::uint64_t b = 0x0000aabbccddeeff;
  expect_words(random_block(key, RandomPurpose::dropout, a, b),
               {0x0495f722, 0x92ada0c9, 0xbd0a905c, 0xc48e8cfb});
  expect_words(random_block(key, RandomPurpose::dropout, a, b, 5),
               {0xb8920451, 0x923712fe, 0x1b1c9d52, 0x38228e20});
  EXPECT_EQ(random_u32(key, RandomPurpose::dropout, a, b), 0x0495f722U);
  EXPECT_EQ(random_u64(key, RandomPurpose::dropout, a, b), 0x92ada0c90495f722U);
}

TEST(Random, depends_on_every_coordinate) {
  const std::uint64_t base = random_u64(1, RandomPurpose::shuffle, 2, 3);
  EXPECT_NE(base, random_u64(1 + (1ULL << 32), RandomPurpose::shuffle, 2, 3));
  EXPECT_NE(base, random_u64(1, RandomPurpose::initialise, 2, 3));
  EXPECT_NE(base, random_u64(1, RandomPurpose::dropout, 2, 3));
  EXPECT_NE(base, random_u64(1, RandomPurpose::augment, 2, 3));
  EXPECT_NE(base, random_u64(1, RandomPurpose::shuffle, 2 + (1ULL << 32), 3));
  EXPECT_NE(base, random_u64(1, RandomPurpose::shuffle, 2, 3 + (1ULL << 32)));
}

TEST(Random, unit_float_reaches_zero_but_not_one) {
  EXPECT_EQ(to_unit_float(0), 0.0F);
  EXPECT_EQ(to_unit_float(0x80000000), 0.5F);
  EXPECT_EQ(to_unit_float(0xFFFFFFFF), 1.0F - 0x1p-24F);
}

// n uniform numbers: the mean has standard deviation 1/sqrt(12 n), a bin of sixteen the
// binomial one sqrt(n 1/16 15/16); five of them are met by chance once in two million
// times.
TEST(Random, uniform_numbers_are_uniform) {
  double sum = 0;
  std::array<int, 16> bins{};
  for (int i = 0; i < n_draws; ++i) {
    const float x = random_uniform(seed, RandomPurpose::dropout, 0, i);
    sum += x;
    ++bins[static_cast<int>(x * 16)];
  }
  EXPECT_NEAR(sum / n_draws, 0.5, 5 / std::sqrt(12.0 * n_draws));
  for (const int count : bins) {
    EXPECT_NEAR(count, n_draws / 16.0, 5 * std::sqrt(n_draws * 15.0 / 256));
  }
}

// Half of all 64-bit words are rejected at this bound. Expected: as for the layout.
TEST(Random, bounded_integers_reject_the_surplus) {
  const std::uint64_t bound = (1ULL << 63) + 1;
  const std::array<std::uint64_t, 8> expected = {5946054378485542476U,
                                                 8868747872381376900U,
                                                 8437444740157815285U,
                                                 4152036632233775391U,
                                                 6471731525641344073U,
                                                 8010090590367728870U,
                                                 4807068024730719405U,
                                                 4295143124670416865U};
  for (std::uint64_t b = 0; b < expected.size(); ++b) {
    EXPECT_EQ(random_below(5, RandomPurpose::augment, 0, b, bound), expected[b]);
  }
  EXPECT_EQ(random_below(5, RandomPurpose::augment, 0, 0, 1), 0U);
}

TEST(Random, bounded_integers_are_uniform) {
  std::array<int, 7> bins{};
  for (int i = 0; i < n_draws; ++i) {
    ++bins.at(random_below(seed, RandomPurpose::shuffle, 1, i, bins.size()));
  }
  for (const int count : bins) {  // binomial with p = 1/7
    EXPECT_NEAR(count, n_draws / 7.0, 5 * std::sqrt(n_draws * 6.0 / 49));
  }
}

TEST(Random, normal_pair_is_box_and_muller) {
  const NormalPair longest = to_normal_pair(0, 0);  // radius sqrt(-2 ln 2^-32), angle 0
  EXPECT_NEAR(longest.first, 6.6604369, 1e-6);
  EXPECT_EQ(longest.second, 0);
  const NormalPair quarter =
      to_normal_pair(0x7FFFFFFF, 0x40000000);  // sqrt(2 ln 2), pi/2
  EXPECT_NEAR(quarter.first, 0, 1e-12);
  EXPECT_NEAR(quarter.second, 1.1774100, 1e-6);
  EXPECT_EQ(to_normal_pair(0xFFFFFFFF, 0).first, 0);
}

// Of n standard normal numbers: mean 0 +- 1/sqrt(n), mean square 1 +- sqrt(2/n), share
// beyond two 0.0455 +- sqrt(0.0455 0.9545/n); five standard deviations are allowed.
TEST(Random, normal_numbers_are_normal) {
  double sum = 0;
  double squares = 0;
  int beyond_two = 0;
  for (int i = 0; i < n_draws; ++i) {
    const double x = random_normal(seed, RandomPurpose::initialise, 7, i);
    sum += x;
    squares += x * x;
    beyond_two += std::abs(x) > 2 ? 1 : 0;
  }
  const double n = n_draws;
  EXPECT_NEAR(sum / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(squares / n, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(beyond_two / n, 0.045500, 5 * std::sqrt(0.0455 * 0.9545 / n));
}

// With density phi and Z = 0.954500, phi(2) = 0.0539910: the mean square inside two is
// 1 - 4 phi(2)/Z = 0.773741, the mean fourth power 3 (0.773741) - 16 phi(2)/Z = 1.416190,
// so that one square has the variance 1.416190 - 0.773741^2 = 0.817515.
TEST(Random, truncated_normal_numbers_stay_within_two) {
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int i = 0; i < n_draws; ++i) {
    const double x = random_truncated_normal(seed, RandomPurpose::initialise, 7, i);
    sum += x;
    squares += x * x;
    largest = std::max(largest, std::abs(x));
  }
  const double n = n_draws;
  EXPECT_LE(largest, 2);
  EXPECT_GT(largest, 1.99);
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(0.773741 / n));
  EXPECT_NEAR(squares / n, 0.773741, 5 * std::sqrt(0.817515 / n));
}

// Vectors of the FNV specification (RFC 9923, draft-eastlake-fnv).
TEST(Random, hash_is_fnv_1a) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325U);
  EXPECT_EQ(stable_hash("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171f73967e8U);
}

}  // namespace
}  // namespace crossbow
