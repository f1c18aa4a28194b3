#include <algorithm>

#include "config/key_groups.hpp"

namespace crossbow {
namespace {

KeyBindings step_keys() {
  return {
      key(
          {.section = "optimizer",
           .key = "learning_rate",
           .type = KeyType::number,
           .range = at_least(0),
           .help = "Learning rate, before the schedule changes it."},
          [](auto& c) -> auto& { return c.optimizer.learning_rate; }),
      key(
          {.section = "optimizer",
           .key = "momentum",
           .type = KeyType::number,
           .range = from_to_below(0, 1),
           .help = "Momentum of each learner: v = momentum v + gradient."},
          [](auto& c) -> auto& { return c.optimizer.momentum; }),
      key(
          {.section = "optimizer",
           .key = "nesterov",
           .type = KeyType::boolean,
           .help =
               "Apply the gradient plus momentum times the new velocity instead of the "
               "velocity."},
          [](auto& c) -> auto& { return c.optimizer.nesterov; }),
      key(
          {.section = "optimizer",
           .key = "gradient_clip",
           .type = KeyType::number,
           .range = at_least(0),
           .help = "Largest norm of a learner's gradient, before weight decay is added; "
                   "a longer one is shortened to it; 0: any."},
          [](auto& c) -> auto& { return c.optimizer.gradient_clip; }),
      key(
          {.section = "optimizer",
           .key = "weight_decay",
           .type = KeyType::number,
           .range = at_least(0),
           .help =
               "Factor of the weights that is added to the gradient, on every tensor."},
          [](auto& c) -> auto& { return c.optimizer.weight_decay; }),
  };
}

/// A key of the schedule that only `policies` have; `condition` says so.
KeyBinding of_policies(KeyBinding binding,
                       const std::vector<SchedulePolicy>& policies,
                       std::string condition) {
  const auto applies = [policies](const RunConfig& c) {
    return std::find(policies.begin(), policies.end(), c.optimizer.schedule.policy) !=
           policies.end();
  };
  return only_if(std::move(binding), applies, std::move(condition), "policy");
}

KeyBinding policy_key() {
  using P = SchedulePolicy;
  const EnumNames<P> policies = {{"fixed", P::fixed},
                                 {"multistep", P::multistep},
                                 {"step", P::step},
                                 {"exponential", P::exponential},
                                 {"inverse", P::inverse},
                                 {"polynomial", P::polynomial},
                                 {"cosine", P::cosine}};
  return bind_names<RunConfig>(
      {.section = "optimizer.schedule",
       .key = "policy",
       .help = "With e epochs done after the warm-up, p the share of those that are to "
               "be done and r the learning rate: `multistep` r times `gamma` at each of "
               "`steps`; `step` r times `gamma` every `size` epochs; `exponential` "
               "r gamma^e; `inverse` r (1 + gamma e)^-power; `polynomial` r (1 - "
               "p)^power; "
               "`cosine` from r down to `minimum` as half a cosine."},
      policies,
      [](auto& c) -> auto& { return c.optimizer.schedule.policy; });
}

KeyBindings policy_parameter_keys() {
  using P = SchedulePolicy;
  return {
      of_policies(
          key(
              {.section = "optimizer.schedule",
               .key = "steps",
               .type = KeyType::number_list,
               .range = above_to(0, longest),
               .least_size = 1,
               .most_size = 1000,
               .unit = "epochs",
               .default_text = "must be given",
               .help = "Where the rate changes, increasing, counted from the start; "
                       "fractions are allowed."},
              [](auto& c) -> auto& { return c.optimizer.schedule.steps; }),
          {P::multistep},
          "with policy = \"multistep\""),
      of_policies(
          key(
              {.section = "optimizer.schedule",
               .key = "gamma",
               .type = KeyType::number,
               .range = above(0),
               .help = "Factor of the learning rate at each step; `exponential`: in "
                       "each epoch; `inverse`: what is multiplied by the epochs."},
              [](auto& c) -> auto& { return c.optimizer.schedule.gamma; }),
          {P::multistep, P::step, P::exponential, P::inverse},
          "with policy = \"multistep\", \"step\", \"exponential\" or \"inverse\""),
      of_policies(key(
                      {.section = "optimizer.schedule",
                       .key = "size",
                       .type = KeyType::number,
                       .range = from_to(1e-6, longest),
                       .unit = "epochs",
                       .help = "From one step to the next; fractions are allowed."},
                      [](auto& c) -> auto& { return c.optimizer.schedule.size; }),
                  {P::step},
                  "with policy = \"step\""),
      of_policies(key(
                      {.section = "optimizer.schedule",
                       .key = "power",
                       .type = KeyType::number,
                       .range = above(0),
                       .help = "See `policy`."},
                      [](auto& c) -> auto& { return c.optimizer.schedule.power; }),
                  {P::inverse, P::polynomial},
                  "with policy = \"inverse\" or \"polynomial\""),
      of_policies(key(
                      {.section = "optimizer.schedule",
                       .key = "minimum",
                       .type = KeyType::number,
                       .range = at_least(0),
                       .help = "The learning rate at the end."},
                      [](auto& c) -> auto& { return c.optimizer.schedule.minimum; }),
                  {P::cosine},
                  "with policy = \"cosine\""),
  };
}

KeyBindings warmup_keys() {
  return {
      key(
          {.section = "optimizer.schedule",
           .key = "warmup_epochs",
           .type = KeyType::number,
           .range = from_to(0, longest),
           .unit = "epochs",
           .help = "Time in which the rate rises linearly to its first value; part of "
                   "`training.epochs`; fractions are allowed."},
          [](auto& c) -> auto& { return c.optimizer.schedule.warmup_epochs; }),
      only_if(
          key(
              {.section = "optimizer.schedule",
               .key = "warmup_factor",
               .type = KeyType::number,
               .range = from_to(0, 1),
               .help = "Share of the rate that the warm-up starts at."},
              [](auto& c) -> auto& { return c.optimizer.schedule.warmup_factor; }),
          [](const RunConfig& c) { return c.optimizer.schedule.warmup_epochs > 0; },
          "with warmup_epochs above 0",
          "warmup_epochs"),
  };
}

}  // namespace

KeyBindings optimizer_keys() {
  KeyBindings all = step_keys();
  all.push_back(policy_key());
  for (const KeyBindings& keys : {policy_parameter_keys(), warmup_keys()}) {
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

}  // namespace crossbow
