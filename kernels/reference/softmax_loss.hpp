#pragma once
// Softmax and cross-entropy as plain loops: what the other implementations are tested on.
// Sums are in double.

#include <cmath>
#include <cstdint>

#include "kernels/softmax_loss.hpp"

namespace crossbow::reference {

template <class Real>
struct SoftmaxOutput {
  Real* losses;
  std::int32_t* correct;
  Real* dlogits;  // null: not wanted
};

/// The class of the largest logit, the first of equal ones; -1 if one is NaN.
template <class Real>
std::int64_t predicted_class(std::int64_t classes, const Real* logits) {
  std::int64_t best = 0;
  for (std::int64_t i = 0; i < classes; ++i) {
    if (std::isnan(logits[i])) {
      return -1;
    }
    best = logits[i] > logits[best] ? i : best;
  }
  return best;
}

/// The same as crossbow::softmax_cross_entropy.
template <class Real>
void softmax_cross_entropy(const SoftmaxShape& s,
                           const Real* logits,
                           const std::int32_t* labels,
                           const SoftmaxOutput<Real>& output) {
  for (std::int64_t n = 0; n < s.n; ++n) {
    const Real* const row = logits + n * s.classes;
    const std::int64_t label = labels[n];
    const std::int64_t best = predicted_class(s.classes, row);
    const double largest = best < 0 ? NAN : row[best];
    double sum = 0;
    for (std::int64_t i = 0; i < s.classes; ++i) {
      sum += std::exp(row[i] - largest);
    }
    const auto target = [&](std::int64_t i) {
      const double smoothing = s.smoothing;
      return (i == label ? 1 - smoothing : 0) +
             smoothing / static_cast<double>(s.classes);
    };
    double expected = 0;
    for (std::int64_t i = 0; i < s.classes; ++i) {
      expected += target(i) > 0 ? target(i) * (row[i] - largest) : 0;
    }
    output.losses[n] = static_cast<Real>(std::log(sum) - expected);
    output.correct[n] = best == label ? 1 : 0;
    for (std::int64_t i = 0; output.dlogits != nullptr && i < s.classes; ++i) {
      const double probability = std::exp(row[i] - largest) / sum;
      output.dlogits[n * s.classes + i] =
          static_cast<Real>((probability - target(i)) / static_cast<double>(s.n));
    }
  }
}

}  // namespace crossbow::reference
