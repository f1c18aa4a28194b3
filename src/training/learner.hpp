#pragma once
// A learner: one execution-space instance, one network, one batch slot. It turns a batch
// of the stream into a loss and a gradient; what becomes of the gradient is the averaging
// method's.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "averaging/averaging_method.hpp"
#include "data/batch_stream.hpp"
#include "data/sample_set.hpp"
#include "model/network.hpp"
#include "model/replica.hpp"

namespace crossbow {

template <class Exec>
class Learner {
 public:
  Learner(const Exec& exec,
          const NetworkPlan& plan,
          const NetworkOptions& options,
          const SampleSet& samples,
          const BatchStream& stream);

  const Exec& exec() const { return exec_; }
  const Network<Exec>& network() const { return network_; }

  /// Compute with `weights` (the replica's own or the average model) from now on.
  void bind(const Replica<Exec>& replica, Span<Exec> weights);
  /// Gradient of batch `number` of the stream at the bound weights, written to the
  /// replica's g. Returns the mean loss of the batch; waits for the device for it.
  double compute_gradient(std::int64_t number,
                          GradientListener* listener,
                          LayerObserver<Exec>* observer = nullptr);
  /// Forward pass of batch `number` with other weights, its statistics going to
  /// `statistics` in place of the replica's; enqueued, not waited for.
  void forward_with(Span<Exec> weights, Span<Exec> statistics, std::int64_t number);
  /// Clip the gradient by its norm (DESIGN 2, "Gradient clipping"); enqueued, not waited
  /// for.
  void clip_gradient(double max_norm);
  /// Say where the last batch's forward pass met a NaN or Inf, empty if nowhere: for a
  /// bad loss by running it again layer by layer, with weights that have not changed
  /// since, else in the batch-norm statistics.
  std::string find_bad_forward();
  /// Say which tensor's gradient has a NaN or Inf, last layer first; empty if none has.
  std::string find_bad_gradient() const;

 private:
  std::string find_bad_layer();
  std::string find_bad_statistics() const;
  /// The last tensor of `layout` with a NaN or Inf in `vector`; empty if none has.
  std::string find_bad_tensor(const ParameterLayout& layout, Span<Exec> vector) const;

  Exec exec_;
  Network<Exec> network_;
  BatchFiller<Exec> filler_;
  BatchStream::Cursor cursor_;
  std::int64_t batches_per_epoch_;
  std::vector<std::int64_t> indices_;
  std::vector<float> losses_;
  Batch<Exec> batch_;
  Replica<Exec> replica_;
  Span<Exec> weights_;  // that it computes with
  Buffer<Exec, std::uint32_t> bad_statistics_;
  Buffer<Exec, double> squared_norm_;
  double loss_ = 0;
};

}  // namespace crossbow
