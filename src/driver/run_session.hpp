#pragma once
// One `crossbow run`: what becomes of a trainer's tests, progress and checkpoints
// (history.csv, tuner.csv, run.json, run.log, checkpoints/, the terminal), and when it is
// told to stop.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <spdlog/logger.h>

#include "base/scoped_timer.hpp"
#include "base/stop_signal.hpp"

#include "io/history_file.hpp"
#include "io/tuner_file.hpp"

#include "driver/checkpoint_writer.hpp"
#include "driver/checkpointing.hpp"
#include "driver/output_folder.hpp"
#include "driver/prepared_run.hpp"
#include "driver/progress_line.hpp"
#include "training/training_observer.hpp"

namespace crossbow {

/// How to go on from an earlier run's checkpoint.
struct ResumeOptions {
  bool resume = false;
  bool override_deck = false;  // although deck or data are not those of the checkpoint
};

class RunSession final : public TrainingObserver {
 public:
  /// Take the output folder; to resume load its newest whole checkpoint, if it has one.
  /// Throws Error(usage) naming the key and both values where that is of another
  /// training.
  RunSession(const PreparedRun& run,
             const ResumeOptions& options,
             const StopSignal& signal,
             const Stopwatch& since_start,
             const Notice& notice);

  /// The state to go on from; none: from the start.
  const TrainingState* state() const { return state_.has_value() ? &*state_ : nullptr; }

  /// How a run ended that had reached its target before it was resumed; none: it goes on.
  std::optional<TrainingEnd> ended_before() const;

  void not_bound() override;
  bool stop_requested() override;
  bool checkpoint_requested() override;
  TestVerdict tested(const TestResult& result) override;
  void progress(const TrainingProgress& progress) override;
  void tuned(const TuningEvent& event) override;
  void checkpoint(TrainingState&& state) override;

  /// Block until the last checkpoint is written; throws its error.
  void finish_checkpoints() { writer_->finish(); }
  /// Write the record's end and print the last line; returns the program's exit status.
  int conclude(const TrainingEnd& end);
  /// The run's figures as data: what --json writes.
  nlohmann::json summary(const TrainingEnd& end) const;
  /// Leave in the log what has been told the user before there was one.
  void log_notices(const std::vector<std::string>& lines);
  /// Leave the error in the log too.
  void log_failure(const std::string& message);

 private:
  void load_checkpoint(const ResumeOptions& options, const Notice& notice);
  void load_weights();
  void tell_of_learners(const std::string& path,
                        const Checkpoint& checkpoint,
                        const Notice& notice) const;
  void open_files(bool going_on);
  void begin_record(bool going_on);

  const PreparedRun& run_;
  OutputFolder output_;
  std::shared_ptr<spdlog::logger> log_;
  std::optional<TrainingState> state_;
  std::optional<HistoryFile> history_;
  std::optional<TunerFile> tuner_;  // none: learners are as many as the deck says
  nlohmann::json record_;
  const StopSignal& signal_;
  const Stopwatch& since_start_;
  Stopwatch since_checkpoint_;
  std::optional<double> job_seconds_;  // after which the job's own limit is near
  ProgressLine progress_line_;
  std::string stop_reason_;
  double best_accuracy_ = -1;
  bool is_best_ = false;  // what the next checkpoint holds
  std::optional<CheckpointWriter> writer_;
};

}  // namespace crossbow
