#include "training/trainer_setup.hpp"

#include <gtest/gtest.h>

namespace crossbow {
namespace {

TEST(TrainerSetup, learners_networks_smooth_labels_as_the_deck_says) {
  TrainerOptions options;
  options.training.label_smoothing = 0.25;
  options.training.batch = 3;
  const NetworkOptions network = network_options(options);
  EXPECT_EQ(network.label_smoothing, 0.25);
  EXPECT_EQ(network.batch, 3);
  EXPECT_FALSE(network.inference);
}

}  // namespace
}  // namespace crossbow
