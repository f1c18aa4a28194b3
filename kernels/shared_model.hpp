#pragma once
// A model that several learners write to at their own pace: downpour's parameter server
// and hogwild's shared weights (DESIGN 2.6, 2.7).

#include "kernels/spaces.hpp"

namespace crossbow {

/// z += w - pulled, then w = pulled = z (n each): hand in what was learned since the last
/// exchange and take what others have. The caller holds z's lock.
template <class Exec>
void exchange_steps(const Exec& exec, Span<Exec> z, Span<Exec> w, Span<Exec> pulled);

/// Copy z to w by relaxed atomic loads, while others add to z. Host only.
template <class Exec>
void load_relaxed(const Exec& exec, Span<Exec> z, Span<Exec> w);

/// z += step by relaxed atomic additions: none is lost, in no order. Host only.
template <class Exec>
void add_relaxed(const Exec& exec, ConstSpan<Exec> step, Span<Exec> z);

}  // namespace crossbow
