#include "driver/run_record_content.hpp"

#include <cstdlib>
#include <string>

#include <sys/resource.h>

#include "base/build_info.hpp"

#include "averaging/averaging_options.hpp"
#include "averaging/stability.hpp"
#include "driver/plan_file.hpp"

namespace crossbow {
namespace {

using nlohmann::json;

json build_record() {
  return {{"version", build_info::version},
          {"git", build_info::git},
          {"compiler", build_info::compiler},
          {"build_type", build_info::build_type},
          {"flags", build_info::flags},
          {"arch", build_info::arch},
          {"backend", build_info::backend},
          {"kokkos", build_info::kokkos_version},
          {"onednn", build_info::onednn_version},
          {"hdf5", build_info::hdf5_version}};
}

json machine_record(const Topology& topology) {
  json packages = json::array();
  for (const Package& package : topology.packages()) {
    packages.push_back(package.model);
  }
  return {{"name", topology.machine_name()},
          {"processors", packages},
          {"cores", topology.cores().size()},
          {"pus", topology.pus()},
          {"numa_nodes", topology.numa_nodes().size()},
          {"memory_bytes", topology.memory()}};
}

json data_record(const Dataset& data) {
  return {{"source", data.source},
          {"sha256", data.digest},
          {"samples", data.n},
          {"shape", {data.h, data.w, data.c}},
          {"classes", data.classes}};
}

/// alpha, mu and the largest rate x curvature at which they are stable (DESIGN 2.1).
json averaging_record(const TrainerOptions& o) {
  const double eta = o.optimizer.momentum;
  const std::string_view method = averaging_method_name(o.averaging.method);
  if (!pulls_by_alpha(o.averaging.method)) {
    return {{"method", method}};
  }
  const double alpha = alpha_of(o.averaging, o.learners);
  const double mu = averaging_momentum_of(o.averaging, eta);
  const StabilityOptions stability = {
      eta, mu, alpha, o.learners, o.averaging.period, o.optimizer.nesterov};
  return {{"method", method},
          {"alpha", alpha},
          {"momentum", mu},
          {"stability_limit", stability_limit(stability)}};
}

/// Devices, domains, placement, tree and prediction, and whose they are.
json devices_record(const DeviceSetup& devices) {
  json record = plan_json(
      *devices.topology,
      {*devices.topology, devices.placement, devices.reduction, devices.model_bytes});
  record["played"] = devices.is_played;
  return record;
}

/// Slurm's names for this job, where there is one.
json job_record() {
  json job = json::object();
  for (const char* name :
       {"SLURM_JOB_ID", "SLURM_ARRAY_TASK_ID", "SLURM_RESTART_COUNT"}) {
    if (const char* value = std::getenv(name); value != nullptr) {
      job[name] = value;
    }
  }
  return job;
}

}  // namespace

json run_record_head(const PreparedRun& run) {
  const TrainerOptions& o = run.options;
  return {{"name", run.config.run.name},
          {"deck", run.config.effective_deck},
          {"seed", run.config.run.seed},
          {"build", build_record()},
          {"machine", machine_record(*run.devices.machine)},
          {"learners", o.learners},
          {"threads_per_learner", o.threads},
          {"devices", devices_record(run.devices)},
          {"batch_per_learner", o.training.batch},
          {"batch_of_all_learners", o.training.batch * o.learners},
          {"averaging", averaging_record(o)},
          {"training_data", data_record(run.training_data)},
          {"test_data", data_record(run.test_data)},
          {"pixel_scale", run.scale.scale},
          {"pixel_shift", run.scale.shift},
          {"job", job_record()}};
}

json run_record_result(const TrainingEnd& end, const Topology& topology) {
  json edges = json::array();
  for (const ExecutedEdge& edge : end.edges) {
    edges.push_back({{"from", topology.devices()[static_cast<std::size_t>(edge.from)].id},
                     {"to", topology.devices()[static_cast<std::size_t>(edge.to)].id},
                     {"chunks", edge.chunks}});
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {{"finished", end.finished},
          {"target_reached", end.target_reached},
          {"rounds", end.rounds},
          {"samples", end.samples},
          {"epochs", end.epochs},
          {"training_seconds", end.seconds},
          {"learners_bound", end.bound},
          {"executed_edges", edges},
          {"peak_memory_bytes", static_cast<std::int64_t>(usage.ru_maxrss) * 1024}};
}

}  // namespace crossbow
