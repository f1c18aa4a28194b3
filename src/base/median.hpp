#pragma once
// The middle of measurements that scatter.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace crossbow {

/// The median of `values`, which are not empty; of an even number the upper one, which
/// has been measured.
inline double upper_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace crossbow
