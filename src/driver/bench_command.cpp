// `crossbow bench`: training throughput of a deck's network by batch and number of
// learners, on the same code path as `crossbow run`.

#include <algorithm>
#include <chrono>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/scoped_timer.hpp"

#include "io/atomic_file.hpp"
#include "io/run_record.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/instance.hpp"

#include "driver/backend.hpp"
#include "driver/commands.hpp"

namespace crossbow {
namespace {

constexpr double endless = 1e6;  // [epochs]: the observer stops the run

/// Lets a run warm up, then takes the rounds in each of several windows of time, as
/// learner 0 sees them: where learners go at their own pace, those that others did count
/// as well.
class ThroughputObserver final : public TrainingObserver {
 public:
  ThroughputObserver(double window, int windows) : window_(window), windows_(windows) {}

  void round_done(int j, std::int64_t t, double) override {
    if (j != 0 || done()) {
      return;
    }
    const double seconds = watch_.seconds();
    if (seconds >= window_) {
      rates_.push_back(static_cast<double>(t - begin_) / seconds);
      begin_ = t;
      watch_.restart();
    }
  }

  bool stop_requested() override { return done(); }

  /// Median of the windows after the first, which is the warm-up [rounds/s].
  double rounds_per_second() const {
    std::vector<double> rates(rates_.begin() + 1, rates_.end());
    std::sort(rates.begin(), rates.end());
    return rates[rates.size() / 2];
  }

 private:
  bool done() const { return static_cast<int>(rates_.size()) > windows_; }

  double window_;
  int windows_;
  std::int64_t begin_ = 0;  // the window's first round
  Stopwatch watch_;
  std::vector<double> rates_;
};

struct BenchRow {
  int batch, learners;
  double images_per_second, gflops;
};

BenchRow measure(const PreparedRun& run,
                 const BenchRequest& request,
                 const DeviceSetup& devices,
                 int batch) {
  TrainerOptions o = run.options;
  o.training.batch = batch;
  o.training.epochs = endless;
  o.training.test_every = 0;
  o.checkpoint_epochs = 0;
  set_devices(devices, o);
  ThroughputObserver observer(request.window, request.windows);
  with_space(o.threads, [&]<class Exec>() {
    return train<Exec>(o, run.training_set(), run.test_set(), nullptr, observer);
  });
  const double rate = observer.rounds_per_second() * batch * o.learners;
  const double flops = training_flops(plan_for(o.model, run.training_set()));
  return {batch, o.learners, rate, rate * flops * 1e-9};
}

nlohmann::json to_json(const std::string& network, const std::vector<BenchRow>& rows) {
  nlohmann::json table = nlohmann::json::array();
  for (const BenchRow& row : rows) {
    table.push_back({{"network", network},
                     {"batch", row.batch},
                     {"learners", row.learners},
                     {"images_per_second", row.images_per_second},
                     {"gflops", row.gflops}});
  }
  return table;
}

}  // namespace

int bench_command(const BenchRequest& request, char** argv) {
  const RunConfig config = read_run_config(request.deck.path, request.deck.overrides);
  CROSSBOW_VALIDATE(config.devices.plan.empty(),
                    ExitCode::usage,
                    {"bench cannot use a plan",
                     "it has its own numbers of learners",
                     "devices.plan",
                     "Take it out of the deck, or add devices.plan=\"\""});
  settle_backend(config, argv);
  if (!request.json.empty()) {
    check_writable(request.json);
  }
  const Kokkos::ScopeGuard kokkos(kokkos_settings(config.devices));
  const PreparedRun run =
      prepare_run(config, request.deck.search, [](const std::string& line) {
        fmt::print(stderr, "crossbow: {}\n", line);
      });
  CROSSBOW_VALIDATE(std::isfinite(request.window),
                    ExitCode::usage,
                    {"--window is not a number", "", "", "Give seconds"});
  const int devices =
      std::max(1, static_cast<int>(run.devices.topology->devices().size()));
  for (const int learners : request.learners) {
    check_stable(config, learners * devices, "--learners");
  }
  const std::string network = plan_for(config.model, run.training_set()).name;
  std::vector<BenchRow> rows;
  fmt::print("{:<20} {:>6} {:>9} {:>10} {:>9}\n",
             "network",
             "batch",
             "learners",
             "images/s",
             "GFLOP/s");
  for (const int learners : request.learners) {
    const DeviceSetup setup = set_up_devices(config, learners, run.devices.model_bytes);
    if (!setup.placement.warning.empty()) {
      fmt::print(stderr, "crossbow: {}\n", setup.placement.warning);
    }
    for (const int batch : request.batches) {
      rows.push_back(measure(run, request, setup, batch));
      const BenchRow& row = rows.back();
      fmt::print("{:<20} {:>6} {:>9} {:>10.0f} {:>9.1f}\n",
                 network,
                 row.batch,
                 row.learners,
                 row.images_per_second,
                 row.gflops);
      std::fflush(stdout);
    }
  }
  if (!request.json.empty()) {
    write_run_record(request.json, to_json(network, rows));
  }
  return 0;
}

}  // namespace crossbow
