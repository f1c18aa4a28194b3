#include <utility>

#include "config/key_groups.hpp"

namespace crossbow {

namespace {

KeyBindings learner_keys() {
  return {
      key(
          {.section = "learners",
           .key = "per_device",
           .type = KeyType::integer,
           .range = from_to(1, 1024),
           .help = "Learners on each device."},
          [](auto& c) -> auto& { return c.learners.per_device; }),
      bind_or_word<RunConfig>(
          {.section = "learners",
           .key = "threads",
           .type = KeyType::integer,
           .range = from_to(1, 512),
           .help = "Threads of each learner on the host; `\"auto\"`: the "
                   "process's cores divided among the learners."},
          "auto",
          0,
          [](auto& c) -> auto& { return c.learners.threads; }),
  };
}

KeyBindings device_keys() {
  const EnumNames<BackendName> backends = {{"auto", BackendName::automatic},
                                           {"host", BackendName::host},
                                           {"cuda", BackendName::cuda}};
  const EnumNames<HostDomain> domains = {{"machine", HostDomain::machine},
                                         {"numa", HostDomain::numa},
                                         {"package", HostDomain::package},
                                         {"l3", HostDomain::l3},
                                         {"core", HostDomain::core}};
  return {
      bind_names<RunConfig>(
          {.section = "devices",
           .key = "backend",
           .help = "`auto`: CUDA where a device and crossbow-cuda are found, "
                   "else the host."},
          backends,
          [](auto& c) -> auto& { return c.devices.backend; }),
      key(
          {.section = "devices",
           .key = "bind",
           .type = KeyType::boolean,
           .help = "Bind each learner to cores of its own."},
          [](auto& c) -> auto& { return c.devices.bind; }),
      bind_names<RunConfig>(
          {.section = "devices",
           .key = "domain",
           .help =
               "What a device of the host is: the cores of the machine, of a NUMA node, "
               "of a package, of an L3 cache, or each core."},
          domains,
          [](auto& c) -> auto& { return c.devices.domain; }),
      key(
          {.section = "devices",
           .key = "use",
           .type = KeyType::text_list,
           .most_size = 1000,
           .default_text = "all",
           .help =
               "Devices to use, as `crossbow topology` names them; GPUs also by UUID."},
          [](auto& c) -> auto& { return c.devices.use; }),
      key(
          {.section = "devices",
           .key = "topology",
           .default_text = "this machine",
           .help = "Another machine whose devices and reduction tree the host plays: an "
                   "XML file of lstopo or a synthetic description of hwloc, e.g. "
                   "`\"pack:3 numa:1 core:2 pu:1\"`. Learners share the real cores, "
                   "unbound. Host only."},
          [](auto& c) -> auto& { return c.devices.topology; }),
      key(
          {.section = "devices",
           .key = "plan",
           .default_text = "made at the start",
           .help =
               "A file that `crossbow topology --json FILE` wrote, perhaps edited: its "
               "placement and tree are used, not `learners.per_device` and, unless a "
               "machine is played, not `learners.threads`."},
          [](auto& c) -> auto& { return c.devices.plan; }),
  };
}

}  // namespace

KeyBindings machine_keys() {
  KeyBindings keys = learner_keys();
  KeyBindings devices = device_keys();
  for (KeyBinding& key : devices) {
    keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace crossbow
