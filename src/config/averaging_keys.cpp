#include <utility>

#include "config/key_groups.hpp"

namespace crossbow {
namespace {

/// A key that only some methods use; `condition` says which.
template <bool (*uses)(AveragingMethodName)>
KeyBinding only_for(KeyBinding binding, const std::string& condition) {
  return only_if(
      std::move(binding),
      [](const RunConfig& c) { return uses(c.averaging.method); },
      "with method = " + condition,
      "method");
}

KeyBinding alpha_key() {
  const auto read = [](const DeckValue& value, RunConfig& config) {
    AveragingOptions& averaging = config.averaging;
    if (const auto* word = std::get_if<std::string>(&value)) {
      averaging.alpha_rule =
          *word == "1/k" ? AlphaRule::one_over_k : AlphaRule::automatic;
    } else {
      averaging.alpha_rule = AlphaRule::number;
      averaging.alpha = std::get<double>(value);
    }
  };
  const auto show = [](const RunConfig& config) {
    switch (config.averaging.alpha_rule) {
      case AlphaRule::automatic:
        return toml_text("auto");
      case AlphaRule::one_over_k:
        return toml_text("1/k");
      case AlphaRule::number:
        break;
    }
    return toml_text(config.averaging.alpha);
  };
  return {
      {.section = "averaging",
       .key = "alpha",
       .type = KeyType::number,
       .range = above_to(0, 2),
       .words = {"1/k", "auto"},
       .help = "Share of a replica's distance from the average model that a correction "
               "takes; "
               "`\"auto\"` is 1/(k+1) for k learners. With averaging momentum m it must "
               "satisfy alpha (k + 1 + m) < 2 (1 + m)."},
      read,
      show};
}

KeyBinding momentum_key() {
  return bind_or_word<RunConfig>(
      {.section = "averaging",
       .key = "momentum",
       .type = KeyType::number,
       .range = from_to_below(0, 1),
       .help = "Momentum of the average model; `\"auto\"` is 0.9 where "
               "`optimizer.momentum` is 0 or the method is `reference`, else 0.5."},
      "auto",
      std::optional<double>(),
      [](auto& c) -> auto& { return c.averaging.momentum; });
}

KeyBinding period_key() {
  return bind_or_word<RunConfig>(
      {.section = "averaging",
       .key = "period",
       .type = KeyType::integer,
       .range = at_least(1),
       .unit = "rounds",
       .help = "Rounds from one averaging to the next; `\"never\"`: only "
               "for tests, checkpoints and the end."},
      "never",
      std::int64_t{0},
      [](auto& c) -> auto& { return c.averaging.period; });
}

KeyBinding method_key() {
  const EnumNames<AveragingMethodName> methods(averaging_method_names.begin(),
                                               averaging_method_names.end());
  return bind_names<RunConfig>(
      {.section = "averaging",
       .key = "method",
       .help = "`sma`: synchronous model averaging; `easgd`: the same without momentum; "
               "`easgd_async`: each learner at its own pace; `ssgd`: the mean of the "
               "learners' gradients; `local_sgd`: every `period` rounds all replicas "
               "become their mean; `post_local_sgd`: `ssgd`, then `local_sgd`; "
               "`polyak_ruppert`: the mean of `ssgd`'s iterates; `downpour`: an "
               "asynchronous parameter server; `hogwild`: one model without locks, host "
               "only; `reference`: two levels, inside a device and across devices."},
      methods,
      [](auto& c) -> auto& { return c.averaging.method; });
}

}  // namespace

KeyBindings averaging_keys() {
  return {
      method_key(),
      only_for<pulls_by_alpha>(alpha_key(), R"("sma", "easgd" or "easgd_async")"),
      only_for<has_average_momentum>(momentum_key(), R"("sma" or "reference")"),
      only_for<has_period>(
          period_key(),
          R"("sma", "easgd", "easgd_async", "local_sgd", "post_local_sgd", "downpour" )"
          R"(or "reference")"),
      only_for<can_restart>(
          key(
              {.section = "averaging",
               .key = "restart",
               .type = KeyType::boolean,
               .help = "Set every replica to the average model where a step of the "
                       "schedule changes the rate."},
              [](auto& c) -> auto& { return c.averaging.restart; }),
          R"("sma", "easgd" or "reference")"),
      only_if(
          key(
              {.section = "averaging",
               .key = "local_from_epoch",
               .type = KeyType::number,
               .range = from_to(0, longest),
               .unit = "epochs",
               .help = "Where `local_sgd` begins; `ssgd` before it."},
              [](auto& c) -> auto& { return c.averaging.local_from_epoch; }),
          [](const RunConfig& c) {
            return c.averaging.method == AveragingMethodName::post_local_sgd;
          },
          "with method = \"post_local_sgd\"",
          "method"),
  };
}

}  // namespace crossbow
