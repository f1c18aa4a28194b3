#pragma once
// Ids that cannot be mixed up: a learner's number is not a device's number. Costs nothing
// over the integer inside.

#include <compare>
#include <cstddef>
#include <functional>

namespace crossbow {

/// An integer that compares and converts only with ids of the same `Tag`.
template <class Tag, class Int = int>
class StrongId {
 public:
  using value_type = Int;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Int value) noexcept : value_(value) {}

  constexpr Int value() const noexcept { return value_; }
  /// Go to the next id, for loops over 0 ... n-1.
  constexpr StrongId& operator++() noexcept {
    ++value_;
    return *this;
  }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes its 0 for a pointer
  constexpr auto operator<=>(const StrongId&) const noexcept = default;

 private:
  Int value_ = 0;
};

}  // namespace crossbow

template <class Tag, class Int>
struct std::hash<crossbow::StrongId<Tag, Int>> {
  std::size_t operator()(crossbow::StrongId<Tag, Int> id) const noexcept {
    return std::hash<Int>{}(id.value());
  }
};
