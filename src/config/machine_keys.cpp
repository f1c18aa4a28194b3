#include <utility>

#include "config/key_groups.hpp"

namespace crossbow {

namespace {

KeyBinding only_if_tuned(KeyBinding binding,
                         std::string condition,
                         std::string decided_by) {
  return only_if(
      std::move(binding),
      [](const RunConfig& c) { return c.learners.is_tuned(); },
      std::move(condition),
      std::move(decided_by));
}

KeyBindings learner_keys() {
  return {
      bind_or_word<RunConfig>(
          {.section = "learners",
           .key = "per_device",
           .type = KeyType::integer,
           .range = from_to(1, 1024),
           .help = "Learners on each device; `\"auto\"`: as many as make the most "
                   "images/s, found while the run begins (`tuner.csv`). How many they "
                   "are, and so the result, then depends on the machine."},
          "auto",
          0,
          [](auto& c) -> auto& { return c.learners.per_device; }),
      bind_or_word<RunConfig>(
          {.section = "learners",
           .key = "threads",
           .type = KeyType::integer,
           .range = from_to(1, 512),
           .help = "Threads of each learner on the host; `\"auto\"`: the "
                   "process's cores divided among the learners, or what is found with "
                   "`per_device`."},
          "auto",
          0,
          [](auto& c) -> auto& { return c.learners.threads; }),
      only_if_tuned(
          bind_or_word<RunConfig>(
              {.section = "learners",
               .key = "maximum",
               .type = KeyType::integer,
               .range = from_to(1, 4096),
               .help = "The most learners that are tried, on all devices together; "
                       "`\"auto\"`: 8 for each device, 32 at most."},
              "auto",
              0,
              [](auto& c) -> auto& { return c.learners.maximum; }),
          "with per_device = \"auto\"",
          "per_device"),
  };
}

KeyBindings autotune_keys() {
  const std::string condition = "with learners.per_device = \"auto\"";
  return {
      only_if_tuned(
          key(
              {.section = "autotune",
               .key = "threshold",
               .type = KeyType::number,
               .range = above_to(0, 1),
               .help = "By which share more learners must be faster than fewer."},
              [](auto& c) -> auto& { return c.autotune.threshold; }),
          condition,
          ""),
      only_if_tuned(
          key(
              {.section = "autotune",
               .key = "window",
               .type = KeyType::number,
               .range = above_to(0, 60),
               .unit = "s",
               .help = "What images/s are measured over, at least a round; each number "
                       "of learners takes six windows, and none is begun that would, by "
                       "what is known by then, take all together beyond a tenth of the "
                       "run."},
              [](auto& c) -> auto& { return c.autotune.window; }),
          condition,
          ""),
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
  KeyBindings all;
  for (const KeyBindings& keys : {learner_keys(), autotune_keys(), device_keys()}) {
    all.insert(all.end(), keys.begin(), keys.end());
  }
  return all;
}

}  // namespace crossbow
