#pragma once
// What a deck says about how learners are combined: [averaging].

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace crossbow {

enum class AveragingMethodName {
  sma,
  easgd,
  easgd_async,
  ssgd,
  local_sgd,
  post_local_sgd,
  polyak_ruppert,
  downpour,
  hogwild,
  reference
};

/// Every method with its name in decks, in the order of DESIGN 2.1 to 2.8.
inline constexpr std::array<std::pair<std::string_view, AveragingMethodName>, 10>
    averaging_method_names{{{"sma", AveragingMethodName::sma},
                            {"easgd", AveragingMethodName::easgd},
                            {"easgd_async", AveragingMethodName::easgd_async},
                            {"ssgd", AveragingMethodName::ssgd},
                            {"local_sgd", AveragingMethodName::local_sgd},
                            {"post_local_sgd", AveragingMethodName::post_local_sgd},
                            {"polyak_ruppert", AveragingMethodName::polyak_ruppert},
                            {"downpour", AveragingMethodName::downpour},
                            {"hogwild", AveragingMethodName::hogwild},
                            {"reference", AveragingMethodName::reference}}};

/// Return a method's name in decks.
constexpr std::string_view averaging_method_name(AveragingMethodName method) {
  for (const auto& [name, value] : averaging_method_names) {
    if (value == method) {
      return name;
    }
  }
  return {};
}

/// Whether learners go at their own pace, each taking the next batch of the stream.
constexpr bool is_asynchronous(AveragingMethodName method) {
  return method == AveragingMethodName::easgd_async ||
         method == AveragingMethodName::downpour ||
         method == AveragingMethodName::hogwild;
}

/// Whether replicas are pulled towards z by alpha (DESIGN 2.1, 2.2).
constexpr bool pulls_by_alpha(AveragingMethodName method) {
  return method == AveragingMethodName::sma || method == AveragingMethodName::easgd ||
         method == AveragingMethodName::easgd_async;
}

/// Whether z has a momentum of its own, mu (DESIGN 2.1, 2.8).
constexpr bool has_average_momentum(AveragingMethodName method) {
  return method == AveragingMethodName::sma || method == AveragingMethodName::reference;
}

/// Whether learners are combined every tau rounds.
constexpr bool has_period(AveragingMethodName method) {
  return method != AveragingMethodName::ssgd &&
         method != AveragingMethodName::polyak_ruppert &&
         method != AveragingMethodName::hogwild;
}

/// Whether each learner always has weights and velocity of its own. post_local_sgd has
/// them from some round on.
constexpr bool has_own_weights(AveragingMethodName method) {
  return method != AveragingMethodName::ssgd &&
         method != AveragingMethodName::polyak_ruppert &&
         method != AveragingMethodName::post_local_sgd;
}

/// Whether a step of the rate restarts averaging (DESIGN 2, "Restart of averaging").
constexpr bool can_restart(AveragingMethodName method) {
  return method == AveragingMethodName::sma || method == AveragingMethodName::easgd ||
         method == AveragingMethodName::reference;
}

enum class AlphaRule { automatic, one_over_k, number };

struct AveragingOptions {
  AveragingMethodName method = AveragingMethodName::sma;
  AlphaRule alpha_rule = AlphaRule::automatic;  // "auto" = 1/(k+1), "1/k", or a number
  double alpha = 0;                             // used where alpha_rule is number
  std::optional<double> momentum;               // none: "auto"
  std::int64_t period = 1;                      // rounds between averagings; 0: "never"
  bool restart = true;
  double local_from_epoch = 1;  // post_local_sgd: ssgd before it [epochs]

  bool operator==(const AveragingOptions&) const = default;
};

/// alpha for k learners (DESIGN 2.1).
inline double alpha_of(const AveragingOptions& options, int k) {
  switch (options.alpha_rule) {
    case AlphaRule::automatic:
      return 1.0 / (k + 1);
    case AlphaRule::one_over_k:
      return 1.0 / k;
    case AlphaRule::number:
      break;
  }
  return options.alpha;
}

/// mu: none for elastic averaging; "auto" is 0.9 where the learners have no momentum of
/// their own or there are two levels, else 0.5 (DESIGN 2.1, 2.2).
inline double averaging_momentum_of(const AveragingOptions& options, double eta) {
  if (options.method == AveragingMethodName::easgd ||
      options.method == AveragingMethodName::easgd_async) {
    return 0;
  }
  const bool heavy = eta == 0 || options.method == AveragingMethodName::reference;
  return options.momentum.value_or(heavy ? 0.9 : 0.5);
}

/// Whether mean replica and z stay together without any gradient:
/// alpha (k + 1 + mu) < 2 (1 + mu) (DESIGN 2.1).
inline bool is_stable(double alpha, double mu, int k) {
  return alpha * (k + 1 + mu) < 2 * (1 + mu);
}

/// What alpha must stay below to be stable.
inline double alpha_limit(double mu, int k) {
  return 2 * (1 + mu) / (k + 1 + mu);
}

/// Whether a method that pulls by alpha would drive replicas and z apart with k learners
/// of momentum eta.
inline bool diverges(const AveragingOptions& options, double eta, int k) {
  return pulls_by_alpha(options.method) && options.period > 0 &&
         !is_stable(alpha_of(options, k), averaging_momentum_of(options, eta), k);
}

}  // namespace crossbow
