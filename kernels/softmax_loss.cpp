#include "kernels/softmax_loss.hpp"

#include "base/contract.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {
namespace {

/// One sample a work item: classes are few.
struct SoftmaxRow {
  SoftmaxShape shape;
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  float* losses = nullptr;
  std::int32_t* correct = nullptr;
  float* dlogits = nullptr;  // null: not wanted

  KOKKOS_FUNCTION void operator()(std::int64_t sample) const {
    const float* const row = logits + sample * shape.classes;
    const std::int32_t label = labels[sample];
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < shape.classes; ++i) {
      best = row[i] > row[best] ? i : best;
    }
    const float largest = row[best], own = row[label];
    float* const gradient =
        dlogits != nullptr ? dlogits + sample * shape.classes : nullptr;
    float sum = 0;  // NaN if any logit is
    for (std::int64_t i = 0; i < shape.classes; ++i) {
      const float weight = Kokkos::exp(row[i] - largest);
      sum += weight;
      if (gradient != nullptr) {
        gradient[i] = weight;
      }
    }
    const float smoothing = shape.smoothing;
    const float share = smoothing / static_cast<float>(shape.classes);
    float expected = own - largest;  // of the target: log softmax + log(sum)
    if (smoothing > 0) {
      float total = 0;
      for (std::int64_t i = 0; i < shape.classes; ++i) {
        total += row[i] - largest;
      }
      expected = (1 - smoothing) * expected + share * total;
    }
    losses[sample] = Kokkos::log(sum) - expected;
    correct[sample] = best == label && sum == sum ? 1 : 0;
    if (gradient != nullptr) {
      const float mean = 1 / static_cast<float>(shape.n);
      const float factor = 1 / (sum * static_cast<float>(shape.n));
      for (std::int64_t i = 0; i < shape.classes; ++i) {
        gradient[i] = gradient[i] * factor - share * mean;
      }
      gradient[label] -= (1 - smoothing) * mean;
    }
  }
};

}  // namespace

template <class Exec>
void softmax_cross_entropy(const Exec& exec,
                           const SoftmaxShape& shape,
                           ConstSpan<Exec> logits,
                           ConstSpan<Exec, std::int32_t> labels,
                           const SoftmaxOutput<Exec>& output) {
  CROSSBOW_EXPECT(has_size(logits, shape.n * shape.classes));
  CROSSBOW_EXPECT(has_size(labels, shape.n) && has_size(output.losses, shape.n));
  CROSSBOW_EXPECT(has_size(output.correct, shape.n));
  CROSSBOW_EXPECT(output.dlogits.size() == 0 || has_size(output.dlogits, logits.size()));
  float* const dlogits = output.dlogits.size() > 0 ? output.dlogits.data() : nullptr;
  launch(exec,
         "crossbow::softmax_cross_entropy",
         shape.n,
         SoftmaxRow{shape,
                    logits.data(),
                    labels.data(),
                    output.losses.data(),
                    output.correct.data(),
                    dlogits});
}

#define CROSSBOW_INSTANTIATE(Exec)                                   \
  template void softmax_cross_entropy(const Exec&,                   \
                                      const SoftmaxShape&,           \
                                      ConstSpan<Exec>,               \
                                      ConstSpan<Exec, std::int32_t>, \
                                      const SoftmaxOutput<Exec>&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
