// Fuzz target of machine files (XML): a machine that is accepted can be planned for.

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/fuzzing.hpp"

#include "topology/devices.hpp"
#include "topology/placement.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return crossbow::fuzzing::let_children_fail();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace crossbow;
  const std::string path = fuzzing::put("input", data, size);
  const auto machine = fuzzing::accepted([&] { return probe_xml(path); });
  if (machine) {
    fuzzing::accepted([&] {
      const Topology used = machine->devices().empty()
                                ? with_host_devices(*machine, HostDomain::numa)
                                : *machine;
      place_learners(used, 2, 1);
      return plan_reduction(used, 2, 1'000'000);
    });
  }
  return 0;
}
