#include "driver/plan_file.hpp"

#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

#include "io/run_record.hpp"
#include "io/test_support.hpp"
#include "topology/devices.hpp"
#include "topology/probe.hpp"

namespace crossbow {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing_support::TestFolder;

constexpr std::int64_t bytes = 100'000'000;

// Three packages of two cores, PU 2p and 2p + 1 in package p.
Topology three_by_two() {
  return with_host_devices(probe_synthetic("pack:3 numa:1 core:2 pu:1"),
                           HostDomain::numa);
}

Topology dgx1v() {
  return probe_xml(CROSSBOW_SOURCE_DIR "/topology/machines/dgx1v-like.xml");
}

json plan_of(const Topology& machine, int learners) {
  const Placement placement = place_learners(machine, learners, 1);
  const ReductionPlan plan = plan_reduction(machine, learners, bytes);
  return plan_json(machine, {machine, placement, plan, bytes});
}

GivenPlan read(const json& plan, const Topology& machine) {
  const TestFolder folder;
  write_run_record(folder / "plan.json", plan);
  return read_plan_file(folder / "plan.json", machine, bytes);
}

TEST(PlanFile, gives_back_what_was_written) {
  for (const auto& [machine, learners] :
       {std::pair{three_by_two(), 2}, std::pair{dgx1v(), 3}}) {
    const GivenPlan given = read(plan_of(machine, learners), machine);
    const Placement placement = place_learners(machine, learners, 1);
    EXPECT_EQ(given.topology.devices().size(), machine.devices().size());
    EXPECT_EQ(given.placement.pus_of_learner, placement.pus_of_learner);
    EXPECT_EQ(given.placement.device_of_learner, placement.device_of_learner);
    EXPECT_EQ(given.placement.prefetch_pu_of_learner, placement.prefetch_pu_of_learner);
    EXPECT_EQ(given.placement.numa_node_of_learner, placement.numa_node_of_learner);
    EXPECT_EQ(given.reduction.tree, plan_reduction(machine, learners, bytes).tree);
  }
}

// Learner 2 of package 1 goes to package 0, and the root becomes package 2.
TEST(PlanFile, an_edited_plan_is_taken_as_it_is) {
  const Topology machine = three_by_two();
  json plan = plan_of(machine, 2);
  plan["placement"]["learners"][2]["device"] = "numa0";
  plan["placement"]["learners"][2]["pus"] = {1};
  plan["tree"]["edges"] = {{{"from", "numa0"}, {"to", "numa1"}},
                           {{"from", "numa1"}, {"to", "numa2"}}};
  plan["tree"]["root"] = "numa2";
  const GivenPlan given = read(plan, machine);
  EXPECT_EQ(given.placement.device_of_learner, (std::vector<int>{0, 0, 0, 1, 2, 2}));
  EXPECT_EQ(given.placement.learners_of_device(), (std::vector<int>{3, 1, 2}));
  EXPECT_EQ(given.placement.pus_of_learner[2], (std::vector<int>{1}));
  EXPECT_EQ(given.reduction.tree.parent, (std::vector<int>{1, 2, -1}));
  EXPECT_EQ(given.reduction.tree.depth, 2);
}

// The edges stand in the order in which a device adds.
TEST(PlanFile, the_order_of_edges_is_the_order_of_adding) {
  const Topology machine = three_by_two();
  json plan = plan_of(machine, 1);
  plan["tree"]["root"] = "numa1";
  plan["tree"]["edges"] = {{{"from", "numa2"}, {"to", "numa1"}},
                           {{"from", "numa0"}, {"to", "numa1"}}};
  const ReductionTree tree = read(plan, machine).reduction.tree;
  EXPECT_EQ(tree.children[1], (std::vector<int>{2, 0}));
}

TEST(PlanFile, the_record_of_a_run_is_a_plan_too) {
  const Topology machine = three_by_two();
  const GivenPlan given = read({{"devices", plan_of(machine, 2)}}, machine);
  EXPECT_EQ(given.placement.learners(), 6);
}

TEST(PlanFile, devices_without_learners_are_not_used) {
  const Topology machine = three_by_two();
  json plan = plan_of(machine, 1);
  plan["placement"]["learners"].erase(2);
  plan["tree"]["edges"] = {{{"from", "numa1"}, {"to", "numa0"}}};
  plan["tree"]["root"] = "numa0";
  const GivenPlan given = read(plan, machine);
  ASSERT_EQ(given.topology.devices().size(), 2U);
  EXPECT_EQ(given.topology.devices()[1].id, "numa1");
}

struct Fault {
  std::string says;
  std::function<void(json&)> make;
};

TEST(PlanFile, what_is_wrong_is_said_in_one_sentence_with_the_place) {
  const auto learner = [](json& plan) -> json& {
    return plan["placement"]["learners"][1];
  };
  const std::vector<Fault> faults = {
      {"\"placement\" is missing", [](json& plan) { plan.erase("placement"); }},
      {"\"learners\" is object, not array",
       [](json& plan) { plan["placement"]["learners"] = json::object(); }},
      {"it has no learners",
       [](json& plan) { plan["placement"]["learners"] = json::array(); }},
      {"there is no device \"numa7\" (there are: numa0, numa1, numa2",
       [&](json& plan) { learner(plan)["device"] = "numa7"; }},
      {"learner 0 is there twice", [&](json& plan) { learner(plan)["learner"] = 0; }},
      {"learner 99 is there twice or should not be there; each of 0 to 5 is wanted once",
       [&](json& plan) { learner(plan)["learner"] = 99; }},
      {"learner \"1\" is not a whole number",
       [&](json& plan) { learner(plan)["learner"] = "1"; }},
      {"learner 1.5 is not a whole number",
       [&](json& plan) { learner(plan)["learner"] = 1.5; }},
      {"learner 18446744073709551615 is not a whole number",
       [&](json& plan) { learner(plan)["learner"] = 18446744073709551615U; }},
      {"PU 6 is none that this process may use",
       [&](json& plan) { learner(plan)["pus"] = {6}; }},
      {"PU -1 is not a whole number", [&](json& plan) { learner(plan)["pus"] = {-1}; }},
      {"PU 0.5 is not a whole number", [&](json& plan) { learner(plan)["pus"] = {0.5}; }},
      {"a learner has no PU, or one twice",
       [&](json& plan) {
         learner(plan)["pus"] = {0, 0};
       }},
      {"a learner has no PU, or one twice",
       [&](json& plan) { learner(plan)["pus"] = json::array(); }},
      {"different numbers of PUs",
       [&](json& plan) {
         learner(plan)["pus"] = {0, 1};
       }},
      {"\"numa7\" is none of its devices",
       [](json& plan) { plan["tree"]["edges"][0]["to"] = "numa7"; }},
      {"has two parents",
       [](json& plan) { plan["tree"]["edges"].push_back(plan["tree"]["edges"][0]); }},
      {"2 devices have no parent", [](json& plan) { plan["tree"]["edges"].erase(0); }},
      {"the way up from numa0 goes round in a cycle",
       [](json& plan) {
         plan["tree"]["edges"] = {{{"from", "numa0"}, {"to", "numa1"}},
                                  {{"from", "numa1"}, {"to", "numa0"}}};
       }},
      {"\"root\" is \"numa2\", but the edges lead to numa",
       [](json& plan) { plan["tree"]["root"] = "numa2"; }},
      {"the way up from numa0 goes round in a cycle",
       [](json& plan) {
         plan["tree"]["edges"] = {{{"from", "numa0"}, {"to", "numa1"}},
                                  {{"from", "numa1"}, {"to", "numa2"}},
                                  {{"from", "numa2"}, {"to", "numa0"}}};
       }},
  };
  const Topology machine = three_by_two();
  for (const Fault& fault : faults) {
    json plan = plan_of(machine, 2);
    fault.make(plan);
    try {
      read(plan, machine);
      ADD_FAILURE() << "no error: " << fault.says;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::usage) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(fault.says));
      EXPECT_THAT(error.what(), HasSubstr("plan.json"));
    }
  }
}

TEST(PlanFile, a_file_that_is_no_json_or_not_there_is_a_data_error) {
  const TestFolder folder;
  std::ofstream(folder / "plan.json") << "{\"placement\": {";
  std::ofstream(folder / "deep.json") << std::string(100000, '[');
  std::ofstream(folder / "large.json") << "{\"placement\": 8e2811}";
  for (const char* name : {"plan.json", "missing.json", "deep.json", "large.json"}) {
    try {
      read_plan_file(folder / name, three_by_two(), bytes);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::data) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(name));
    }
  }
}

}  // namespace
}  // namespace crossbow
