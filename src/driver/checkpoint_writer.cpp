#include "driver/checkpoint_writer.hpp"

#include <filesystem>
#include <utility>

#include "base/error.hpp"

#include "kernels/instance.hpp"

namespace crossbow {
namespace {

namespace fs = std::filesystem;

/// Make best.h5 another name of `path`; where links cannot be had, a copy. The name
/// changes over in one step.
void link_best(const std::string& folder, const std::string& path) {
  const fs::path best = fs::path(folder) / "best.h5",
                 next = fs::path(folder) / "best.tmp";
  std::error_code failed;
  fs::remove(next, failed);
  fs::create_hard_link(path, next, failed);
  if (failed) {
    fs::copy_file(path, next, failed);
  }
  if (!failed) {
    fs::rename(next, best, failed);
  }
  CROSSBOW_VALIDATE(!failed,
                    ExitCode::data,
                    {"the best checkpoint cannot be kept",
                     failed.message(),
                     best.string(),
                     "Check the folder and its permissions"});
}

/// Whether a write error may be told and forgotten: an Error(data), e.g. a full disk.
/// A NaN that must not be saved is none.
bool is_write_error(const std::exception_ptr& error) {
  if (error == nullptr) {
    return false;
  }
  try {
    std::rethrow_exception(error);
  } catch (const Error& failure) {
    return failure.exit_code() == ExitCode::data;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

CheckpointWriter::CheckpointWriter(std::string folder,
                                   const CheckpointOptions& options,
                                   std::shared_ptr<spdlog::logger> log)
    : folder_(std::move(folder)),
      options_(options),
      log_(std::move(log)),
      thread_([this] { work(); }) {}

CheckpointWriter::~CheckpointWriter() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void CheckpointWriter::work() {
  set_thread_count(1);  // of OpenMP, in the changes of layout: cores are for learners
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || job_.has_value(); });
    if (!job_.has_value()) {
      return;
    }
    // Nobody touches the job before it is gone.
    lock.unlock();
    std::exception_ptr error;
    try {
      write_job(*job_);
    } catch (const std::exception& failure) {
      error = std::current_exception();
      // Where the run stops, its end says so.
      const bool goes_on = options_.on_write_error == WriteErrorPolicy::go_on;
      log_->log(goes_on ? spdlog::level::warn : spdlog::level::info,
                "a checkpoint was not written: {}",
                failure.what());
    }
    lock.lock();
    error_ = error;
    job_.reset();
    changed_.notify_all();
  }
}

void CheckpointWriter::write_job(const Job& job) {
  const std::string path = checkpoint_path(folder_, job.round);
  write_checkpoint(path, job.make());
  if (job.is_best) {
    link_best(folder_, path);
  }
  prune_checkpoints(folder_, options_.keep, job.round);
  log_->info("checkpoint {}", path);
}

void CheckpointWriter::wait_until_idle(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !job_.has_value(); });
}

void CheckpointWriter::write(MakeCheckpoint make, std::int64_t round, bool is_best) {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  const bool goes_on =
      options_.on_write_error == WriteErrorPolicy::go_on && is_write_error(error_);
  if (error_ != nullptr && !goes_on) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
  job_ = Job{std::move(make), round, is_best};
  changed_.notify_all();
}

void CheckpointWriter::finish() {
  std::unique_lock lock(mutex_);
  wait_until_idle(lock);
  if (error_ != nullptr) {
    std::rethrow_exception(std::exchange(error_, nullptr));
  }
}

}  // namespace crossbow
