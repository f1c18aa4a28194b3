#pragma once
// How fast a deck's network trains, on the same code path as `crossbow run`, and what of
// that synchronisation takes: the same learners train by turns as the deck says and left
// alone (period "never"), so that a machine that others use, too, slows both.

#include <optional>

#include "driver/prepared_run.hpp"

namespace crossbow {

struct MeasuringTime {
  double window = 1;  // [s], after a third as much of warm-up
  int windows = 3;    // medians are taken over them
};

/// What synchronisation costs.
struct SynchronisationCost {
  double loss = 0;              // share of the throughput of learners left alone
  double seconds = 0;           // of a round [s]; below 0 where noise is larger
  std::optional<double> bytes;  // counted, of a round (averaging/averaging_traffic.hpp)
};

struct Throughput {
  double rounds_per_second = 0;
  std::optional<SynchronisationCost> synchronisation;
};

/// Whether training with `options` can be compared with learners left alone: not where
/// they do not keep in step, or are never synchronised.
bool is_synchronised(const AveragingOptions& options);

/// Measure training with `options`, to no end and without tests; blocks. Rates are 0 in
/// it: small batches might diverge, and speed does not depend on them.
Throughput measure_throughput(const PreparedRun& run,
                              const TrainerOptions& options,
                              const MeasuringTime& time);

/// What measurements train: `options` with this batch, without end, tests and steps of
/// the weights.
TrainerOptions measured_options(TrainerOptions options, int batch);

}  // namespace crossbow
