#pragma once
// Counter-based random numbers: Philox4x32-10 (Salmon et al., "Parallel random numbers:
// as easy as 1, 2, 3", SC 2011). A number is a pure function of (seed, purpose, a, b) and
// there is no state, so nothing depends on threads, learners or restarts. Everything but
// the normal numbers is constexpr without any library call, so that kernels may call it
// on a device.
//
// a and b are what the number belongs to: (epoch, position) for shuffling, (hash of the
// tensor's name, element) for initial weights, (epoch, sample) for augmentation. Where
// two coordinates are not enough, random_u64 of the first ones is the seed of the others.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crossbow {

/// What a number is for: equal coordinates give unrelated numbers for different purposes.
/// The values are part of every stored result and never change.
enum class RandomPurpose : std::uint32_t {
  shuffle = 1,
  initialise = 2,
  dropout = 3,
  augment = 4
};

/// Four independent words, each uniform over all 32-bit values.
struct RandomBlock {
  std::uint32_t word[4];
};

struct PhiloxKey {
  std::uint32_t word[2];
};

/// Encrypt a counter with ten rounds of Philox4x32.
constexpr RandomBlock philox4x32_10(RandomBlock counter, PhiloxKey key) {
  constexpr std::uint64_t multiplier_0 = 0xD2511F53;
  constexpr std::uint64_t multiplier_1 = 0xCD9E8D57;
  constexpr std::uint32_t weyl_0 = 0x9E3779B9;  // golden ratio
  constexpr std::uint32_t weyl_1 = 0xBB67AE85;  // sqrt(3) - 1
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product_0 = multiplier_0 * counter.word[0];
    const std::uint64_t product_1 = multiplier_1 * counter.word[2];
    const auto high_0 = static_cast<std::uint32_t>(product_0 >> 32);
    const auto high_1 = static_cast<std::uint32_t>(product_1 >> 32);
    counter = {{high_1 ^ counter.word[1] ^ key.word[0],
                static_cast<std::uint32_t>(product_1),
                high_0 ^ counter.word[3] ^ key.word[1],
                static_cast<std::uint32_t>(product_0)}};
    key.word[0] += weyl_0;
    key.word[1] += weyl_1;
  }
  return counter;
}

/// Give the four words at (seed, purpose, a, b), b < 2^48 (higher bits are dropped).
/// `attempt`
/// (< 256) counts further blocks at the same place, for methods that reject numbers.
constexpr RandomBlock random_block(std::uint64_t seed,
                                   RandomPurpose purpose,
                                   std::uint64_t a,
                                   std::uint64_t b,
                                   std::uint32_t attempt = 0) {
  const std::uint32_t tag =
      (static_cast<std::uint32_t>(purpose) << 24) | ((attempt & 0xFF) << 16);
  return philox4x32_10(
      {{static_cast<std::uint32_t>(a),
        static_cast<std::uint32_t>(a >> 32),
        static_cast<std::uint32_t>(b),
        (static_cast<std::uint32_t>(b >> 32) & 0xFFFF) | tag}},
      {{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}});
}

/// Give one 32-bit word: the first of the block.
constexpr std::uint32_t random_u32(std::uint64_t seed,
                                   RandomPurpose purpose,
                                   std::uint64_t a,
                                   std::uint64_t b) {
  return random_block(seed, purpose, a, b).word[0];
}

/// Join two words of a block, `half` 0 or 1, to a 64-bit word.
constexpr std::uint64_t join_words(const RandomBlock& block, std::size_t half) {
  return block.word[2 * half] |
         (static_cast<std::uint64_t>(block.word[2 * half + 1]) << 32);
}

/// Give one 64-bit word: the first half of the block.
constexpr std::uint64_t random_u64(std::uint64_t seed,
                                   RandomPurpose purpose,
                                   std::uint64_t a,
                                   std::uint64_t b) {
  return join_words(random_block(seed, purpose, a, b), 0);
}

/// Map a word to [0, 1): the multiple of 2^-24 below, so that 1 is never reached by
/// rounding.
constexpr float to_unit_float(std::uint32_t word) {
  return static_cast<float>(word >> 8) * 0x1p-24F;
}

/// Give a uniform number in [0, 1).
constexpr float random_uniform(std::uint64_t seed,
                               RandomPurpose purpose,
                               std::uint64_t a,
                               std::uint64_t b) {
  return to_unit_float(random_u32(seed, purpose, a, b));
}

/// Give an integer in [0, bound), bound >= 1, every value equally probable: the lowest
/// 2^64 mod bound words are rejected, so that each remainder is met equally often.
constexpr std::uint64_t random_below(std::uint64_t seed,
                                     RandomPurpose purpose,
                                     std::uint64_t a,
                                     std::uint64_t b,
                                     std::uint64_t bound) {
  const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound
  std::uint64_t word = 0;
  for (std::uint32_t attempt = 0; attempt < 256; ++attempt) {
    const RandomBlock block = random_block(seed, purpose, a, b, attempt);
    for (std::size_t half = 0; half < 2; ++half) {
      word = join_words(block, half);
      if (word >= rejected) {
        return word % bound;
      }
    }
  }
  return word % bound;  // 512 rejections: less probable than 2^-512
}

struct NormalPair {
  double first;
  double second;
};

/// Turn two words into two independent standard normal numbers (Box and Muller); none is
/// beyond sqrt(64 ln 2) = 6.7, as the radius comes from (word + 1) 2^-32, which is never
/// zero.
inline NormalPair to_normal_pair(std::uint32_t radius_word, std::uint32_t angle_word) {
  constexpr double two_pi = 6.283185307179586476925;
  const double radius = std::sqrt(-2 * std::log((radius_word + 1.0) * 0x1p-32));
  const double angle = two_pi * (angle_word * 0x1p-32);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// Give a standard normal number.
inline double random_normal(std::uint64_t seed,
                            RandomPurpose purpose,
                            std::uint64_t a,
                            std::uint64_t b) {
  const RandomBlock block = random_block(seed, purpose, a, b);
  return to_normal_pair(block.word[0], block.word[1]).first;
}

/// Give a standard normal number of those in [-2, 2]; its variance is 0.7737, not 1.
inline double random_truncated_normal(std::uint64_t seed,
                                      RandomPurpose purpose,
                                      std::uint64_t a,
                                      std::uint64_t b) {
  constexpr double limit = 2;
  for (std::uint32_t attempt = 0; attempt < 256; ++attempt) {
    const RandomBlock block = random_block(seed, purpose, a, b, attempt);
    for (std::size_t half = 0; half < 2; ++half) {
      const auto [first, second] =
          to_normal_pair(block.word[2 * half], block.word[2 * half + 1]);
      if (std::abs(first) <= limit) {
        return first;
      }
      if (std::abs(second) <= limit) {
        return second;
      }
    }
  }
  return 0;  // 1024 rejections at 0.0455 each
}

/// Hash a name, the same on every machine and for ever (FNV-1a, 64 bits).
constexpr std::uint64_t stable_hash(std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const char letter : name) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001B3;
  }
  return hash;
}

}  // namespace crossbow
