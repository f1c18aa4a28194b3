#include "kernels/dropout.hpp"

#include "base/contract.hpp"
#include "base/random.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {
namespace {

/// Values that share one block of random numbers.
constexpr int values_per_block = 4;

/// Blocks of a work item: on the host they are made by vector instructions.
template <class Exec>
constexpr int blocks_per_item = is_host_space<Exec> ? 64 : 1;

/// Values of one sample: item = sample * items_per_sample + place in the sample.
template <class Exec>
struct DropoutWork {
  static constexpr int blocks = blocks_per_item<Exec>;
  static constexpr int count = blocks * values_per_block;

  DropoutKey key;
  const std::int64_t* sample_ids = nullptr;
  const std::int64_t* epochs = nullptr;
  const float* x = nullptr;
  float* y = nullptr;

  std::int64_t items_per_sample() const { return (key.size + count - 1) / count; }

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t items = (key.size + count - 1) / count;
    const std::int64_t sample = item / items, place = item % items;
    // Four coordinates, two of which make the seed of the others.
    const std::uint64_t seed = random_u64(key.seed,
                                          RandomPurpose::dropout,
                                          key.tensor,
                                          static_cast<std::uint64_t>(epochs[sample]));
    const auto id = static_cast<std::uint64_t>(sample_ids[sample]);
    const auto first_block = static_cast<std::uint64_t>(place) * blocks;
    float factors[count];
    const float kept = 1 / (1 - key.probability), probability = key.probability;
    for (int block = 0; block < blocks; ++block) {
      const RandomBlock random =
          random_block(seed, RandomPurpose::dropout, id, first_block + block);
      for (int k = 0; k < values_per_block; ++k) {
        const float number = to_unit_float(random.word[k]);
        factors[block * values_per_block + k] = number >= probability ? kept : 0;
      }
    }
    apply(sample * key.size + place * count, key.size - place * count, factors);
  }

 private:
  /// A dropped value is 0 also where x is NaN or Inf.
  KOKKOS_FUNCTION void apply(std::int64_t first,
                             std::int64_t rest,
                             const float* factors) const {
    const float* const in = x + first;
    float* const out = y + first;
    const int size = rest < count ? static_cast<int>(rest) : count;
#pragma GCC ivdep
    for (int i = 0; i < size; ++i) {
      const float value = in[i] * factors[i];
      out[i] = factors[i] <= 0 ? 0 : value;
    }
  }
};

}  // namespace

template <class Exec>
void dropout(const Exec& exec,
             const DropoutKey& key,
             ConstSpan<Exec, std::int64_t> sample_ids,
             ConstSpan<Exec, std::int64_t> epochs,
             ConstSpan<Exec> x,
             Span<Exec> y) {
  CROSSBOW_EXPECT(has_size(sample_ids, key.n) && has_size(epochs, key.n));
  CROSSBOW_EXPECT(has_size(x, key.n * key.size) && has_size(y, x.size()));
  CROSSBOW_EXPECT(0 <= key.probability && key.probability < 1);
  const DropoutWork<Exec> work{key, sample_ids.data(), epochs.data(), x.data(), y.data()};
  launch(exec, "crossbow::dropout", key.n * work.items_per_sample(), work);
}

#define CROSSBOW_INSTANTIATE(Exec)                     \
  template void dropout(const Exec&,                   \
                        const DropoutKey&,             \
                        ConstSpan<Exec, std::int64_t>, \
                        ConstSpan<Exec, std::int64_t>, \
                        ConstSpan<Exec>,               \
                        Span<Exec>);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
