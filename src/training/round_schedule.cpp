#include "training/round_schedule.hpp"

#include <algorithm>

namespace crossbow {

namespace {

/// A distance in epochs as samples: at least one, unless it is 0 and means never.
std::int64_t to_distance(double epochs, std::int64_t samples_per_epoch) {
  return epochs > 0 ? std::max<std::int64_t>(1, to_samples(epochs, samples_per_epoch))
                    : 0;
}

}  // namespace

RoundSchedule::RoundSchedule(const ScheduleInput& input)
    : input_(input),
      rate_(input.optimizer, input.training.epochs, input.samples_per_epoch),
      samples_per_round_(static_cast<std::int64_t>(input.learners) *
                         input.training.batch),
      test_every_(to_distance(input.training.test_every, input.samples_per_epoch)),
      checkpoint_every_(to_distance(input.checkpoint_epochs, input.samples_per_epoch)) {
  rounds_ = std::max<std::int64_t>(
      1, rounds_to(to_samples(input.training.epochs, input.samples_per_epoch)));
}

/// The first number of rounds after which so many samples have been taken.
std::int64_t RoundSchedule::rounds_to(std::int64_t samples) const {
  const std::int64_t left = std::max<std::int64_t>(0, samples - input_.start.samples);
  return input_.start.round + (left + samples_per_round_ - 1) / samples_per_round_;
}

double RoundSchedule::epochs_after(std::int64_t round) const {
  return static_cast<double>(samples_after(round)) /
         static_cast<double>(input_.samples_per_epoch);
}

std::int64_t RoundSchedule::first_round_after(double epochs) const {
  const std::int64_t samples = to_samples(epochs, input_.samples_per_epoch);
  const bool is_past =
      input_.start.round > 0 && samples <= samples_after(input_.start.round - 1);
  return is_past ? input_.start.round : rounds_to(samples) + 1;
}

/// Whether round t is the first to reach a multiple of `every` samples; 0: there are
/// none.
bool RoundSchedule::reaches(std::int64_t every, std::int64_t t) const {
  return every > 0 && samples_after(t) / every > samples_after(t - 1) / every;
}

RoundPlan RoundSchedule::plan(std::int64_t t) const {
  const std::int64_t before = samples_after(t - 1);
  const OptimizerOptions& o = input_.optimizer;
  RoundPlan plan;
  plan.rate = rate_.at(before);
  plan.rule.number = t;
  plan.rule.step = {static_cast<float>(plan.rate),
                    static_cast<float>(o.momentum),
                    static_cast<float>(o.weight_decay),
                    o.nesterov};
  plan.rule.averages = averages_in_round(t, input_.averaging.period);
  plan.restart.rate_changed = t > 1 && rate_.steps_between(samples_after(t - 2), before);
  plan.restart.previous_averaged = averages_in_round(t - 1, input_.averaging.period);
  plan.restart.averages = plan.rule.averages;
  plan.test = tests_after(t);
  plan.checkpoint = saves_after(t);
  return plan;
}

}  // namespace crossbow
