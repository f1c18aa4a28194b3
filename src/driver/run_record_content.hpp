#pragma once
// What run.json says of a run.

#include <nlohmann/json.hpp>

#include "driver/prepared_run.hpp"
#include "training/trainer.hpp"

namespace crossbow {

/// Deck, build, machine, placement, data and seeds: known before the first round.
nlohmann::json run_record_head(const PreparedRun& run);

/// Rounds, samples, timings and peak memory: known at the end.
nlohmann::json run_record_result(const TrainingEnd& end, const Topology& topology);

}  // namespace crossbow
