#include "kernels/dropout.hpp"

#include "base/contract.hpp"
#include "base/random.hpp"

#include "kernels/element_loop.hpp"

namespace crossbow {
namespace {

/// Values that share one block of random numbers.
constexpr std::int64_t values_per_block = 4;

/// One sample's values [4 block, 4 block + 4): item = sample * blocks + block.
struct DropoutBlock {
  DropoutKey key;
  std::int64_t blocks;  // per sample
  const std::int64_t* sample_ids;
  const std::int64_t* epochs;
  const float* x;
  float* y;

  KOKKOS_FUNCTION void operator()(std::int64_t item) const {
    const std::int64_t sample = item / blocks, block = item % blocks;
    // Four coordinates, two of which make the seed of the others.
    const std::uint64_t seed = random_u64(key.seed,
                                          RandomPurpose::dropout,
                                          key.tensor,
                                          static_cast<std::uint64_t>(epochs[sample]));
    const RandomBlock random =
        random_block(seed,
                     RandomPurpose::dropout,
                     static_cast<std::uint64_t>(sample_ids[sample]),
                     static_cast<std::uint64_t>(block));
    const float factor = 1 / (1 - key.probability);
    const std::int64_t first = block * values_per_block;
    const std::int64_t rest = key.size - first;
    const std::int64_t count = rest < values_per_block ? rest : values_per_block;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t i = sample * key.size + first + k;
      const bool kept = to_unit_float(random.word[k]) >= key.probability;
      y[i] = kept ? x[i] * factor : 0;
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
  const std::int64_t blocks = (key.size + values_per_block - 1) / values_per_block;
  launch(exec,
         "crossbow::dropout",
         key.n * blocks,
         DropoutBlock{key, blocks, sample_ids.data(), epochs.data(), x.data(), y.data()});
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
