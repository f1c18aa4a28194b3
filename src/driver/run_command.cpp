#include <cstdio>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/run_record.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/instance.hpp"
#include "topology/cuda_driver.hpp"

#include "driver/backend.hpp"
#include "driver/commands.hpp"
#include "driver/tuning_setup.hpp"
#include "driver/weights_file.hpp"

namespace crossbow {
namespace {

void print_notice(const std::string& line) {
  std::fprintf(stderr, "crossbow: %s\n", printable(line).c_str());  // throws nothing
}

/// The auto-tuner changes `run` as it changes learners.
TrainingEnd train_prepared(PreparedRun& run, RunSession& session) {
  if (run.config.learners.is_tuned()) {
    return train_tuned(
        tuning_setup(run), run.training_set(), run.test_set(), session.state(), session);
  }
  return with_space(run.options.threads, [&]<class Exec>() {
    return train<Exec>(
        run.options, run.training_set(), run.test_set(), session.state(), session);
  });
}

}  // namespace

int run_command(const RunRequest& request, char** argv) {
  const RunConfig config = read_run_config(request.deck.path, request.deck.overrides);
  settle_backend(config, argv);
  // Data may take long to load: who asks then is answered after the first round.
  const StopSignal signal;
  const Stopwatch since_start;  // of loading, too: a job's time goes by with it
  const Kokkos::ScopeGuard kokkos(kokkos_settings(config.devices));
  std::vector<std::string> notices;
  const Notice tell = [&](const std::string& line) {
    print_notice(line);
    notices.push_back(line);
  };
  PreparedRun run = prepare_run(config, request.deck.search, tell);
  if (!request.json.empty()) {
    check_writable(request.json);
  }
  RunSession session(run, request.resume, signal, since_start, tell);
  session.log_notices(notices);
  try {
    const std::optional<TrainingEnd> before = session.ended_before();
    const TrainingEnd end = before ? *before : train_prepared(run, session);
    session.finish_checkpoints();
    const int status = session.conclude(end);
    if (!request.json.empty()) {
      write_run_record(request.json, session.summary(end));
    }
    return status;
  } catch (const std::exception& error) {
    session.log_failure(error.what());
    throw;
  }
}

int check_command(const DeckRequest& request, char** argv) {
  const RunConfig config = read_run_config(request.path, request.overrides);
  // A deck for CUDA may be checked where there is no device.
  if (config.devices.backend != BackendName::cuda || find_cuda_devices().count > 0) {
    settle_backend(config, argv);
  }
  const PreparedRun run = prepare_run(config, request.search, print_notice);
  const ImageSize image = run.training_set().image();
  if (!config.model.weights.empty()) {
    read_weights(config.model.weights, plan_for(config.model, run.training_set()));
  }
  const TrainerOptions& o = run.options;
  const std::string learners =
      config.learners.is_tuned()
          ? fmt::format("1 to {} learner(s) a device, as the tuner finds, batch {} each",
                        most_learners_per_device(run),
                        o.training.batch)
          : fmt::format("{} learner(s) of {} thread(s), batch {} each, {} a round",
                        o.learners,
                        o.threads,
                        o.training.batch,
                        o.training.batch * o.learners);
  fmt::print("{} is valid: {} images of {}x{}x{}, {} classes; {}\n",
             request.path,
             run.training_data.n,
             image.h,
             image.w,
             image.c,
             run.training_data.classes,
             learners);
  return 0;
}

}  // namespace crossbow
