#include "training/state_transfer.hpp"

#include <string>
#include <vector>

#include "model/host_transfer.hpp"
#include "model/initial_weights.hpp"

namespace crossbow {
namespace {

/// Whether `state` has anything under `prefix`.
bool has(const TrainingState& state,
         const ParameterLayout& layout,
         const std::string& prefix) {
  return state.tensors.count(prefix + layout.slots().front().name) > 0;
}

/// Fill `vector` from the first of `prefixes` that the state has, if any.
template <class Exec>
void place(const Exec& exec,
           const ParameterLayout& layout,
           const TrainingState& state,
           const std::vector<std::string>& prefixes,
           Span<Exec> vector) {
  if (layout.slots().empty()) {
    return;
  }
  for (const std::string& prefix : prefixes) {
    if (has(state, layout, prefix)) {
      load_vector<Exec>(exec, layout, prefix, state.tensors, vector);
      return;
    }
  }
}

}  // namespace

template <class Exec>
void place_replica(const Exec& exec,
                   const ReplicaLayouts& layouts,
                   const TrainingState& state,
                   int j,
                   const Replica<Exec>& replica) {
  const std::string own = std::to_string(j) + "/";
  if (!layouts.parameters.slots().empty()) {
    const std::string name = "replica" + own;
    const bool is_known = has(state, layouts.parameters, name);
    // There is no training without weights: where these are missing it says so.
    load_vector<Exec>(
        exec, layouts.parameters, is_known ? name : "average/", state.tensors, replica.w);
  }
  place(exec, layouts.parameters, state, {"velocity" + own}, replica.v);
  TrainingState fresh;
  for (auto& [name, tensor] : initial_statistics(layouts.statistics)) {
    fresh.tensors["average_statistics/" + name] = tensor;
  }
  place(exec, layouts.statistics, fresh, {"average_statistics/"}, replica.statistics);
  place(exec,
        layouts.statistics,
        state,
        {"statistics" + own, "average_statistics/"},
        replica.statistics);
}

template <class Exec>
void collect_tensors(const Exec& exec,
                     const ReplicaLayouts& layouts,
                     const ReplicaStore<Exec>& store,
                     const AveragingMethod<Exec>& method,
                     Span<Exec> average_statistics,
                     TrainingState& state) {
  method.save(exec, state.packed);
  const auto collect =
      [&](const ParameterLayout& layout, Span<Exec> vector, const std::string& prefix) {
        save_vector<Exec>(exec, layout, prefix, vector, state.packed);
      };
  collect(layouts.statistics, average_statistics, "average_statistics/");
  for (int j = 0; j < store.learners(); ++j) {
    const Replica<Exec> replica = store.replica(j);
    const std::string own = std::to_string(j) + "/";
    collect(layouts.statistics, replica.statistics, "statistics" + own);
    if (j < method.distinct_replicas()) {
      collect(layouts.parameters, replica.w, "replica" + own);
      collect(layouts.parameters, replica.v, "velocity" + own);
    }
  }
}

#define CROSSBOW_INSTANTIATE(Exec)                            \
  template void place_replica(const Exec&,                    \
                              const ReplicaLayouts&,          \
                              const TrainingState&,           \
                              int,                            \
                              const Replica<Exec>&);          \
  template void collect_tensors(const Exec&,                  \
                                const ReplicaLayouts&,        \
                                const ReplicaStore<Exec>&,    \
                                const AveragingMethod<Exec>&, \
                                Span<Exec>,                   \
                                TrainingState&);
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
