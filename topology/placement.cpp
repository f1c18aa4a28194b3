#include "topology/placement.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
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

  /// Choose the PUs for the threads of one learner, those of cores without work first.
  std::vector<int> take(int n_threads) {
    const std::vector<int> cores = best_place(n_threads);
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

  std::vector<int> cores_of_node(const L3Group& place) const {
    std::vector<int> cores;
    for (const L3Group& group : topology_.l3_groups()) {
      if (group.package == place.package && group.numa_node == place.numa_node) {
        cores.insert(cores.end(), group.cores.begin(), group.cores.end());
      }
    }
    return cores;
  }

  /// Give the cores of an L3 group with room, else of a NUMA node, else of the machine:
  /// of those in the emptiest node, the emptiest cache, the first.
  std::vector<int> best_place(int n_threads) const {
    std::vector<int> best;
    std::tuple<bool, int, int, int, int> best_rank;
    const auto has_room = [this, n_threads](const Left& left) {
      return left.n_sure + std::min(left.n_spare, n_spare_) >= n_threads;
    };
    for (const L3Group& group : topology_.l3_groups()) {
      const std::vector<int> node = cores_of_node(group);
      const Left in_node = left_in(node);
      const Left in_cache = left_in(group.cores);
      const std::tuple rank{has_room(in_cache),
                            in_node.n_sure,
                            in_node.n_spare,
                            in_cache.n_sure,
                            in_cache.n_spare};
      if (has_room(in_node) && (best.empty() || rank > best_rank)) {
        best = has_room(in_cache) ? group.cores : node;
        best_rank = rank;
      }
    }
    if (best.empty()) {
      best.resize(states_.size());
      std::iota(best.begin(), best.end(), 0);
    }
    return best;
  }

  const Topology& topology_;
  std::vector<State> states_;  // of each core
  int n_spare_;
};

int l3_group_of(const Topology& topology, int pu) {
  for (const Core& core : topology.cores()) {
    if (std::find(core.pus.begin(), core.pus.end(), pu) != core.pus.end()) {
      return core.l3_group;
    }
  }
  return -1;
}

std::string plural(int n, const std::string& noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

std::string warn_of_sharing(const Topology& topology, int learners, int threads) {
  const int n_wanted = learners * threads;
  const auto n_cores = static_cast<int>(topology.cores().size());
  const auto n_pus = static_cast<int>(topology.pus().size());
  if (n_wanted <= n_cores) {
    return "";
  }
  return plural(learners, "learner") + " with " + plural(threads, "thread") +
         " each want " + plural(n_wanted, "core") + ", but this process may use " +
         plural(n_cores, "core") +
         (n_wanted <= n_pus ? ": some run on the second hardware thread of a core"
                            : ": threads take turns on a core");
}

}  // namespace

Placement place_learners(const Topology& topology,
                         int learners,
                         int threads_per_learner) {
  CROSSBOW_EXPECT(learners >= 1 && threads_per_learner >= 1 && !topology.cores().empty());
  Placement placement;
  Turns turns(topology, learners * threads_per_learner);
  for (int learner = 0; learner < learners; ++learner) {
    placement.pus_of_learner.push_back(turns.take(threads_per_learner));
  }
  std::stable_sort(
      placement.pus_of_learner.begin(),
      placement.pus_of_learner.end(),
      [&topology](const std::vector<int>& left, const std::vector<int>& right) {
        return l3_group_of(topology, left.front()) < l3_group_of(topology, right.front());
      });
  placement.warning = warn_of_sharing(topology, learners, threads_per_learner);
  return placement;
}

}  // namespace crossbow
