// Fuzz target of plans, on a host of three packages and on a machine with GPUs: a plan
// that is accepted is written again and reads back equal.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/fuzzing.hpp"

#include "io/run_record.hpp"
#include "topology/devices.hpp"
#include "topology/probe.hpp"

#include "driver/plan_file.hpp"

namespace {

using namespace crossbow;

constexpr std::int64_t model_bytes = 100'000'000;

const std::array<Topology, 2>& machines() {
  static const std::array<Topology, 2> both = {
      with_host_devices(probe_synthetic("pack:3 numa:1 core:2 pu:1"), HostDomain::numa),
      probe_xml(CROSSBOW_SOURCE_DIR "/topology/machines/dgx1v-like.xml")};
  return both;
}

void check_written_again(const GivenPlan& plan, const Topology& machine) {
  const std::string text = run_record_text(
      plan_json(machine, {plan.topology, plan.placement, plan.reduction, model_bytes}));
  const std::string again = fuzzing::put(
      "again", reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  const GivenPlan reread = read_plan_file(again, machine, model_bytes);
  fuzzing::require(
      reread.reduction.tree == plan.reduction.tree &&
          reread.placement.device_of_learner == plan.placement.device_of_learner &&
          reread.placement.pus_of_learner == plan.placement.pus_of_learner &&
          reread.placement.prefetch_pu_of_learner ==
              plan.placement.prefetch_pu_of_learner,
      "a plan that was written again reads back equal");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzzing::put("input", data, size);
  for (const Topology& machine : machines()) {
    const auto plan =
        fuzzing::accepted([&] { return read_plan_file(path, machine, model_bytes); });
    if (plan) {
      check_written_again(*plan, machine);
    }
  }
  return 0;
}
