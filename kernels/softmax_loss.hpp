#pragma once
// Softmax and cross-entropy in one, from logits (n, classes) and labels (n).

#include <cstdint>

#include "kernels/spaces.hpp"

namespace crossbow {

struct SoftmaxShape {
  std::int64_t n = 1, classes = 1;
  float smoothing = 0;  // e: the target is (1 - e) onehot + e / classes, as in PyTorch
};

template <class Exec>
struct SoftmaxOutput {
  Span<Exec> losses;  // (n): -sum of target log softmax(logits)
  Span<Exec, std::int32_t>
      correct;         // (n): 1 where the label has the largest logit, else 0
  Span<Exec> dlogits;  // (n, classes): gradient of the mean loss; may be empty
};

/// Cross-entropy of each sample, whether it is classified correctly (the first of several
/// equal logits wins; a row with NaN is never correct), and (softmax - target)/n. The
/// row's maximum is taken off before exp, so that large logits do not overflow.
template <class Exec>
void softmax_cross_entropy(const Exec& exec,
                           const SoftmaxShape& shape,
                           ConstSpan<Exec> logits,
                           ConstSpan<Exec, std::int32_t> labels,
                           const SoftmaxOutput<Exec>& output);

}  // namespace crossbow
