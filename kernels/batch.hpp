#pragma once
// A batch of samples as kernels and networks see it.

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

/// n samples: what a step works on.
template <class Exec>
struct Batch {
  Span<Exec> images;                    // (n, h, w, c)
  Span<Exec, std::int32_t> labels;      // (n)
  Span<Exec, std::int64_t> sample_ids;  // (n): place in the data set
  Span<Exec, std::int64_t> epochs;      // (n): epoch that the sample was drawn in
};

}  // namespace crossbow
