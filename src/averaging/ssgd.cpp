#include "averaging/ssgd.hpp"

#include <algorithm>

#include "averaging/replica_mean.hpp"

namespace crossbow {

/// Learner j's gradients are summed as soon as all learners have them.
template <class Exec>
class Ssgd<Exec>::Listener final : public GradientListener {
 public:
  Listener(Ssgd& method, const Exec& exec) : method_(method), exec_(exec) {}

  void gradient_ready(std::int64_t offset, std::int64_t size) override {
    method_.add_up(exec_, offset, size);
  }

 private:
  Ssgd& method_;
  Exec exec_;
};

template <class Exec>
Ssgd<Exec>::Ssgd(const Exec& exec,
                 const MethodOptions& options,
                 const ReplicaStore<Exec>& store,
                 const ParameterLayout& layout)
    : store_(store),
      layout_(layout),
      clips_(options.clips),
      arrivals_(layout.slots().size()),
      rendezvous_(store.learners()) {
  if (store.learners() > 1) {
    mean_gradient_ = make_buffer(
        exec, "crossbow::mean_gradient", static_cast<std::size_t>(layout.size()));
  }
}

template <class Exec>
std::unique_ptr<GradientListener> Ssgd<Exec>::make_listener(int, const Exec& exec) {
  return clips_ ? nullptr : std::make_unique<Listener>(*this, exec);
}

template <class Exec>
void Ssgd<Exec>::add_up(const Exec& exec, std::int64_t offset, std::int64_t size) {
  exec.fence("crossbow::ssgd");
  const auto tensor =
      static_cast<std::size_t>(&layout_.slot_at(offset) - layout_.slots().data());
  const std::int64_t k = store_.learners();
  if ((arrivals_[tensor].fetch_add(1, std::memory_order_acq_rel) + 1) % k != 0) {
    return;
  }
  // Only the first learner's flag is raised: the sum is everybody's.
  const NotFiniteFlag<Exec> flag = store_.replica(0).not_finite;
  const Span<Exec> mean(gradient() + offset, static_cast<std::size_t>(size));
  if (k == 1) {
    check_finite<Exec>(exec, mean, flag);
  } else {
    const float share = 1.0F / static_cast<float>(k);
    scaled_sum<Exec>(exec, share, store_.all_gradients(offset), mean, flag);
  }
  exec.fence("crossbow::ssgd");
}

template <class Exec>
void Ssgd<Exec>::step_own_share(int j, const Exec& exec, const StepRule& rule) {
  const Chunk share = share_of_learner(layout_.size(), j, store_.learners());
  const auto part = [&](float* vector) {
    return Span<Exec>(vector + share.offset, static_cast<std::size_t>(share.size));
  };
  const Replica<Exec> z = store_.replica(0);
  sgd_update<Exec>(
      exec, rule, part(gradient()), part(z.w.data()), part(z.v.data()), z.not_finite);
  exec.fence("crossbow::ssgd");
}

/// Blocks until all learners have their gradients, and again until all shares of z are
/// new. With several learners a bad mean stops everybody before z is touched; whose
/// gradient it was is for the trainer to find out.
template <class Exec>
RoundOutcome Ssgd<Exec>::finish_round(int j, const Exec& exec, const RoundRule& round) {
  if (clips_) {
    for (const ParameterSlot& slot : layout_.slots()) {
      add_up(exec, slot.offset, slot.size);
    }
  }
  rendezvous_.arrive_and_wait();
  if (is_bad(exec)) {
    return RoundOutcome::bad_somewhere;
  }
  // All have looked before anybody's step can raise the flag again.
  rendezvous_.arrive_and_wait();
  step_own_share(j, exec, round.step);
  rendezvous_.arrive_and_wait();
  return is_bad(exec) ? RoundOutcome::bad_somewhere : RoundOutcome::good;
}

template <class Exec>
bool Ssgd<Exec>::is_bad(const Exec& exec) const {
  return read_scalar<Exec>(exec, store_.replica(0).not_finite) != 0;
}

template <class Exec>
void Ssgd<Exec>::save(const Exec& exec, PackedTensors& tensors) const {
  save_vector<Exec>(exec, layout_, "average/", store_.replica(0).w, tensors);
}

template <class Exec>
void Ssgd<Exec>::restore(const Exec&, const NamedTensors&, std::int64_t) {}

#define CROSSBOW_INSTANTIATE(Exec) template class Ssgd<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
