#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

#include "io/atomic_file.hpp"
#include "io/run_record.hpp"
#include "topology/devices.hpp"
#include "topology/probe.hpp"

#include "driver/commands.hpp"
#include "driver/device_setup.hpp"
#include "driver/plan_file.hpp"
#include "driver/topology_drawing.hpp"

namespace crossbow {
namespace {

/// Every GPU is shown, also one that cannot run CUDA; learners go to those that can.
Topology shown_machine(const TopologyRequest& request) {
  const Topology machine = !request.xml.empty() ? probe_xml(request.xml)
                           : !request.synthetic.empty()
                               ? probe_synthetic(request.synthetic)
                               : ask_drivers(probe_live());
  return request.host ? with_host_devices(machine, request.domain) : machine;
}

/// All GPUs of the machine, and the devices that learners are on.
Topology all_devices(const Topology& machine, const Topology& used) {
  TopologyParts parts = machine.parts();
  const bool has_gpus =
      !parts.devices.empty() && parts.devices.front().kind == DeviceKind::gpu;
  if (!has_gpus || used.devices().front().kind == DeviceKind::gpu) {
    return has_gpus ? machine : used;
  }
  parts.devices.insert(parts.devices.end(), used.devices().begin(), used.devices().end());
  return Topology(std::move(parts));
}

}  // namespace

int topology_command(const TopologyRequest& request) {
  for (const std::string& output : {request.svg, request.json.value_or("")}) {
    std::error_code none;
    CROSSBOW_VALIDATE(
        !std::filesystem::equivalent(output, request.xml, none) || none,
        ExitCode::usage,
        {"the machine file would be overwritten", "", output, "Name another file"});
  }
  const Topology machine = shown_machine(request);
  const Topology topology = with_usual_devices(machine, request.domain);
  check_numbers(topology, request.learners);
  const Placement placement = place_learners(topology, request.learners, request.threads);
  const ReductionPlan plan =
      plan_reduction(topology, request.learners, request.model_bytes);
  const TopologyView view{topology, placement, plan, request.model_bytes};
  if (!request.svg.empty()) {
    write_atomically(request.svg, draw_svg(view));
  }
  if (request.json.has_value()) {
    const nlohmann::json json = plan_json(all_devices(machine, topology), view);
    if (!request.json->empty() && *request.json != "-") {
      write_run_record(*request.json, json);
    } else {
      fmt::print("{}", run_record_text(json));
    }
  } else if (request.svg.empty()) {
    fmt::print("{}", draw_text(view));
  }
  return 0;
}

}  // namespace crossbow
