#include "averaging/combining_tree.hpp"

#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "averaging/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

constexpr float mu = 0.5F;

/// A tree from parents, without routes.
ReductionTree tree_of(const std::vector<int>& parents) {
  ReductionTree tree;
  tree.parent = parents;
  tree.children.assign(parents.size(), {});
  for (int device = 0; device < tree.devices(); ++device) {
    const int parent = parents[static_cast<std::size_t>(device)];
    if (parent == -1) {
      tree.root = device;
    } else {
      tree.children[static_cast<std::size_t>(parent)].push_back(device);
      tree.edges.push_back({device, parent, LinkType::memory, 0});
    }
  }
  return tree;
}

struct Machine {
  std::string name;
  std::vector<int> parents;
  std::vector<int> learners;  // by device
};

// A DGX-1V's two islands as chains, a star, a binary tree whose root is in the middle of
// the numbers, and devices with unequal numbers of learners.
const std::vector<Machine> machines = {
    {"one device", {-1}, {3}},
    {"pair", {1, -1}, {1, 2}},
    {"chains", {-1, 2, 3, 0, 0, 6, 7, 4}, {1, 1, 1, 1, 1, 1, 1, 1}},
    {"star", {-1, 0, 0, 0}, {2, 2, 2, 2}},
    {"binary", {2, 0, -1, 2, 3, 3}, {1, 3, 1, 1, 2, 1}},
};

int sum_of(const std::vector<int>& numbers) {
  int sum = 0;
  for (const int number : numbers) {
    sum += number;
  }
  return sum;
}

/// An edge that is wrong on purpose is taken a number of times.
struct WrongEdge {
  int from = -1, to = -1, times = 1;
};

/// What stands at a device: its learners in their order, then its children in theirs,
/// each itself such a sum. Written down from the definition, in float.
float nested_sum(const Machine& machine,
                 const ReductionTree& tree,
                 const std::vector<std::vector<float>>& c,
                 int device,
                 std::size_t i,
                 const WrongEdge& wrong) {
  int first = 0;
  for (int d = 0; d < device; ++d) {
    first += machine.learners[static_cast<std::size_t>(d)];
  }
  float sum = c[static_cast<std::size_t>(first)][i];
  for (int j = 1; j < machine.learners[static_cast<std::size_t>(device)]; ++j) {
    sum = sum + c[static_cast<std::size_t>(first) + static_cast<std::size_t>(j)][i];
  }
  for (const int child : tree.children[static_cast<std::size_t>(device)]) {
    const bool is_wrong = child == wrong.from && device == wrong.to;
    for (int time = 0; time < (is_wrong ? wrong.times : 1); ++time) {
      sum = sum + nested_sum(machine, tree, c, child, i, wrong);
    }
  }
  return sum;
}

struct Outcome {
  std::vector<float> z;
  std::vector<ExecutedEdge> edges;
};

/// z of three turns in a row, by threads with random delays before each chunk.
class Sums {
 public:
  static constexpr std::int32_t turns = 3;
  static constexpr std::int64_t elements = 3 * reduction_chunk_elements - 17;
  static constexpr int chunks = 3;

  explicit Sums(const Machine& machine)
      : machine_(machine), tree_(tree_of(machine.parents)) {}

  const ReductionTree& tree() const { return tree_; }

  static std::vector<float> correction(int j, std::int32_t turn) {
    return random_values(
        elements, static_cast<std::uint64_t>(turn) * 100 + static_cast<std::uint64_t>(j));
  }

  Outcome execute(unsigned seed) const {
    const int k = sum_of(machine_.learners);
    const Host exec;
    CombiningTree<Host> sum(exec, tree_, machine_.learners, elements);
    std::vector<Buffer<Host>> z;
    z.reserve(3);
    for (int i = 0; i < 3; ++i) {
      z.push_back(make_buffer(exec, "z", static_cast<std::size_t>(elements)));
    }
    in_threads(k, [&](int j) {
      std::minstd_rand random(seed + static_cast<unsigned>(j));
      for (std::int32_t turn = 1; turn <= turns; ++turn) {
        const std::vector<float> own = correction(j, turn);
        for (int step = 0; step < sum.chunks(); ++step) {
          const Chunk chunk = sum.chunk(j, step);
          sum.wait_complete(chunk, turn - 1);
          std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
          const Span<Host> c = sum.corrections(j, chunk);
          for (std::int64_t i = 0; i < chunk.size; ++i) {
            c(static_cast<std::size_t>(i)) =
                own[static_cast<std::size_t>(chunk.offset + i)];
          }
          const auto part = [&](std::int32_t of) {
            return Span<Host>(z[static_cast<std::size_t>(of % 3)].data() + chunk.offset,
                              static_cast<std::size_t>(chunk.size));
          };
          sum.bring(
              j, exec, chunk, turn, {mu, {}, part(turn + 2), part(turn + 1), part(turn)});
        }
      }
    });
    return {to_host<Host>(exec, as_span(z[turns % 3])), sum.executed_edges()};
  }

  /// The same from the definition: z' = (z + sum) + mu (z - z_prev), all in float.
  std::vector<float> expected(const WrongEdge& wrong = {}) const {
    std::vector<float> z(elements, 0.0F), z_prev = z;
    for (std::int32_t turn = 1; turn <= turns; ++turn) {
      std::vector<std::vector<float>> c;
      c.reserve(static_cast<std::size_t>(sum_of(machine_.learners)));
      for (int j = 0; j < sum_of(machine_.learners); ++j) {
        c.push_back(correction(j, turn));
      }
      const std::vector<float> before = z;
      for (std::size_t i = 0; i < z.size(); ++i) {
        const float sum = nested_sum(machine_, tree_, c, tree_.root, i, wrong);
        z[i] = (before[i] + sum) + mu * (before[i] - z_prev[i]);
      }
      z_prev = before;
    }
    return z;
  }

 private:
  const Machine& machine_;
  ReductionTree tree_;
};

/// What a tree's edges should have been used for.
std::vector<ExecutedEdge> edges_of(const ReductionTree& tree) {
  std::vector<ExecutedEdge> edges;
  for (const ReductionEdge& edge : tree.edges) {
    edges.push_back({edge.from, edge.to, std::int64_t{Sums::turns} * Sums::chunks});
  }
  return edges;
}

TEST(CombiningTree, z_is_the_sum_in_the_trees_order_bitwise_whatever_the_timing) {
  for (const Machine& machine : machines) {
    const Sums run(machine);
    const std::vector<float> expected = run.expected();
    for (const unsigned seed : {1U, 2U}) {
      EXPECT_EQ(run.execute(seed).z, expected) << machine.name << ", seed " << seed;
    }
  }
}

TEST(CombiningTree, sums_travel_over_every_edge_once_a_chunk_and_over_no_other) {
  for (const Machine& machine : machines) {
    const Sums run(machine);
    EXPECT_EQ(run.execute(3).edges, edges_of(run.tree())) << machine.name;
  }
}

// The two tests above must notice a tree that is not the plan's: an edge moved, an edge
// taken away (its sum is lost), an edge taken twice.
TEST(CombiningTree, a_wrong_tree_shows_in_edges_and_in_z) {
  const Machine& chains = machines[2];
  const Sums right(chains);
  Machine moved = chains;
  moved.parents[1] = 0;  // was 2
  EXPECT_NE(Sums(moved).execute(1).edges, edges_of(right.tree()));
  EXPECT_NE(Sums(moved).execute(1).z, right.expected());
  const Outcome outcome = right.execute(1);
  for (const int times : {0, 2}) {
    EXPECT_NE(outcome.z, right.expected({2, 3, times})) << times;
  }
}

}  // namespace
}  // namespace crossbow
