#pragma once
// Helpers of the tests of the update kernels: sizes around their blocks, places in them,
// bad numbers and flags.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/sgd_update.hpp"
#include "kernels/testing.hpp"

namespace crossbow::testing {

/// Around a vector's, a block's (1024) and a chunk's (16384) length.
inline constexpr std::array<std::int64_t, 7> update_sizes = {
    1, 15, 16, 1023, 1024, 1025, 16385};

/// Fewer, for tests that go through many places in them.
inline constexpr std::array<std::int64_t, 3> flag_sizes = {1, 15, 1025};

/// A step makes at most six roundings of numbers below 4: 6 * 4 * 2^-24.
inline constexpr double update_tolerance = 24 * 0x1p-24;

inline constexpr std::array<float, 3> bad_numbers = {
    std::numeric_limits<float>::quiet_NaN(),
    std::numeric_limits<float>::infinity(),
    -std::numeric_limits<float>::infinity()};

/// One element of each kind of place in n: first, in the vectorised body, last of a
/// block, first of the next, last of all.
inline std::vector<std::int64_t> places_in(std::int64_t n) {
  std::vector<std::int64_t> places = {0, 7, 1023, 1024, n - 2, n - 1};
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::erase_if(places, [n](std::int64_t place) { return place < 0 || place >= n; });
  return places;
}

/// A NotFiniteFlag with a value to start from.
template <class Exec>
class Flag {
 public:
  explicit Flag(const Exec& exec, std::uint32_t value = 0)
      : array_(exec, std::vector<std::uint32_t>{value}) {}

  NotFiniteFlag<Exec> span() const { return array_.span(); }
  std::uint32_t value() const { return array_.values()[0]; }

 private:
  Array<Exec, std::uint32_t> array_;
};

}  // namespace crossbow::testing
