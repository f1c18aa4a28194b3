#include "driver/plan_file.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "base/error.hpp"

#include "io/run_record.hpp"
#include "topology/devices.hpp"
#include "topology/locality_domain.hpp"
#include "topology/route.hpp"

namespace crossbow {
namespace {

using nlohmann::json;

template <class T>
json text_or_null(const T& text) {
  return text.empty() ? json() : json(text);
}

const std::string& id_of(const Topology& topology, int device) {
  return topology.devices()[static_cast<std::size_t>(device)].id;
}

json ids_of(const Topology& topology, const std::vector<int>& devices) {
  json ids = json::array();
  for (const int device : devices) {
    ids.push_back(id_of(topology, device));
  }
  return ids;
}

json numa_json(const Topology& topology, int node) {
  return node == -1
             ? json()
             : json(topology.numa_nodes()[static_cast<std::size_t>(node)].os_index);
}

json device_json(const Topology& topology, const Device& device) {
  return {
      {"id", device.id},
      {"kind", device.kind == DeviceKind::gpu ? "gpu" : "host"},
      {"name", text_or_null(device.name)},
      {"pci", text_or_null(device.pci)},
      {"uuid", text_or_null(device.uuid)},
      {"numa", numa_json(topology, device.numa_node)},
      {"package",
       device.package == -1
           ? json()
           : json(
                 topology.packages()[static_cast<std::size_t>(device.package)].os_index)},
      {"memory_bytes", device.memory == 0 ? json() : json(device.memory)},
      {"cores", device.cores}};
}

json placement_json(const Topology& topology, const Placement& placement) {
  json learners = json::array();
  for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
    const int prefetch = placement.prefetch_pu_of_learner[j];
    learners.push_back(
        {{"learner", j},
         {"device",
          topology.devices().empty()
              ? json()
              : json(id_of(topology, placement.device_of_learner[j]))},
         {"pus", placement.pus_of_learner[j]},
         {"prefetch_pu", prefetch == -1 ? json() : json(prefetch)},
         {"numa", numa_json(topology, placement.numa_node_of_learner[j])}});
  }
  return {{"learners", learners}, {"warning", text_or_null(placement.warning)}};
}

json rate_json(double rate) {
  return rate == 0 ? json() : json(rate);
}

json edge_json(const Topology& topology, const ReductionTree& tree, int from) {
  const auto edge = std::find_if(
      tree.edges.begin(), tree.edges.end(), [from](const ReductionEdge& candidate) {
        return candidate.from == from;
      });
  return {{"from", id_of(topology, edge->from)},
          {"to", id_of(topology, edge->to)},
          {"link", link_type_name(edge->link)},
          {"gb_per_s", rate_json(edge->rate)}};
}

json tree_json(const Topology& topology, const ReductionPlan& plan) {
  json edges = json::array();
  for (const std::vector<int>& children : plan.tree.children) {
    for (const int child : children) {  // in the order of adding
      edges.push_back(edge_json(topology, plan.tree, child));
    }
  }
  return {{"root", id_of(topology, plan.tree.root)},
          {"edges", edges},
          {"depth", plan.tree.depth},
          {"chunk_bytes", plan.chunk_bytes}};
}

json prediction_json(const Topology& topology,
                     const ReductionPlan& plan,
                     std::int64_t model_bytes) {
  json rings = json::array();
  for (const Ring& ring : plan.rings) {
    rings.push_back({{"order", ids_of(topology, ring.order)}, {"share", ring.share}});
  }
  return {{"model_bytes", model_bytes},
          {"method", reduction_method_name(plan.method)},
          {"seconds", plan.cost.seconds},
          {"latency_seconds", plan.cost.latency},
          {"bottleneck", text_or_null(plan.bottleneck)},
          {"rings", rings},
          {"tree_seconds", plan.tree_cost.seconds},
          {"flat_ring_seconds", plan.flat_ring_seconds},
          {"star_seconds", plan.star_seconds}};
}

json domains_json(const Topology& topology) {
  json domains = json::array();
  for (const LocalityDomain& domain : locality_domains(topology)) {
    domains.push_back({{"kind", domain_kind_name(domain.kind)},
                       {"name", domain.name},
                       {"devices", ids_of(topology, domain.devices)},
                       {"cores", domain.cores}});
  }
  return domains;
}

/// Reads one plan; every complaint names the file and the place in it.
class PlanReader {
 public:
  PlanReader(const std::string& path, const Topology& machine)
      : path_(path), machine_(machine), plan_(read_run_record(path)) {
    // A run's record holds its plan under `devices`.
    if (plan_.is_object() && plan_.contains("devices") &&
        plan_.at("devices").is_object()) {
      plan_ = json(plan_.at("devices"));
    }
  }

  GivenPlan read(std::int64_t model_bytes) {
    Topology topology = with_devices(machine_, device_names(), path_);
    Placement placement = read_placement(topology);
    const ReductionTree tree = read_tree(topology);
    const int per_device =
        placement.learners() / static_cast<int>(topology.devices().size());
    ReductionPlan reduction =
        plan_with_tree(topology, std::max(1, per_device), model_bytes, tree);
    return {std::move(topology), std::move(placement), std::move(reduction)};
  }

 private:
  [[noreturn]] void fail(const std::string& what, const std::string& where) const {
    throw Error(ExitCode::usage,
                {"the plan cannot be used",
                 what,
                 path_ + (where.empty() ? "" : ", " + where),
                 "Write one with crossbow topology --json FILE and edit that"});
  }

  const json& member(const json& object,
                     const std::string& key,
                     json::value_t type,
                     const std::string& where) const {
    if (!object.is_object() || !object.contains(key)) {
      fail("\"" + key + "\" is missing", where);
    }
    const json& value = object.at(key);
    if (value.type() != type) {
      fail("\"" + key + "\" is " + value.type_name() + ", not " + json(type).type_name(),
           where);
    }
    return value;
  }

  /// A whole number from 0 to a million, as far as learners and PUs go.
  int number(const json& value, const std::string& what, const std::string& where) const {
    constexpr std::int64_t most = 1000000;
    if (!value.is_number_integer() || value > most || value < 0) {
      fail(what + " " + value.dump().substr(0, 40) + " is not a whole number from 0 to " +
               std::to_string(most),
           where);
    }
    return value.get<int>();
  }

  const json& learner_entries() const {
    const json& entries = member(member(plan_, "placement", json::value_t::object, ""),
                                 "learners",
                                 json::value_t::array,
                                 "placement");
    if (entries.empty()) {
      fail("it has no learners", "placement");
    }
    return entries;
  }

  /// The devices that have learners, each once.
  std::vector<std::string> device_names() const {
    std::vector<std::string> names;
    std::set<std::string> known;
    int index = 0;
    for (const json& entry : learner_entries()) {
      const auto name = member(entry,
                               "device",
                               json::value_t::string,
                               "placement, entry " + std::to_string(index++))
                            .get<std::string>();
      if (known.insert(name).second) {
        names.push_back(name);
      }
    }
    return names;
  }

  int device_named(const Topology& topology,
                   const std::string& id,
                   const std::string& where) const {
    for (std::size_t i = 0; i < topology.devices().size(); ++i) {
      if (topology.devices()[i].id == id) {
        return static_cast<int>(i);
      }
    }
    fail("\"" + id + "\" is none of its devices", where);
  }

  struct Learner {
    int device = 0;
    int number = 0;
    std::vector<int> pus;
    int prefetch_pu = -1;
  };

  int read_pu(const json& value, const std::string& where) const {
    const int pu = number(value, "PU", where);
    if (!machine_.has_pu(pu)) {
      fail("PU " + std::to_string(pu) + " is none that this process may use", where);
    }
    return pu;
  }

  Learner read_learner(const Topology& topology,
                       const json& entry,
                       const std::string& where) const {
    Learner learner;
    if (!entry.contains("learner")) {
      fail("\"learner\" is missing", where);
    }
    learner.number = number(entry.at("learner"), "learner", where);
    learner.device = device_named(
        topology,
        member(entry, "device", json::value_t::string, where).get<std::string>(),
        where);
    for (const json& pu : member(entry, "pus", json::value_t::array, where)) {
      learner.pus.push_back(read_pu(pu, where));
    }
    const std::set<int> distinct(learner.pus.begin(), learner.pus.end());
    if (learner.pus.empty() || distinct.size() != learner.pus.size()) {
      fail("a learner has no PU, or one twice", where);
    }
    if (entry.contains("prefetch_pu") && !entry.at("prefetch_pu").is_null()) {
      learner.prefetch_pu = read_pu(entry.at("prefetch_pu"), where);
    }
    return learner;
  }

  std::vector<Learner> read_learners(const Topology& topology) const {
    const json& entries = learner_entries();
    std::vector<Learner> learners;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      learners.push_back(
          read_learner(topology, entries[i], "placement, entry " + std::to_string(i)));
      if (learners[i].pus.size() != learners[0].pus.size()) {
        fail("learners have different numbers of PUs", "placement");
      }
    }
    std::vector<int> times(learners.size(), 0);
    for (const Learner& learner : learners) {
      if (learner.number < 0 || learner.number >= static_cast<int>(times.size()) ||
          ++times[static_cast<std::size_t>(learner.number)] > 1) {
        fail("learner " + std::to_string(learner.number) +
                 " is there twice or should not be there; each of 0 to " +
                 std::to_string(static_cast<std::int64_t>(times.size()) - 1) +
                 " is wanted once",
             "placement");
      }
    }
    return learners;
  }

  Placement read_placement(const Topology& topology) const {
    std::vector<Learner> learners = read_learners(topology);
    std::sort(learners.begin(), learners.end(), [](const Learner& a, const Learner& b) {
      return std::pair(a.device, a.number) < std::pair(b.device, b.number);
    });
    Placement placement;
    for (const Learner& learner : learners) {
      const Device& device = topology.devices()[static_cast<std::size_t>(learner.device)];
      placement.device_of_learner.push_back(learner.device);
      placement.pus_of_learner.push_back(learner.pus);
      placement.prefetch_pu_of_learner.push_back(learner.prefetch_pu);
      placement.numa_node_of_learner.push_back(
          memory_node(topology, device, learner.pus.front()));
    }
    placement.warning = sharing_warning(topology, placement);
    return placement;
  }

  /// The tree of the edges, which stand in the order of adding.
  ReductionTree read_tree(const Topology& topology) const {
    const json& given = member(plan_, "tree", json::value_t::object, "");
    const json& edges = member(given, "edges", json::value_t::array, "tree");
    std::vector<int> parents(topology.devices().size(), -1);
    std::vector<std::vector<int>> children(topology.devices().size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::string where = "tree, edge " + std::to_string(i);
      const int from = device_named(
          topology,
          member(edges[i], "from", json::value_t::string, where).get<std::string>(),
          where);
      const int to = device_named(
          topology,
          member(edges[i], "to", json::value_t::string, where).get<std::string>(),
          where);
      if (parents[static_cast<std::size_t>(from)] != -1) {
        fail("device " + id_of(topology, from) + " has two parents", where);
      }
      parents[static_cast<std::size_t>(from)] = to;
      children[static_cast<std::size_t>(to)].push_back(from);
    }
    std::vector<std::string> names;
    names.reserve(topology.devices().size());
    for (const Device& device : topology.devices()) {
      names.push_back(device.id);
    }
    if (const std::string fault = tree_fault(parents, names); !fault.empty()) {
      fail("its edges are not a tree: " + fault, "tree");
    }
    ReductionTree tree = tree_of_parents(Routes(topology), parents);
    tree.children = std::move(children);
    const std::string& root = id_of(topology, tree.root);
    if (given.contains("root")) {
      const auto stated =
          member(given, "root", json::value_t::string, "tree").get<std::string>();
      if (stated != root) {
        fail("\"root\" is \"" + stated + "\", but the edges lead to " + root, "tree");
      }
    }
    return tree;
  }

  const std::string& path_;
  const Topology& machine_;
  json plan_;
};

}  // namespace

json plan_json(const Topology& machine, const TopologyView& view) {
  json devices = json::array();
  for (const Device& device : machine.devices()) {
    devices.push_back(device_json(machine, device));
  }
  const bool has_devices = !view.topology.devices().empty();
  return {{"machine", text_or_null(machine.machine_name())},
          {"devices", devices},
          {"domains", domains_json(machine)},
          {"placement", placement_json(view.topology, view.placement)},
          {"tree", has_devices ? tree_json(view.topology, view.plan) : json()},
          {"prediction", prediction_json(view.topology, view.plan, view.model_bytes)}};
}

GivenPlan read_plan_file(const std::string& path,
                         const Topology& machine,
                         std::int64_t model_bytes) {
  return PlanReader(path, machine).read(model_bytes);
}

}  // namespace crossbow
