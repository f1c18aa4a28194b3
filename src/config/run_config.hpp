#pragma once
// Everything a deck says, typed and checked. The only folder that knows the names of
// keys.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topology/device_options.hpp"

#include "averaging/averaging_options.hpp"
#include "data/data_options.hpp"
#include "model/model_options.hpp"
#include "training/training_options.hpp"

namespace crossbow {

struct RunOptions {
  std::string name;    // none given: the deck's file name without its ending
  std::string output;  // none given: "output/<name>"
  std::uint64_t seed = 1;
  std::optional<double> time_limit;    // [s]
  std::optional<double> memory_limit;  // [bytes]

  bool operator==(const RunOptions&) const = default;
};

/// What becomes of a run whose checkpoint cannot be written.
enum class WriteErrorPolicy { stop, go_on };

struct CheckpointOptions {
  double every_epochs = 0;   // 0: only at the end
  double every_minutes = 0;  // of the clock; 0: whatever the time
  int keep = 2;              // newest files kept
  bool best = false;         // keep the one with the best test as best.h5, too
  WriteErrorPolicy on_write_error = WriteErrorPolicy::stop;

  bool operator==(const CheckpointOptions&) const = default;
};

struct RunConfig {
  RunOptions run;
  DataOptions data;
  ModelOptions model;
  TrainingOptions training;
  OptimizerOptions optimizer;
  AveragingOptions averaging;
  LearnerOptions learners;
  AutotuneOptions autotune;
  DeviceOptions devices;
  CheckpointOptions checkpoint;
  std::string effective_deck;  // TOML text of all keys with the values in force

  bool operator==(const RunConfig&) const = default;
};

/// Read `path` and the overrides "section.key=value"; throw Error(usage) with all
/// complaints at once, a line each, where the deck is not valid.
RunConfig read_run_config(const std::string& path,
                          const std::vector<std::string>& overrides);

/// The same from the text of a deck; `name` stands for the file in messages.
RunConfig parse_run_config(const std::string& text,
                           const std::string& name,
                           const std::vector<std::string>& overrides);

/// The reference of every key as Markdown: what inputs/README.md holds.
std::string key_reference();

}  // namespace crossbow
