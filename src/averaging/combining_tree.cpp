#include "averaging/combining_tree.hpp"

namespace crossbow {

template <class Exec>
CombiningTree<Exec>::CombiningTree(const Exec& exec,
                                   const ReductionTree& tree,
                                   const std::vector<int>& learners_of_device,
                                   std::int64_t elements)
    : elements_(elements),
      ledger_(tree, learners_of_device, elements, reduction_chunk_elements) {
  c_ = Buffer<Exec>(
      Kokkos::view_alloc(exec, "crossbow::corrections", Kokkos::WithoutInitializing),
      static_cast<std::size_t>(ledger_.learners() * elements));
}

template <class Exec>
void CombiningTree<Exec>::bring(int j,
                                const Exec& exec,
                                const Chunk& chunk,
                                std::int32_t turn,
                                AverageUpdate<Exec> average) {
  const bool is_flat = ledger_.tree().devices() == 1;
  for (int device = ledger_.device_of(j); ledger_.arrive(chunk.index, turn, device);
       device = ledger_.tree().parent[static_cast<std::size_t>(device)]) {
    // On one device the sum and z are made in one pass.
    if (!is_flat) {
      add_up(device, exec, chunk);
    }
    if (device == ledger_.tree().root) {
      average.corrections = all_corrections(chunk);
      if (!is_flat) {
        average.corrections = {
            corrections(ledger_.first_learner(device), chunk).data(), elements_, 1};
      }
      average_update<Exec>(exec, average);
      exec.fence("crossbow::combining_tree");
      ledger_.complete(chunk.index, turn);
      return;
    }
  }
}

template <class Exec>
void CombiningTree<Exec>::add_up(int device, const Exec& exec, const Chunk& chunk) {
  const Span<Exec> sum = corrections(ledger_.first_learner(device), chunk);
  add_in_order<Exec>(
      exec, {sum.data() + elements_, elements_, ledger_.learners_of(device) - 1}, sum);
  for (const int child : ledger_.tree().children[static_cast<std::size_t>(device)]) {
    const Span<Exec> below = corrections(ledger_.first_learner(child), chunk);
    add_in_order<Exec>(exec, {below.data(), elements_, 1}, sum);
    ledger_.note_added(child, device);
  }
  exec.fence("crossbow::combining_tree");
}

#define CROSSBOW_INSTANTIATE(Exec) template class CombiningTree<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
