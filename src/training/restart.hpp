#pragma once
// When averaging restarts (DESIGN 2, "Restart of averaging"). A step policy that changes
// the rate makes w_j = z and z_prev = z: before the first round at the new rate if the
// round before it averaged, else directly after the next averaging round. Only the
// decision is here; the averaging method carries it out.

#include <cstdint>

#include "averaging/averaging_options.hpp"

namespace crossbow {

/// Tell whether round t averages: t mod tau = 0; never if tau is 0 ("never"). Round 0,
/// the start, counts as one that averaged, since all replicas equal z.
bool averages_in_round(std::int64_t round, std::int64_t period);

/// Tell whether this deck ever restarts averaging: only under sma, easgd and reference,
/// and not with period "never".
bool restarts_averaging(const AveragingOptions& options);

/// What is to be known of a round before it starts.
struct RestartRound {
  bool rate_changed = false;       // by a step policy, against the round before
  bool previous_averaged = false;  // averages_in_round(t - 1)
  bool averages = false;           // averages_in_round(t)
};

/// Where a restart belongs; at most one of the two.
struct RestartDecision {
  bool before_round = false;
  bool after_round = false;
};

/// Decides round by round. `pending` is its whole state and part of a checkpoint: a
/// restart that waits for the next averaging round.
class AveragingRestart {
 public:
  explicit AveragingRestart(bool enabled, bool pending = false)
      : enabled_(enabled), pending_(enabled && pending) {}

  /// Decide for the next round; to be called once for each round, in order.
  RestartDecision next_round(const RestartRound& round);

  bool pending() const { return pending_; }

 private:
  bool enabled_;
  bool pending_;
};

}  // namespace crossbow
