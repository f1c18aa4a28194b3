#include "topology/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/contract.hpp"

namespace crossbow {
namespace {

/// Turns at PUs, dealt evenly: every core gets its first PU before any gets a second, and
/// every PU a first thread before any gets a second. Which turns there will be is settled
/// at the start, from the number of threads in all, so that a learner may take both PUs
/// of a near core at once.
class Turns {
 public:
  Turns(const Topology& topology, int n_threads)
      : topology_(topology), states_(topology.cores().size()), n_spare_(n_threads) {
    std::vector<std::size_t> deal = cores_of_layer(0);
    for (std::size_t layer = 0; static_cast<int>(deal.size()) <= n_spare_;) {
      for (const std::size_t core : deal) {
        ++states_[core].n_sure;
      }
      n_spare_ -= static_cast<int>(deal.size());
      deal = cores_of_layer(++layer);
      if (deal.empty()) {  // every PU has its thread: from the start again
        layer = 0;
        deal = cores_of_layer(layer);
      }
    }
    for (const std::size_t core : deal) {
      states_[core].has_spare = true;
    }
  }

  /// Choose the PUs for the threads of one learner, those of cores without work first,
  /// from the first of `choices` that has room for them, else from anywhere.
  std::vector<int> take(int n_threads, const std::vector<std::vector<bool>>& choices) {
    std::vector<int> cores;
    for (const std::vector<bool>& choice : choices) {
      if (cores = best_place(n_threads, choice); !cores.empty()) {
        break;
      }
    }
    if (cores.empty()) {
      cores.resize(states_.size());
      std::iota(cores.begin(), cores.end(), 0);
    }
    std::vector<int> pus;
    while (static_cast<int>(pus.size()) < n_threads) {
      const int core = next_core(cores);
      State& state = states_[core];
      const std::vector<int>& own = topology_.cores()[core].pus;
      pus.push_back(own[state.n_taken % own.size()]);
      ++state.n_taken;
      if (state.n_sure > 0) {
        --state.n_sure;
      } else {
        state.has_spare = false;
        --n_spare_;
      }
    }
    return pus;
  }

 private:
  struct State {
    int n_sure = 0;          // turns left that somebody must take
    bool has_spare = false;  // one more, of which n_spare_ are taken in all
    std::size_t n_taken = 0;
  };

  std::vector<std::size_t> cores_of_layer(std::size_t layer) const {
    std::vector<std::size_t> cores;
    for (std::size_t core = 0; core < states_.size(); ++core) {
      if (topology_.cores()[core].pus.size() > layer) {
        cores.push_back(core);
      }
    }
    return cores;
  }

  struct Left {
    int n_sure = 0;
    int n_spare = 0;
  };

  Left left_in(const std::vector<int>& cores) const {
    Left left;
    for (const int core : cores) {
      left.n_sure += states_[core].n_sure;
      left.n_spare += states_[core].has_spare ? 1 : 0;
    }
    return left;
  }

  /// Give the least used core with a turn left, the first of several.
  int next_core(const std::vector<int>& cores) const {
    int best = -1;
    for (const int core : cores) {
      const State& state = states_[core];
      const bool has_turn = state.n_sure > 0 || (state.has_spare && n_spare_ > 0);
      if (has_turn && (best == -1 || state.n_taken < states_[best].n_taken)) {
        best = core;
      }
    }
    CROSSBOW_ENSURE(best != -1);
    return best;
  }

  static std::vector<int> chosen_of(const std::vector<int>& cores,
                                    const std::vector<bool>& choice) {
    std::vector<int> chosen;
    for (const int core : cores) {
      if (choice[static_cast<std::size_t>(core)]) {
        chosen.push_back(core);
      }
    }
    return chosen;
  }

  std::vector<int> cores_of_node(const L3Group& place,
                                 const std::vector<bool>& choice) const {
    std::vector<int> cores;
    for (const L3Group& group : topology_.l3_groups()) {
      if (group.package == place.package && group.numa_node == place.numa_node) {
        const std::vector<int> chosen = chosen_of(group.cores, choice);
        cores.insert(cores.end(), chosen.begin(), chosen.end());
      }
    }
    return cores;
  }

  /// Give the chosen cores of an L3 group with room, else of a NUMA node, else all: of
  /// those in the emptiest node, the emptiest cache, the first. None if all together have
  /// no room.
  std::vector<int> best_place(int n_threads, const std::vector<bool>& choice) const {
    std::vector<int> best;
    std::tuple<bool, int, int, int, int> best_rank;
    const auto has_room = [this, n_threads](const Left& left) {
      return left.n_sure + std::min(left.n_spare, n_spare_) >= n_threads;
    };
    for (const L3Group& group : topology_.l3_groups()) {
      const std::vector<int> node = cores_of_node(group, choice);
      const std::vector<int> cache = chosen_of(group.cores, choice);
      const Left in_node = left_in(node);
      const Left in_cache = left_in(cache);
      const std::tuple rank{has_room(in_cache),
                            in_node.n_sure,
                            in_node.n_spare,
                            in_cache.n_sure,
                            in_cache.n_spare};
      if (has_room(in_node) && (best.empty() || rank > best_rank)) {
        best = has_room(in_cache) ? cache : node;
        best_rank = rank;
      }
    }
    if (best.empty()) {
      std::vector<int> all(states_.size());
      std::iota(all.begin(), all.end(), 0);
      all = chosen_of(all, choice);
      if (has_room(left_in(all))) {
        return all;
      }
    }
    return best;
  }

  const Topology& topology_;
  std::vector<State> states_;  // of each core
  int n_spare_;
};

const Core& core_of_pu(const Topology& topology, int pu) {
  return *std::find_if(
      topology.cores().begin(), topology.cores().end(), [pu](const Core& core) {
        return std::find(core.pus.begin(), core.pus.end(), pu) != core.pus.end();
      });
}

std::string plural(int n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

template <class IsChosen>
std::vector<bool> choose(const Topology& topology, IsChosen is_chosen) {
  std::vector<bool> chosen;
  chosen.reserve(topology.cores().size());
  for (const Core& core : topology.cores()) {
    chosen.push_back(is_chosen(core));
  }
  return chosen;
}

/// The cores of a device, nearest first: its own or those of its NUMA node, then of its
/// package, then all.
std::vector<std::vector<bool>> cores_near(const Topology& topology,
                                          const Device& device) {
  std::vector<std::vector<bool>> near;
  if (device.kind == DeviceKind::host) {
    std::vector<bool> own(topology.cores().size(), false);
    for (const int core : device.cores) {
      own[static_cast<std::size_t>(core)] = true;
    }
    near.push_back(std::move(own));
  } else if (device.numa_node != -1) {
    near.push_back(choose(
        topology, [&](const Core& core) { return core.numa_node == device.numa_node; }));
  }
  if (device.package != -1) {
    near.push_back(choose(
        topology, [&](const Core& core) { return core.package == device.package; }));
  }
  near.push_back(choose(topology, [](const Core&) { return true; }));
  return near;
}

/// A device that stands for the whole machine.
Device whole_machine() {
  Device device;
  device.kind = DeviceKind::host;
  return device;
}

/// Takes turns for all learners: first where they run, then where GPUs' learners have
/// their reading threads.
class Placer {
 public:
  Placer(const Topology& topology, int learners_per_device, int threads)
      : topology_(topology),
        devices_(topology.devices()),
        per_device_(learners_per_device),
        threads_(threads) {
    if (devices_.empty()) {
      devices_ = {whole_machine()};
      for (std::size_t core = 0; core < topology.cores().size(); ++core) {
        devices_.front().cores.push_back(static_cast<int>(core));
      }
    }
  }

  Placement place() {
    const bool on_gpus = devices_.front().kind == DeviceKind::gpu;
    const int learners = per_device_ * static_cast<int>(devices_.size());
    const int threads = on_gpus ? 2 : threads_;
    Turns turns(topology_, learners * threads);
    for (std::size_t device = 0; device < devices_.size(); ++device) {
      add_learners(turns, static_cast<int>(device), on_gpus ? 1 : threads_);
    }
    placement_.prefetch_pu_of_learner.assign(static_cast<std::size_t>(learners), -1);
    for (int learner = 0; on_gpus && learner < learners; ++learner) {
      const int device = placement_.device_of_learner[static_cast<std::size_t>(learner)];
      placement_.prefetch_pu_of_learner[static_cast<std::size_t>(learner)] =
          turns.take(1, cores_near(topology_, devices_[static_cast<std::size_t>(device)]))
              .front();
    }
    placement_.warning = sharing_warning(topology_, placement_);
    return std::move(placement_);
  }

 private:
  void add_learners(Turns& turns, int device, int threads) {
    const Device& own = devices_[static_cast<std::size_t>(device)];
    const std::vector<std::vector<bool>> near = cores_near(topology_, own);
    std::vector<std::vector<int>> pus;
    pus.reserve(static_cast<std::size_t>(per_device_));
    for (int learner = 0; learner < per_device_; ++learner) {
      pus.push_back(turns.take(threads, near));
    }
    const auto group = [this](const std::vector<int>& one) {
      return core_of_pu(topology_, one.front()).l3_group;
    };
    std::stable_sort(pus.begin(), pus.end(), [&](const auto& left, const auto& right) {
      return group(left) < group(right);
    });
    for (std::vector<int>& one : pus) {
      placement_.device_of_learner.push_back(device);
      placement_.numa_node_of_learner.push_back(memory_node(topology_, own, one.front()));
      placement_.pus_of_learner.push_back(std::move(one));
    }
  }

  const Topology& topology_;
  std::vector<Device> devices_;
  int per_device_, threads_;
  Placement placement_;
};

}  // namespace

std::vector<int> Placement::learners_of_device() const {
  std::vector<int> learners;
  for (const int device : device_of_learner) {
    learners.resize(std::max(learners.size(), static_cast<std::size_t>(device) + 1), 0);
    ++learners[static_cast<std::size_t>(device)];
  }
  return learners;
}

int memory_node(const Topology& topology, const Device& device, int pu) {
  return device.kind == DeviceKind::gpu && device.numa_node != -1
             ? device.numa_node
             : core_of_pu(topology, pu).numa_node;
}

std::string sharing_warning(const Topology& topology, const Placement& placement) {
  std::vector<int> pus;
  for (std::size_t j = 0; j < placement.pus_of_learner.size(); ++j) {
    const std::vector<int>& own = placement.pus_of_learner[j];
    pus.insert(pus.end(), own.begin(), own.end());
    if (placement.prefetch_pu_of_learner[j] != -1) {
      pus.push_back(placement.prefetch_pu_of_learner[j]);
    }
  }
  std::set<int> distinct_pus(pus.begin(), pus.end());
  std::set<const Core*> cores;
  for (const int pu : distinct_pus) {
    cores.insert(&core_of_pu(topology, pu));
  }
  if (cores.size() == pus.size()) {
    return "";
  }
  return plural(placement.learners(), "learner") + " with " +
         plural(static_cast<int>(pus.size()) / placement.learners(), "thread") +
         " each want " + plural(static_cast<int>(pus.size()), "core") +
         ", but this process may use " +
         plural(static_cast<int>(topology.cores().size()), "core") +
         (distinct_pus.size() == pus.size()
              ? ": some run on the second hardware thread of a core"
              : ": threads take turns on a core");
}

Placement place_learners(const Topology& topology,
                         int learners_per_device,
                         int threads_per_learner) {
  CROSSBOW_EXPECT(learners_per_device >= 1 && threads_per_learner >= 1 &&
                  !topology.cores().empty());
  return Placer(topology, learners_per_device, threads_per_learner).place();
}

}  // namespace crossbow
