#include "averaging/averaging_traffic.hpp"

#include <numeric>

namespace crossbow {
namespace {

/// Arrays that an averaging of sma reads and writes beyond the steps. On one device the
/// last learner at a chunk adds its corrections from registers (sma_step_and_average):
///   k - 1 learners: z in, c_j out;  the last: z, k - 1 corrections, z_prev in, z' out.
/// On several, every learner stores its corrections (sma_step), each device adds them up
/// (add_in_order: sum and summands in, sum out), and the root makes z' of one sum.
double arrays_of_sma(const std::vector<int>& learners_of_device, int k) {
  if (learners_of_device.size() == 1) {
    return 2 * (k - 1) + (1 + (k - 1) + 1 + 1);
  }
  double arrays = 2 * k;
  for (const int own : learners_of_device) {
    arrays += own > 1 ? own + 1 : 0;
  }
  const double edges = static_cast<double>(learners_of_device.size()) - 1;
  return arrays + 3 * edges + 4;  // average_update: sum, z, z_prev in, z' out
}

/// Each learner takes the mean of its share: all w_j in, z out; then each copies z to its
/// w_j.
double arrays_of_local_sgd(int k) {
  return (k + 1) + 2 * k;
}

/// In every round q_d in and c_j out (sma_step), then corrections and q_d in, q_d out
/// (average_update); across devices q_d, z, z_prev in and out (reference_average).
double arrays_of_reference(int k, double devices, double period) {
  return 2 * k + (k + 2 * devices) + (2 * devices + 4) / period;
}

}  // namespace

std::optional<double> averaging_bytes(const AveragingOptions& options,
                                      const std::vector<int>& learners_of_device,
                                      std::int64_t elements) {
  if (options.period == 0) {
    return std::nullopt;
  }
  const int k = std::accumulate(learners_of_device.begin(), learners_of_device.end(), 0);
  const auto devices = static_cast<double>(learners_of_device.size());
  const auto period = static_cast<double>(options.period);
  const double vector = sizeof(float) * static_cast<double>(elements);
  switch (options.method) {
    case AveragingMethodName::sma:
    case AveragingMethodName::easgd:
      return vector * arrays_of_sma(learners_of_device, k) / period;
    case AveragingMethodName::local_sgd:
      return vector * arrays_of_local_sgd(k) / period;
    case AveragingMethodName::reference:
      return vector * arrays_of_reference(k, devices, period);
    default:
      return std::nullopt;
  }
}

}  // namespace crossbow
