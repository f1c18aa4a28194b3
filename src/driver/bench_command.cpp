// `crossbow bench`: training throughput of a deck's network by batch and number of
// learners, what synchronisation takes of it, and the time by kernel.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/run_record.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/instance.hpp"

#include "data/batch_stream.hpp"
#include "driver/backend.hpp"
#include "driver/commands.hpp"
#include "driver/kernel_table.hpp"
#include "driver/throughput.hpp"
#include "training/memory_rate.hpp"

namespace crossbow {
namespace {

/// A line of the table.
struct BenchRow {
  int batch, learners;
  double images_per_second, gflops;
  std::optional<SynchronisationCost> synchronisation;
  double memory_rate;  // of so many learners [GB/s]; 0: not asked for

  /// What the counted bytes take at the memory's rate [s].
  std::optional<double> seconds_of_bytes() const {
    if (!synchronisation || !synchronisation->bytes) {
      return std::nullopt;
    }
    return 1e-9 * *synchronisation->bytes / memory_rate;
  }
};

void print_head() {
  fmt::print("{:<20} {:>6} {:>9} {:>10} {:>9} {:>7} {:>8} {:>8} {:>9} {:>6}\n",
             "network",
             "batch",
             "learners",
             "images/s",
             "GFLOP/s",
             "sync %",
             "sync ms",
             "sync MB",
             "memory ms",
             "ratio");
}

/// What synchronisation costs, with dashes for what there is not.
std::string sync_cells(const BenchRow& row) {
  std::array<std::string, 5> cells;
  cells.fill("-");
  if (row.synchronisation) {
    const SynchronisationCost& cost = *row.synchronisation;
    cells[0] = fmt::format("{:.1f}", 100 * cost.loss);
    cells[1] = fmt::format("{:.3f}", 1e3 * cost.seconds);
    if (const std::optional<double> seconds = row.seconds_of_bytes()) {
      cells[2] = fmt::format("{:.2f}", 1e-6 * *cost.bytes);
      cells[3] = fmt::format("{:.3f}", 1e3 * *seconds);
      cells[4] = fmt::format("{:.2f}", cost.seconds / *seconds);
    }
  }
  return fmt::format(
      "{:>7} {:>8} {:>8} {:>9} {:>6}", cells[0], cells[1], cells[2], cells[3], cells[4]);
}

void print_row(const std::string& network, const BenchRow& row) {
  fmt::print("{:<20} {:>6} {:>9} {:>10.0f} {:>9.1f} {}\n",
             network,
             row.batch,
             row.learners,
             row.images_per_second,
             row.gflops,
             sync_cells(row));
  std::fflush(stdout);
}

nlohmann::json sync_json(const BenchRow& row) {
  if (!row.synchronisation) {
    return nullptr;
  }
  nlohmann::json json = {{"throughput_loss", row.synchronisation->loss},
                         {"seconds_per_round", row.synchronisation->seconds},
                         {"memory_gbytes_per_second", row.memory_rate},
                         {"bytes_per_round", nullptr},
                         {"seconds_of_bytes", nullptr}};
  if (const std::optional<double> seconds = row.seconds_of_bytes()) {
    json["bytes_per_round"] = *row.synchronisation->bytes;
    json["seconds_of_bytes"] = *seconds;
  }
  return json;
}

nlohmann::json to_json(const std::string& network, const std::vector<BenchRow>& rows) {
  nlohmann::json table = nlohmann::json::array();
  for (const BenchRow& row : rows) {
    table.push_back({{"network", network},
                     {"batch", row.batch},
                     {"learners", row.learners},
                     {"images_per_second", row.images_per_second},
                     {"gflops", row.gflops},
                     {"synchronisation", sync_json(row)}});
  }
  return table;
}

/// A deck's measurements, which are printed as they come.
class Bench {
 public:
  Bench(const RunConfig& config, const BenchRequest& request, const PreparedRun& run)
      : config_(config),
        request_(request),
        run_(run),
        plan_(plan_for(config.model, run.training_set())),
        flops_(training_flops(plan_)) {}

  nlohmann::json throughput() {
    std::vector<Placed> all;
    for (const int learners : request_.learners) {
      all.push_back(place(learners));
    }
    print_head();
    std::vector<BenchRow> rows;
    for (const Placed& placed : all) {
      for (const int batch : request_.batches) {
        rows.push_back(measure(placed, batch));
        print_row(plan_.name, rows.back());
      }
    }
    return to_json(plan_.name, rows);
  }

  nlohmann::json kernels() {
    nlohmann::json tables = nlohmann::json::array();
    const TrainerOptions options = options_with(1);
    for (const int batch : request_.batches) {
      const TrainerOptions o = measured_options(options, batch);
      const StepProfile profile = with_space(o.threads, [&]<class Exec>() {
        return profile_step<Exec>(
            o, run_.training_set(), request_.time.window * request_.time.windows);
      });
      const KernelProfile kernels{plan_, batch, profile};
      fmt::print("{}", kernel_table(kernels));
      std::fflush(stdout);
      tables.push_back(kernel_json(kernels));
    }
    return tables;
  }

 private:
  /// Learners where they are to run, and what they get of memory there [GB/s].
  struct Placed {
    TrainerOptions options;
    double memory_rate = 0;
  };

  /// The deck's training with so many learners on each device.
  TrainerOptions options_with(int learners) const {
    const DeviceSetup setup = set_up_devices(config_, learners, run_.devices.model_bytes);
    if (!setup.placement.warning.empty()) {
      fmt::print(stderr, "crossbow: {}\n", setup.placement.warning);
    }
    TrainerOptions options = run_.options;
    set_devices(setup, options);
    return options;
  }

  Placed place(int learners) const {
    Placed placed{options_with(learners)};
    if (is_synchronised(placed.options.averaging)) {
      placed.memory_rate = with_space(placed.options.threads, [&]<class Exec>() {
        return memory_rate<Exec>(placed.options);
      });
      fmt::print(
          "memory: {:.1f} GB/s for {} learner(s), in sums of arrays that no cache "
          "holds\n",
          placed.memory_rate,
          placed.options.learners);
    }
    return placed;
  }

  BenchRow measure(const Placed& placed, int batch) const {
    const Throughput throughput =
        measure_throughput(run_, measured_options(placed.options, batch), request_.time);
    const int learners = placed.options.learners;
    const double rate = throughput.rounds_per_second * batch * learners;
    return {batch,
            learners,
            rate,
            rate * flops_ * 1e-9,
            throughput.synchronisation,
            placed.memory_rate};
  }

  const RunConfig& config_;
  const BenchRequest& request_;
  const PreparedRun& run_;
  NetworkPlan plan_;
  double flops_;  // of an image
};

void check_request(const RunConfig& config, const BenchRequest& request) {
  CROSSBOW_VALIDATE(config.devices.plan.empty(),
                    ExitCode::usage,
                    {"bench cannot use a plan",
                     "it has its own numbers of learners",
                     "devices.plan",
                     "Take it out of the deck, or add devices.plan=\"\""});
  CROSSBOW_VALIDATE(std::isfinite(request.time.window),
                    ExitCode::usage,
                    {"--window is not a number", "", "", "Give seconds"});
  if (!request.json.empty()) {
    check_writable(request.json);
  }
}

}  // namespace

int bench_command(const BenchRequest& request, char** argv) {
  const RunConfig config = read_run_config(request.deck.path, request.deck.overrides);
  settle_backend(config, argv);
  check_request(config, request);
  const Kokkos::ScopeGuard kokkos(kokkos_settings(config.devices));
  const PreparedRun run =
      prepare_run(config, request.deck.search, [](const std::string& line) {
        fmt::print(stderr, "crossbow: {}\n", line);
      });
  const int devices = device_count(*run.devices.topology);
  for (const int learners : request.learners) {
    check_stable(config, learners * devices, "--learners");
  }
  for (const int batch : request.batches) {
    // Throws where the data are fewer, before the first is measured.
    const BatchStream stream(run.training_data.n, batch, config.run.seed, false);
  }
  Bench bench(config, request, run);
  nlohmann::json record = {{"rows", bench.throughput()}};
  if (request.kernels) {
    record["kernels"] = bench.kernels();
  }
  if (!request.json.empty()) {
    write_run_record(request.json, record);
  }
  return 0;
}

}  // namespace crossbow
