#include "regression/oracle_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

#include "data/batch_stream.hpp"
#include "training/round_schedule.hpp"
#include "training/trainer.hpp"

namespace crossbow {
namespace {

constexpr double rate_limit = 1e-6;  // relative

/// The trainer tests z once, at the end, and nobody asks here how good it is.
constexpr std::int64_t test_samples = 64;

/// Writes down every loss and the state at the end.
class Recorder final : public TrainingObserver {
 public:
  explicit Recorder(const OracleCase& oracle) : learners_(oracle.learners) {
    outcome_.losses.assign(oracle.losses.size(),
                           std::numeric_limits<double>::quiet_NaN());
  }

  /// Each learner has elements of its own.
  void round_done(int j, std::int64_t t, double loss) override {
    outcome_.losses.at(static_cast<std::size_t>((t - 1) * learners_ + j)) = loss;
  }
  void checkpoint(TrainingState&& state) override {
    state.unpack();
    outcome_.tensors = std::move(state.tensors);
  }

  OracleOutcome take() { return std::move(outcome_); }

 private:
  std::int64_t learners_;
  OracleOutcome outcome_;
};

/// z, z_prev and all replicas start from the case's weights.
TrainingState initial_state_of(const OracleCase& oracle) {
  TrainingState state;
  for (const auto& [name, tensor] : oracle.initial) {
    const NamedTensor value = {tensor.shape,
                               {tensor.values.begin(), tensor.values.end()}};
    state.tensors["average/" + name] = value;
    state.tensors["previous/" + name] = value;
  }
  return state;
}

void keep_first_samples(Dataset& data, std::int64_t n) {
  data.n = std::min(data.n, n);
  data.images.resize(static_cast<std::size_t>(data.n * sample_bytes(data)));
  data.labels.resize(static_cast<std::size_t>(data.n));
}

}  // namespace

void check_order(const OracleCase& oracle, std::int64_t samples) {
  const BatchStream stream(samples, oracle.batch, 0, false);
  std::vector<std::int64_t> batch(static_cast<std::size_t>(oracle.batch));
  for (std::int64_t i = 0; i < oracle.iterations * oracle.learners; ++i) {
    stream.indices(i, batch);
    const auto found = oracle.order.begin() + i * oracle.batch;
    CROSSBOW_VALIDATE(
        std::equal(batch.begin(), batch.end(), found),
        ExitCode::data,
        {"/order is not file order",
         fmt::format("batch {} of learner {} has other samples than {} to {}",
                     i / oracle.learners + 1,
                     i % oracle.learners,
                     batch.front(),
                     batch.back()),
         oracle.path,
         "Only cases whose batches follow one another in the file can be run"});
  }
}

void check_rates(const OracleCase& oracle,
                 const TrainerOptions& options,
                 std::int64_t samples) {
  ScheduleInput input;
  input.training = options.training;
  input.optimizer = options.optimizer;
  input.averaging = options.averaging;
  input.learners = options.learners;
  input.samples_per_epoch = samples / oracle.batch * oracle.batch;
  const RoundSchedule schedule(input);
  CROSSBOW_VALIDATE(schedule.rounds() == oracle.iterations,
                    ExitCode::data,
                    {fmt::format("the case's deck makes {} rounds", schedule.rounds()),
                     fmt::format("the oracle made {}", oracle.iterations),
                     oracle.path,
                     ""});
  for (std::int64_t t = 1; t <= oracle.iterations; ++t) {
    const double ours = schedule.plan(t).rate;
    const double theirs = oracle.rates[static_cast<std::size_t>(t - 1)];
    CROSSBOW_VALIDATE(
        std::abs(ours - theirs) <= rate_limit * std::abs(theirs),
        ExitCode::data,
        {fmt::format(
             "round {} has the learning rate {:g} but /rate says {:g}", t, ours, theirs),
         "by the attributes rate, drop_at and drop",
         oracle.path,
         ""});
  }
}

PreparedRun prepare_oracle_run(const OracleCase& oracle, std::int64_t samples) {
  const std::string deck = oracle_deck(oracle, samples);
  PreparedRun run =
      prepare_run(parse_run_config(deck, "deck of " + oracle.path, {}), {}, {});
  check_order(oracle, samples);
  check_rates(oracle, run.options, samples);
  keep_first_samples(run.test_data, test_samples);
  return run;
}

OracleOutcome run_oracle_case(const OracleCase& oracle,
                              const PreparedRun& run,
                              KernelSet kernels) {
  TrainerOptions options = run.options;
  options.kernels = kernels;
  options.tree = star_of(static_cast<int>(oracle.devices));
  options.placement = Placement();
  const TrainingState start = initial_state_of(oracle);
  Recorder recorder(oracle);
  train<Kokkos::Serial>(options, run.training_set(), run.test_set(), &start, recorder);
  return recorder.take();
}

}  // namespace crossbow
