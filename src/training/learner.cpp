#include "training/learner.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/gradient_clip.hpp"

#include "model/host_transfer.hpp"

namespace crossbow {
namespace {

bool all_finite(const std::vector<float>& values) {
  return std::all_of(
      values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

/// Remembers the first layer whose output has a NaN or Inf.
template <class Exec>
class FirstBadLayer final : public LayerObserver<Exec> {
 public:
  explicit FirstBadLayer(const Exec& exec) : exec_(exec) {}

  void forward_done(const std::string& layer, ConstSpan<Exec> y) override {
    if (name.empty() && !all_finite(to_host<Exec, const float>(exec_, y))) {
      name = layer;
    }
  }

  std::string name;

 private:
  Exec exec_;
};

}  // namespace

template <class Exec>
Learner<Exec>::Learner(const Exec& exec,
                       const NetworkPlan& plan,
                       const NetworkOptions& options,
                       const SampleSet& samples,
                       const BatchStream& stream)
    : exec_(exec),
      network_(exec, plan, options),
      filler_(exec, samples, options.batch),
      cursor_(stream),
      batches_per_epoch_(stream.batches_per_epoch()),
      indices_(static_cast<std::size_t>(options.batch)),
      losses_(static_cast<std::size_t>(options.batch)),
      bad_statistics_(make_buffer<std::uint32_t>(exec, "crossbow::bad_statistics", 1)),
      squared_norm_(make_buffer<double>(exec, "crossbow::squared_norm", 1)) {}

template <class Exec>
void Learner<Exec>::bind(const Replica<Exec>& replica, Span<Exec> weights) {
  replica_ = replica;
  weights_ = weights;
  network_.bind(weights, replica.g, replica.statistics);
}

template <class Exec>
double Learner<Exec>::compute_gradient(std::int64_t number,
                                       GradientListener* listener,
                                       LayerObserver<Exec>* observer) {
  cursor_.indices(number, indices_);
  batch_ = filler_.fill(exec_, indices_, number / batches_per_epoch_);
  const BatchResult<Exec>& result = network_.forward(exec_, batch_, true, observer);
  network_.backward(exec_, batch_, listener, observer);
  if (replica_.statistics.size() > 0) {
    check_finite<Exec>(exec_, replica_.statistics, as_span(bad_statistics_));
  }
  Kokkos::deep_copy(
      exec_, HostSpan<Exec, float>(losses_.data(), losses_.size()), result.losses);
  exec_.fence("crossbow::compute_gradient");
  loss_ = std::accumulate(losses_.begin(), losses_.end(), 0.0) /
          static_cast<double>(losses_.size());
  return loss_;
}

template <class Exec>
void Learner<Exec>::forward_with(Span<Exec> weights,
                                 Span<Exec> statistics,
                                 std::int64_t number) {
  cursor_.indices(number, indices_);
  batch_ = filler_.fill(exec_, indices_, number / batches_per_epoch_);
  network_.bind(weights, replica_.g, statistics);
  network_.forward(exec_, batch_, false);
  network_.bind(weights_, replica_.g, replica_.statistics);
}

template <class Exec>
void Learner<Exec>::clip_gradient(double max_norm) {
  crossbow::clip_gradient<Exec>(
      exec_, static_cast<float>(max_norm), replica_.g, as_span(squared_norm_));
}

template <class Exec>
std::string Learner<Exec>::find_bad_forward() {
  return std::isfinite(loss_) ? find_bad_statistics() : find_bad_layer();
}

template <class Exec>
std::string Learner<Exec>::find_bad_statistics() const {
  if (replica_.statistics.size() == 0 ||
      read_scalar<Exec>(exec_, as_span(bad_statistics_)) == 0) {
    return "";
  }
  return "the running statistic " +
         find_bad_tensor(network_.statistics(), replica_.statistics);
}

template <class Exec>
std::string Learner<Exec>::find_bad_layer() {
  FirstBadLayer<Exec> observer(exec_);
  network_.forward(exec_, batch_, false, &observer);
  return observer.name.empty() ? "the loss" : "the output of layer " + observer.name;
}

template <class Exec>
std::string Learner<Exec>::find_bad_gradient() const {
  const std::string tensor = find_bad_tensor(network_.parameters(), replica_.g);
  return tensor.empty() ? "" : "the gradient of " + tensor;
}

template <class Exec>
std::string Learner<Exec>::find_bad_tensor(const ParameterLayout& layout,
                                           Span<Exec> vector) const {
  const std::vector<ParameterSlot>& slots = layout.slots();
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
    const Span<Exec> values(vector.data() + slot->offset,
                            static_cast<std::size_t>(slot->size));
    if (!all_finite(to_host<Exec>(exec_, values))) {
      return slot->name;
    }
  }
  return "";
}

#define CROSSBOW_INSTANTIATE(Exec) template class Learner<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
