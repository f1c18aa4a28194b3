// Who watches a pass is told of every part, in its order.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "model/testing.hpp"

namespace crossbow {
namespace {

using namespace testing;

/// Keeps what it is told, and what a listener is told in between.
class Witness final : public LayerObserver<Kokkos::Serial>, public GradientListener {
 public:
  void forward_begins() override { told.emplace_back("begin"); }
  void forward_done(const std::string& layer, ConstSpan<Kokkos::Serial>) override {
    told.push_back(layer);
  }
  void loss_done() override { told.emplace_back("loss"); }
  void backward_done() override { told.emplace_back("back"); }
  void gradient_ready(std::int64_t, std::int64_t) override {
    told.emplace_back("gradient");
  }

  Names told;
};

TEST(LayerObserver, is_told_of_each_part_in_order) {
  const NetworkPlan plan = plan_network(model_of({convolution("conv", 2, 3),
                                                  pool(LayerType::max_pool, 2, "pool"),
                                                  linear("fc", 3)}),
                                        {4, 4, 1},
                                        3);
  NetworkAtWork<> work(plan, options_of(2, KernelSet::vendor));
  Witness witness;
  work.network.forward(work.exec, work.batch(), true, &witness);
  work.network.backward(work.exec, work.batch(), &witness, &witness);
  EXPECT_EQ(witness.told,
            (Names{"begin",
                   "conv",
                   "pool",
                   "fc",
                   "loss",
                   "gradient",
                   "back",
                   "back",
                   "gradient",
                   "back"}));
}

}  // namespace
}  // namespace crossbow
