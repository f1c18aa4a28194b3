#pragma once
// How learners are combined: the one interface of all averaging methods (DESIGN 2.1
// to 2.8). A newcomer adds a method in one file and a line in make_averaging_method.
//
// Learner threads call the per-learner functions at their own pace; the method makes them
// wait only for what its formulas need. Functions said to be called "at rest" are called
// by one thread while all learners stand at a barrier after the same round.

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/sgd_update.hpp"
#include "kernels/spaces.hpp"
#include "topology/reduction_tree.hpp"

#include "averaging/averaging_options.hpp"
#include "averaging/reduction_executor.hpp"
#include "model/host_transfer.hpp"
#include "model/network.hpp"
#include "model/parameter_layout.hpp"
#include "model/replica.hpp"

namespace crossbow {

/// What a learner must know of a round to end it.
struct RoundRule {
  std::int64_t number = 1;  // t, from 1
  StepRule step;            // rate, eta, lambda
  bool averages = true;     // t mod tau = 0
};

/// How a learner's round ended.
enum class RoundOutcome {
  good,
  bad_here,      // the learner's gradient, correction or new weights have a NaN or Inf
  bad_somewhere  // what all learners have together has one
};

/// What a learner's own numbers say of its round so far; waits for `exec`.
template <class Exec>
RoundOutcome outcome_of(const Exec& exec, const Replica<Exec>& own) {
  return read_scalar<Exec>(exec, own.not_finite) == 0 ? RoundOutcome::good
                                                      : RoundOutcome::bad_here;
}

/// A learner's step by itself (DESIGN 2), and how it ended; waits for `exec`.
template <class Exec>
RoundOutcome step_alone(const Exec& exec,
                        const StepRule& rule,
                        const Replica<Exec>& own) {
  sgd_update<Exec>(exec, rule, own.g, own.w, own.v, own.not_finite);
  return outcome_of(exec, own);
}

template <class Exec>
class AveragingMethod {
 public:
  AveragingMethod() = default;
  AveragingMethod(const AveragingMethod&) = delete;
  AveragingMethod& operator=(const AveragingMethod&) = delete;
  virtual ~AveragingMethod() = default;

  /// The weights that learner j computes with: its own, or the average model itself.
  virtual Span<Exec> weights(int j) = 0;
  /// Make who is told of learner j's gradients during backward, or nobody. Outlived by
  /// the method.
  virtual std::unique_ptr<GradientListener> make_listener(int /*j*/,
                                                          const Exec& /*exec*/) {
    return nullptr;
  }
  /// Learner j is about to compute the gradient of the round. True where weights(j) is
  /// another array than before: the caller binds it and makes a new listener.
  virtual bool begin_round(int /*j*/, const Exec& /*exec*/, const RoundRule& /*round*/) {
    return false;
  }
  /// Learner j has its gradient of the round: make the step and the method's share of
  /// averaging. Blocks where the method says so; throws Aborted after abort(). A round
  /// whose outcome is not good for every learner is never tested or saved.
  virtual RoundOutcome finish_round(int j, const Exec& exec, const RoundRule& round) = 0;

  /// At rest: make z what is to be tested or saved.
  virtual void collect(const Exec& /*exec*/) {}
  /// At rest: z, parameters().size() elements, valid until the next round.
  virtual Span<Exec> average() const = 0;
  /// How many learners have weights and velocities of their own: k, or 1 where all use z.
  virtual int distinct_replicas() const = 0;
  /// At rest: w_j = z for all learners, no momentum of z (DESIGN 2, "Restart of
  /// averaging").
  virtual void restart(const Exec& /*exec*/) {}

  /// At rest: all state but replicas' w and v, by name ("average/<tensor>" and so on).
  virtual void save(const Exec& exec, PackedTensors& tensors) const = 0;
  /// Learner j's own thread, before anything else: touch the method's memory that is to
  /// lie near j.
  virtual void touch(int /*j*/, const Exec& /*exec*/) {}
  /// At rest, before the first round, with weights and velocities of the replicas in
  /// place: continue after `round` rounds.
  virtual void restore(const Exec& exec,
                       const NamedTensors& tensors,
                       std::int64_t round) = 0;

  /// At rest: the edges of the tree over which sums have travelled; none where the method
  /// does not use one.
  virtual std::vector<ExecutedEdge> executed_edges() const { return {}; }

  /// Wake all learners that wait; they leave by Aborted.
  virtual void abort() noexcept = 0;
};

/// What a method works on.
struct MethodOptions {
  AveragingOptions averaging;
  double eta = 0;      // momentum of the learners, which "auto" momentum of z depends on
  ReductionTree tree;  // over the devices
  std::vector<int> learners_of_device;  // in order; none: as many on each
  std::int64_t local_from_round = 1;    // post_local_sgd: the first round of local_sgd
  bool clips = false;  // gradients change once more when backward has ended
};

/// How many of k learners each device of `options` has.
std::vector<int> learners_of_device(const MethodOptions& options, int k);

/// Throw Error(usage) where devices have unequal numbers of learners and `method` has one
/// alpha for all devices (reference, DESIGN 2.8).
void check_equal_devices(AveragingMethodName method, const std::vector<int>& learners);

/// The method of `options`; the store and the layout outlive it. Throws Error(usage)
/// where devices have unequal numbers of learners and the method (reference) needs equal
/// ones.
template <class Exec>
std::unique_ptr<AveragingMethod<Exec>> make_averaging_method(
    const Exec& exec,
    const MethodOptions& options,
    const ReplicaStore<Exec>& store,
    const ParameterLayout& layout);

}  // namespace crossbow
