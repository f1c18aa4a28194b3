#include "averaging/polyak_ruppert.hpp"

#include "kernels/elementwise.hpp"

#include "averaging/replica_mean.hpp"
#include "model/host_transfer.hpp"

namespace crossbow {

template <class Exec>
PolyakRuppert<Exec>::PolyakRuppert(const Exec& exec,
                                   const MethodOptions& options,
                                   const ReplicaStore<Exec>& store,
                                   const ParameterLayout& layout)
    : store_(store),
      layout_(layout),
      ssgd_(exec, options, store, layout),
      z_(make_buffer(
          exec, "crossbow::average_model", static_cast<std::size_t>(layout.size()))) {}

/// Blocks as ssgd does. The iterate does not change again before all learners have the
/// next round's gradients, and so are done with their shares of the mean.
template <class Exec>
RoundOutcome PolyakRuppert<Exec>::finish_round(int j,
                                               const Exec& exec,
                                               const RoundRule& round) {
  const RoundOutcome outcome = ssgd_.finish_round(j, exec, round);
  if (outcome != RoundOutcome::good) {
    return outcome;
  }
  const Chunk share = share_of_learner(layout_.size(), j, store_.learners());
  const auto size = static_cast<std::size_t>(share.size);
  const float* const iterate = store_.replica(0).w.data();
  move_towards<Exec>(exec,
                     1.0F / static_cast<float>(round.number),
                     ConstSpan<Exec>(iterate + share.offset, size),
                     Span<Exec>(z_.data() + share.offset, size));
  exec.fence("crossbow::polyak_ruppert");
  return outcome;
}

template <class Exec>
void PolyakRuppert<Exec>::save(const Exec& exec, PackedTensors& tensors) const {
  save_vector<Exec>(exec, layout_, "average/", as_span(z_), tensors);
}

template <class Exec>
void PolyakRuppert<Exec>::restore(const Exec& exec,
                                  const NamedTensors& tensors,
                                  std::int64_t /*round*/) {
  load_vector<Exec>(exec, layout_, "average/", tensors, as_span(z_));
}

#define CROSSBOW_INSTANTIATE(Exec) template class PolyakRuppert<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
