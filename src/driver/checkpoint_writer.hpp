#pragma once
// Writes checkpoints in a thread of its own, from a copy, while training goes on.

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include <spdlog/logger.h>

#include "io/checkpoint_file.hpp"

#include "config/run_config.hpp"

namespace crossbow {

class CheckpointWriter {
 public:
  /// For the checkpoints of a run in `folder`. Files that are written are noted in `log`,
  /// those that could not be on stderr, too.
  CheckpointWriter(std::string folder,
                   const CheckpointOptions& options,
                   std::shared_ptr<spdlog::logger> log);
  /// Waits for what is being written.
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  CheckpointWriter(CheckpointWriter&&) = delete;
  CheckpointWriter& operator=(CheckpointWriter&&) = delete;

  /// What the writing thread calls once for what it is to write.
  using MakeCheckpoint = std::function<Checkpoint()>;

  /// Take the state after `round` to be written; returns at once unless one before it is
  /// still being written. Where that failed and checkpoint.on_write_error is "stop",
  /// throws its error. `is_best`: link best.h5 to it, too.
  void write(MakeCheckpoint make, std::int64_t round, bool is_best);

  /// Block until everything is written; throw the error of the newest if it is not.
  void finish();

 private:
  struct Job {
    MakeCheckpoint make;
    std::int64_t round = 0;
    bool is_best = false;
  };

  void work();
  void write_job(const Job& job);
  void wait_until_idle(std::unique_lock<std::mutex>& lock);

  std::string folder_;
  CheckpointOptions options_;
  std::shared_ptr<spdlog::logger> log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Job> job_;    // waiting, or being written
  std::exception_ptr error_;  // of the newest, until it has been thrown
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace crossbow
