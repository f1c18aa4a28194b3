// Fuzz target of machine files (XML): a machine that is accepted can be planned for.

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>

#include <pthread.h>
#include <sanitizer/common_interface_defs.h>

#include "base/fuzzing.hpp"

#include "topology/devices.hpp"
#include "topology/placement.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"

namespace {

/// A trial of a file in a process of its own may fail: that is what it is for.
void die_quietly() {
  __sanitizer_set_death_callback(nullptr);
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM}) {
    std::signal(number, SIG_DFL);
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  return pthread_atfork(nullptr, nullptr, die_quietly);
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
