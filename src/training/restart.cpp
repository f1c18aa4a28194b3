#include "training/restart.hpp"

#include "base/contract.hpp"

namespace crossbow {
bool averages_in_round(std::int64_t round, std::int64_t period) {
  CROSSBOW_EXPECT(round >= 0 && period >= 0);
  return period > 0 && round % period == 0;
}

bool restarts_averaging(const AveragingOptions& options) {
  return options.restart && options.period > 0 && can_restart(options.method);
}

RestartDecision AveragingRestart::next_round(const RestartRound& round) {
  RestartDecision decision;
  if (!enabled_) {
    return decision;
  }
  if (round.rate_changed) {
    decision.before_round = round.previous_averaged;
    pending_ = !round.previous_averaged;
  }
  decision.after_round = pending_ && round.averages;
  if (decision.after_round) {
    pending_ = false;
  }
  return decision;
}

}  // namespace crossbow
