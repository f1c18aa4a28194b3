#pragma once
// What the parts of a trainer are made from: its options, each in a part's own words.

#include "averaging/averaging_method.hpp"
#include "data/batch_stream.hpp"
#include "model/network.hpp"
#include "training/round_schedule.hpp"
#include "training/trainer.hpp"

namespace crossbow {

/// Where a training goes on from `state`; none: from the start.
TrainingStart start_of(const TrainerOptions& o, const TrainingState* state);
ScheduleInput schedule_input(const TrainerOptions& o,
                             const BatchStream& stream,
                             const TrainingStart& start);
NetworkOptions network_options(const TrainerOptions& o);
MethodOptions method_options(const TrainerOptions& o, const RoundSchedule& schedule);

}  // namespace crossbow
