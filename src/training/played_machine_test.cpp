// Machines that are not here, played by this host's cores: all their learners, over their
// reduction trees.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "topology/devices.hpp"
#include "topology/placement.hpp"
#include "topology/probe.hpp"
#include "topology/reduction_plan.hpp"

#include "training/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

constexpr std::int64_t v100_model = 100'000'000;  // [bytes] that trees are planned for

struct Played {
  std::string name;
  Topology topology;
  int learners_per_device;
};

std::vector<Played> played_machines() {
  const std::string folder = CROSSBOW_SOURCE_DIR "/topology/machines/";
  return {
      {"DGX-1V", probe_xml(folder + "dgx1v-like.xml"), 2},
      {"DGX A100", probe_xml(folder + "dgxa100-like.xml"), 1},
      {"3 x 2",
       with_host_devices(probe_synthetic("pack:3 numa:1 core:2 pu:1"), HostDomain::numa),
       2}};
}

/// A run of sma on all learners of a machine, over its tree.
TrainerOptions run_on(const Played& machine) {
  const int devices = static_cast<int>(machine.topology.devices().size());
  TrainerOptions options = sma_run(machine.learners_per_device * devices);
  options.training.epochs = 4;
  options.tree =
      plan_reduction(machine.topology, machine.learners_per_device, v100_model).tree;
  options.placement = place_learners(machine.topology, machine.learners_per_device, 1);
  return options;
}

TEST(PlayedMachine, every_edge_of_the_plan_is_executed_in_every_round_and_no_other) {
  const MadeUpData data(300);
  for (const Played& machine : played_machines()) {
    const TrainerOptions options = run_on(machine);
    ASSERT_EQ(options.tree.edges.size() + 1, machine.topology.devices().size());
    Recorder recorder;
    const TrainingEnd end = run(options, data, recorder);
    ASSERT_GT(end.rounds, 3) << machine.name;
    std::vector<ExecutedEdge> planned;
    for (const ReductionEdge& edge : options.tree.edges) {
      planned.push_back({edge.from, edge.to, end.rounds});  // the model is one chunk
    }
    EXPECT_EQ(end.edges, planned) << machine.name;
  }
}

TEST(PlayedMachine, runs_under_random_delays_are_bitwise_equal) {
  const MadeUpData data(300);
  for (const Played& machine : played_machines()) {
    const TrainerOptions options = run_on(machine);
    Recorder calm, delayed;
    delayed.delay_seed = 7;
    run(options, data, calm);
    run(options, data, delayed);
    expect_same_state(calm.checkpoints.back(), delayed.checkpoints.back());
  }
}

// The tree changes in which order corrections are added, and nothing else.
TEST(PlayedMachine, a_tree_gives_the_flat_sum_to_rounding) {
  const MadeUpData data(300);
  for (const Played& machine : played_machines()) {
    const TrainerOptions on_tree = run_on(machine);
    TrainerOptions flat = on_tree;
    flat.tree = ReductionTree();
    flat.placement = Placement();
    const TrainingState a = final_state(on_tree, data), b = final_state(flat, data);
    EXPECT_LT(distance(a.tensors, b.tensors, "average/"), 1e-5) << machine.name;
    EXPECT_LT(distance(a.tensors, b.tensors, "replica1/"), 1e-5) << machine.name;
  }
}

TEST(PlayedMachine, devices_may_have_unequal_numbers_of_learners) {
  const MadeUpData data(300);
  TrainerOptions options = sma_run(5);
  options.tree = star_of(3);
  options.placement.pus_of_learner = {{0}, {0}, {0}, {0}, {0}};
  options.placement.device_of_learner = {0, 1, 1, 1, 2};
  TrainerOptions flat = options;
  flat.tree = ReductionTree();
  flat.placement = Placement();
  const TrainingState a = final_state(options, data), b = final_state(flat, data);
  EXPECT_LT(distance(a.tensors, b.tensors, "average/"), 1e-5);

  options.averaging.method = AveragingMethodName::reference;
  Recorder recorder;
  try {
    run(options, data, recorder);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_STREQ(error.what(),
                 "the devices have unequal numbers of learners (1, 3, 1, "
                 "averaging.method = \"reference\"). Give every device as many learners "
                 "as the others");
  }
}

}  // namespace
}  // namespace crossbow
