#include "driver/checkpointing.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace crossbow {
namespace {

template <class Value>
const Value& require(const std::map<std::string, Value>& values,
                     const std::string& name,
                     const std::string& path) {
  const auto found = values.find(name);
  CROSSBOW_VALIDATE(found != values.end(),
                    ExitCode::data,
                    {"the checkpoint has no " + name,
                     "it is not of a training run",
                     path,
                     "Use a file of a run's checkpoints folder"});
  return found->second;
}

template <class Value>
void check_equal(const std::string& path,
                 const std::string& key,
                 const Value& saved,
                 const Value& wanted) {
  CROSSBOW_VALIDATE(
      saved == wanted,
      ExitCode::usage,
      {fmt::format("the checkpoint has {} = {} but the deck has {}", key, saved, wanted),
       "",
       path,
       "Resume with the deck of that run, or start a new one with another run.output"});
}

std::int64_t seed_of(const PreparedRun& run) {
  return static_cast<std::int64_t>(run.config.run.seed);
}

std::string method_name(AveragingMethodName method) {
  return method == AveragingMethodName::ssgd ? "ssgd" : "sma";
}

}  // namespace

Checkpoint to_checkpoint(const TrainingState& state, const PreparedRun& run) {
  Checkpoint file;
  for (const auto& [name, tensor] : state.tensors) {
    file.tensors[name] = tensor.values;
    file.shapes[name] = tensor.shape;
  }
  file.integers = {{"round", state.round},
                   {"restart_pending", state.restart_pending ? 1 : 0},
                   {"row_round", state.row_round},
                   {"seed", seed_of(run)},
                   {"batch", run.options.training.batch},
                   {"learners", run.options.learners}};
  file.numbers = {{"seconds", state.seconds},
                  {"row_seconds", state.row_seconds},
                  {"data_mean", run.mean},
                  {"data_std", run.std}};
  for (std::size_t j = 0; j < state.loss_sums.size(); ++j) {
    file.numbers["loss_sum" + std::to_string(j)] = state.loss_sums[j];
  }
  file.texts = {{"method", method_name(run.options.averaging.method)},
                {"data_digest", run.training_data.digest},
                {"deck", run.config.effective_deck}};
  return file;
}

TrainingState from_checkpoint(const std::string& path, const Checkpoint& file) {
  TrainingState state;
  state.round = require(file.integers, "round", path);
  state.restart_pending = require(file.integers, "restart_pending", path) != 0;
  state.row_round = require(file.integers, "row_round", path);
  state.seconds = require(file.numbers, "seconds", path);
  state.row_seconds = require(file.numbers, "row_seconds", path);
  const std::int64_t learners = require(file.integers, "learners", path);
  for (std::int64_t j = 0; j < learners; ++j) {
    state.loss_sums.push_back(
        require(file.numbers, "loss_sum" + std::to_string(j), path));
  }
  for (const auto& [name, values] : file.tensors) {
    state.tensors[name] = {require(file.shapes, name, path), values};
  }
  return state;
}

void check_identity(const std::string& path,
                    const Checkpoint& file,
                    const PreparedRun& run) {
  const auto& integers = file.integers;
  const auto& texts = file.texts;
  const std::string method = method_name(run.options.averaging.method);
  check_equal(path, "averaging.method", require(texts, "method", path), method);
  check_equal(path, "run.seed", require(integers, "seed", path), seed_of(run));
  const std::int64_t batch = run.options.training.batch;
  check_equal(path, "training.batch", require(integers, "batch", path), batch);
  const std::int64_t learners = run.options.learners;
  check_equal(path, "learners in all", require(integers, "learners", path), learners);
  check_equal(path,
              "the digest of data.train",
              require(texts, "data_digest", path),
              run.training_data.digest);
}

}  // namespace crossbow
