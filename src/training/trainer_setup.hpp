#pragma once
// What the parts of a trainer are made from: its options, each in a part's own words.

#include "averaging/averaging_method.hpp"
#include "data/batch_stream.hpp"
#include "model/network.hpp"
#include "training/round_schedule.hpp"
#include "training/trainer.hpp"

namespace crossbow {

/// Carry a state of another batch or data set over to this stream: it goes on after as
/// many epochs, rounded up to whole batches.
TrainingState in_this_stream(TrainingState state,
                             const TrainerOptions& o,
                             const BatchStream& stream);
ScheduleInput schedule_input(const TrainerOptions& o,
                             const BatchStream& stream,
                             const TrainingStart& start);
NetworkOptions network_options(const TrainerOptions& o);
MethodOptions method_options(const TrainerOptions& o, const RoundSchedule& schedule);

/// Give the calling thread the cores of learner j and its number of OpenMP threads; false
/// where learners are to be bound and it could not be.
bool settle_thread(const TrainerOptions& o, int j);

}  // namespace crossbow
