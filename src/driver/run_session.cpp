#include "driver/run_session.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/log.hpp"

#include "io/run_record.hpp"

#include "driver/job_limit.hpp"
#include "driver/run_record_content.hpp"
#include "driver/weights_file.hpp"

namespace crossbow {
namespace {

HistoryRow to_row(const TestResult& r) {
  HistoryRow row;
  row.epoch = r.epoch;
  row.samples = r.samples;
  row.rounds = r.rounds;
  row.seconds = r.seconds;
  row.rate = r.rate;
  row.learners = r.learners;
  row.train_loss = r.train_loss;
  row.test_loss = r.test_loss;
  row.test_accuracy = r.test_accuracy;
  row.images_per_second = r.images_per_second;
  return row;
}

std::string median_text(const std::optional<double>& median) {
  return median.has_value() ? fmt::format("{:.4f}", *median) : "-";
}

/// A checkpoint of another training is not gone on from unless the user says so.
void tell_differences(const std::vector<DeckDifference>& differences,
                      const std::string& path,
                      bool override_deck,
                      const Notice& notice) {
  for (const DeckDifference& each : differences) {
    CROSSBOW_VALIDATE(
        override_deck,
        ExitCode::usage,
        {fmt::format("the checkpoint has {} = {} but the deck has {}",
                     each.key,
                     each.first,
                     each.second),
         "",
         path,
         "Resume with the deck of that run, start a new one with another run.output, or "
         "add --override"});
    say(notice,
        fmt::format("going on with {} = {}, which was {} until the checkpoint",
                    each.key,
                    each.second,
                    each.first));
  }
}

TunerRow to_row(const TuningEvent& event) {
  const TunerDecision& decision = event.decision;
  TunerRow row;
  row.rounds = event.round;
  row.samples = event.samples;
  row.seconds = event.seconds;
  row.per_device = decision.counts.per_device;
  row.learners = event.learners;
  row.threads = decision.counts.threads;
  row.images_per_second = decision.images_per_second;
  row.decision = tuner_step_name(decision.step);
  row.reason = decision.reason;
  return row;
}

bool is_of_method(const std::vector<DeckDifference>& differences) {
  return std::any_of(differences.begin(), differences.end(), [](const auto& each) {
    return each.key == "averaging.method";
  });
}

}  // namespace

RunSession::RunSession(const PreparedRun& run,
                       const ResumeOptions& options,
                       const StopSignal& signal,
                       const Stopwatch& since_start,
                       const Notice& notice)
    : run_(run),
      output_(run.config.run.output, notice),
      signal_(signal),
      since_start_(since_start) {
  if (options.resume) {
    load_checkpoint(options, notice);
  }
  const bool going_on = state_.has_value();
  if (!going_on) {
    load_weights();  // before anything is moved: they may not fit
    output_.move_earlier_run_aside(notice);
  }
  make_folder(output_.file("checkpoints"));
  log_ = open_log(output_.file("run.log"), going_on ? LogStart::append : LogStart::fresh);
  open_files(going_on);
  writer_.emplace(output_.file("checkpoints"), run.config.checkpoint, log_);
  begin_record(going_on);
  if (const std::optional<double> left = seconds_until_job_end(); left.has_value()) {
    job_seconds_ = since_start_.seconds() + stop_before(*left);
    log_->info(
        "the job ends in {:.0f} s; the run stops in {:.0f} s", *left, *job_seconds_);
  }
}

void RunSession::open_files(bool going_on) {
  const std::string history = output_.file("history.csv");
  history_.emplace(going_on ? HistoryFile::resume(history, state_->round)
                            : HistoryFile::fresh(history));
  for (const HistoryRow& row : history_->rows()) {
    best_accuracy_ = std::max(best_accuracy_, row.test_accuracy);
  }
  if (run_.config.learners.is_tuned()) {
    const std::string tuner = output_.file("tuner.csv");
    tuner_.emplace(going_on ? TunerFile::resume(tuner, state_->round)
                            : TunerFile::fresh(tuner));
  }
}

void RunSession::begin_record(bool going_on) {
  record_ = run_record_head(run_);
  record_["resumed_from_round"] =
      going_on ? nlohmann::json(state_->round) : nlohmann::json();
  if (tuner_.has_value() && going_on && state_->tuned.has_value()) {
    record_["tuner"] = {{"decision", "settled before"},
                        {"learners_per_device", state_->tuned->counts.per_device},
                        {"threads", state_->tuned->counts.threads}};
  }
  write_run_record(output_.file("run.json"), record_);
  const RunConfig& config = run_.config;
  const std::string learners = config.learners.is_tuned()
                                   ? "as many learners as the tuner finds"
                                   : fmt::format("{} learner(s) of {} thread(s)",
                                                 run_.options.learners,
                                                 run_.options.threads);
  log_->info("run {}, seed {}, {}, batch {} each",
             config.run.name,
             config.run.seed,
             learners,
             run_.options.training.batch);
}

/// Whether the run goes on bit by bit depends on its learners.
void RunSession::tell_of_learners(const std::string& path,
                                  const Checkpoint& checkpoint,
                                  const Notice& notice) const {
  if (run_.config.learners.is_tuned()) {
    say(notice,
        "the number of learners is tuned: the run goes on, but not bit for bit as it "
        "would have");
  } else if (!has_same_learners(path, checkpoint, run_)) {
    say(notice,
        fmt::format("the run goes on with {} learner(s) and had {}: new ones start from "
                    "the average model; it does not end bit for bit as it would have",
                    run_.options.learners,
                    checkpoint.integers.at("learners")));
  } else if (!has_same_reduction(checkpoint, run_)) {
    say(notice,
        "devices, threads or reduction tree are not those of the checkpoint: the run "
        "goes "
        "on, but not bit for bit as it would have");
  }
}

void RunSession::load_checkpoint(const ResumeOptions& options, const Notice& notice) {
  const auto newest = newest_checkpoint(output_.file("checkpoints"), notice);
  if (!newest.has_value()) {
    say(notice,
        "no checkpoint in " + output_.file("checkpoints") +
            ": starting from the beginning");
    return;
  }
  const auto& [path, checkpoint] = *newest;
  const std::vector<DeckDifference> differences = differences_to(path, checkpoint, run_);
  tell_differences(differences, path, options.override_deck, notice);
  const NetworkPlan network = plan_for(run_.options.model, run_.training_set());
  TrainingState state = from_checkpoint(path, checkpoint);
  check_tensors(path, checkpoint, network, groups_of_state(path, checkpoint));
  tell_of_learners(path, checkpoint, notice);
  if (is_of_method(differences)) {
    CROSSBOW_VALIDATE(
        run_.options.averaging.method != AveragingMethodName::polyak_ruppert,
        ExitCode::usage,
        {"polyak_ruppert cannot begin in the middle of a training",
         "its average model is the mean of all iterates",
         path,
         "Resume with another averaging.method, or start a new run"});
    keep_average_only(state);
  }
  state_ = std::move(state);
  say(notice, fmt::format("resuming from {} (round {})", path, state_->round));
}

void RunSession::load_weights() {
  const std::string& path = run_.config.model.weights;
  if (!path.empty()) {
    const NetworkPlan network = plan_for(run_.options.model, run_.training_set());
    state_ =
        state_of_weights(read_weights(path, network), network, run_.options.learners);
    keep_average_only(*state_);
  }
}

std::optional<TrainingEnd> RunSession::ended_before() const {
  const std::optional<double>& target = run_.config.training.target_accuracy;
  const std::vector<HistoryRow>& rows = history_->rows();
  if (!state_.has_value() || !target.has_value() || rows.empty() ||
      rows.back().median_of_five.value_or(0) < *target) {
    return std::nullopt;
  }
  TrainingEnd end;
  end.finished = true;
  end.target_reached = true;
  end.rounds = rows.back().rounds;
  end.samples = rows.back().samples;
  end.epochs = rows.back().epoch;
  end.seconds = rows.back().seconds;
  return end;
}

void RunSession::not_bound() {
  log_->warn(
      "learners could not be bound to their cores; they run wherever the system puts "
      "them");
}

bool RunSession::stop_requested() {
  CROSSBOW_VALIDATE(!output_.is_lost(),
                    ExitCode::data,
                    {"another run has taken over the output folder",
                     "this one had given no sign of life",
                     output_.file("run.lock"),
                     "Let one of them run at a time"});
  if (!stop_reason_.empty()) {
    return true;
  }
  if (const std::optional<int> signal = signal_.requested(); signal.has_value()) {
    stop_reason_ = fmt::format("signal {} ({})", *signal, strsignal(*signal));
  } else if (run_.config.run.time_limit.has_value() &&
             since_start_.seconds() >= *run_.config.run.time_limit) {
    stop_reason_ = fmt::format("run.time_limit of {:g} s", *run_.config.run.time_limit);
  } else if (job_seconds_.has_value() && since_start_.seconds() >= *job_seconds_) {
    stop_reason_ = "the job's limit, which is near,";
  }
  return !stop_reason_.empty();
}

bool RunSession::checkpoint_requested() {
  const double minutes = run_.config.checkpoint.every_minutes;
  return minutes > 0 && since_checkpoint_.seconds() >= 60 * minutes;
}

TestVerdict RunSession::tested(const TestResult& result) {
  HistoryRow row = to_row(result);
  std::vector<HistoryRow> rows = history_->rows();
  rows.push_back(row);
  row.median_of_five = median_of_last_five(rows);
  history_->append(row);
  const std::string line = fmt::format(
      "epoch {:.2f}  {:.1f} s  test accuracy {:.4f}  median of five {}  test loss {:.4f}"
      "  train loss {:.4f}  {:.0f} images/s",
      row.epoch,
      row.seconds,
      row.test_accuracy,
      median_text(row.median_of_five),
      row.test_loss,
      row.train_loss,
      row.images_per_second);
  progress_line_.print(line);
  log_->info(line);
  const std::optional<double>& target = run_.config.training.target_accuracy;
  const bool reached = target.has_value() && row.median_of_five.has_value() &&
                       *row.median_of_five >= *target;
  is_best_ = run_.config.checkpoint.best && row.test_accuracy > best_accuracy_;
  best_accuracy_ = std::max(best_accuracy_, row.test_accuracy);
  return {reached, is_best_};
}

void RunSession::progress(const TrainingProgress& progress) {
  progress_line_.show(progress);
}

void RunSession::tuned(const TuningEvent& event) {
  const TunerRow row = to_row(event);
  tuner_->append(row);
  const std::string line =
      fmt::format("tuner: {}: {} learner(s) of {} thread(s), {:.0f} images/s ({})",
                  row.decision,
                  row.learners,
                  row.threads,
                  row.images_per_second,
                  row.reason);
  log_->info(line);
  if (event.decision.step == TunerStep::settled) {
    progress_line_.print(line);
  }
  record_["tuner"] = {{"decision", row.decision},
                      {"learners_per_device", row.per_device},
                      {"learners", row.learners},
                      {"threads", row.threads},
                      {"images_per_second", row.images_per_second},
                      {"search_seconds", event.searched}};
}

void RunSession::checkpoint(TrainingState&& state) {
  const std::int64_t round = state.round;
  since_checkpoint_.restart();
  PackedTensors packed = std::move(state.packed);
  // The rest is said now: the auto-tuner may change the run before this is written.
  auto make = [file = to_checkpoint(std::move(state), run_),
               packed = std::move(packed)]() mutable {
    NamedTensors tensors;
    packed.unpack(tensors);
    add_tensors(std::move(tensors), file);
    return std::move(file);
  };
  writer_->write(std::move(make), round, is_best_);
  is_best_ = false;
}

nlohmann::json RunSession::summary(const TrainingEnd& end) const {
  nlohmann::json summary = run_record_result(end, *run_.devices.topology);
  summary["images_per_second"] = static_cast<double>(end.samples) / end.seconds;
  if (!history_->rows().empty()) {
    const HistoryRow& last = history_->rows().back();
    summary["test_accuracy"] = last.test_accuracy;
    summary["median_of_five"] =
        last.median_of_five ? nlohmann::json(*last.median_of_five) : nlohmann::json();
  }
  const std::optional<double>& target = run_.config.training.target_accuracy;
  if (target.has_value()) {
    summary["target_accuracy"] = *target;
    summary["tta_seconds"] =
        end.target_reached ? nlohmann::json(end.seconds) : nlohmann::json();
  }
  return summary;
}

int RunSession::conclude(const TrainingEnd& end) {
  if (tuner_.has_value()) {
    record_.update(run_record_head(run_));  // of the learners that it ended with
  }
  record_["result"] = summary(end);
  record_["result"]["stop_reason"] = end.finished ? "" : stop_reason_;
  write_run_record(output_.file("run.json"), record_);
  if (!end.finished) {
    const std::string line = fmt::format(
        "stopped by {} after round {}, with a checkpoint. Go on with --resume",
        stop_reason_,
        end.rounds);
    progress_line_.print(line);
    log_->info(line);
    return static_cast<int>(ExitCode::requeue);
  }
  // A history that was taken away from a run that is resumed after its end.
  const std::vector<HistoryRow>& rows = history_->rows();
  const HistoryRow last = rows.empty() ? HistoryRow() : rows.back();
  std::string line = fmt::format(
      "test accuracy {}, median of five {}, {:.4g} epochs, {:.1f} s of training, "
      "{:.0f} images/s",
      rows.empty() ? "-" : fmt::format("{:.4f}", last.test_accuracy),
      median_text(last.median_of_five),
      end.epochs,
      end.seconds,
      static_cast<double>(end.samples) / end.seconds);
  if (const auto& target = run_.config.training.target_accuracy; target.has_value()) {
    line += end.target_reached ? fmt::format("\nTTA({:g}) {:.1f} s", *target, end.seconds)
                               : fmt::format("\nTTA({:g}) not reached", *target);
  }
  progress_line_.print(line);
  log_->info(line);
  return static_cast<int>(ExitCode::done);
}

void RunSession::log_notices(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    log_->info(line);
  }
}

void RunSession::log_failure(const std::string& message) {
  log_->info("failed: {}", message);
}

}  // namespace crossbow
