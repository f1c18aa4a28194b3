#pragma once
// What a deck says about how learners are combined: [averaging].

#include <cstdint>
#include <optional>

namespace crossbow {

enum class AveragingMethodName { sma, ssgd };
enum class AlphaRule { automatic, one_over_k, number };

struct AveragingOptions {
  AveragingMethodName method = AveragingMethodName::sma;
  AlphaRule alpha_rule = AlphaRule::automatic;  // "auto" = 1/(k+1), "1/k", or a number
  double alpha = 0;                             // used where alpha_rule is number
  std::optional<double> momentum;               // none: "auto"
  std::int64_t period = 1;                      // rounds between averagings; 0: "never"
  bool restart = true;

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

/// mu: "auto" is 0.9 where the learners have no momentum of their own, else 0.5
/// (DESIGN 2.1).
inline double averaging_momentum_of(const AveragingOptions& options, double eta) {
  return options.momentum.value_or(eta == 0 ? 0.9 : 0.5);
}

/// Whether mean replica and z stay together without any gradient:
/// alpha (k + 1 + mu) < 2 (1 + mu) (DESIGN 2.1).
inline bool is_stable(double alpha, double mu, int k) {
  return alpha * (k + 1 + mu) < 2 * (1 + mu);
}

}  // namespace crossbow
