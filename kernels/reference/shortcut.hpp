#pragma once
// The identity shortcut as plain loops: what the other implementations are tested on.

#include <cstdint>

#include "kernels/shortcut.hpp"

namespace crossbow::reference {

/// Call f(i, o) for each element i of x that becomes element o of y.
template <class F>
void for_each_kept(const ShortcutShape& s, const F& f) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    for (std::int64_t h = 0; h < s.h; h += s.stride) {
      for (std::int64_t w = 0; w < s.w; w += s.stride) {
        for (std::int64_t c = 0; c < s.c; ++c) {
          const std::int64_t to =
              (n * s.out_h() + h / s.stride) * s.out_w() + w / s.stride;
          f(((n * s.h + h) * s.w + w) * s.c + c,
            to * s.filters + (s.filters - s.c) / 2 + c);
        }
      }
    }
  }
}

template <class Real>
void shortcut_forward(const ShortcutShape& s, const Real* x, Real* y) {
  for (std::int64_t i = 0; i < s.n * s.out_h() * s.out_w() * s.filters; ++i) {
    y[i] = 0;
  }
  for_each_kept(s, [&](std::int64_t from, std::int64_t to) { y[to] = x[from]; });
}

template <class Real>
void shortcut_backward(const ShortcutShape& s, const Real* dy, Real* dx) {
  for (std::int64_t i = 0; i < s.n * s.h * s.w * s.c; ++i) {
    dx[i] = 0;
  }
  for_each_kept(s, [&](std::int64_t from, std::int64_t to) { dx[from] = dy[to]; });
}

}  // namespace crossbow::reference
