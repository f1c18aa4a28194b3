#pragma once
// What the tests of decks share.

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"

#include "config/run_config.hpp"

namespace crossbow::testing {

inline RunConfig parse(const std::string& text,
                       const std::vector<std::string>& overrides = {}) {
  return parse_run_config(text, "some/d.toml", overrides);
}

/// What is wrong with a deck, or "no error".
inline std::string complaints(const std::string& text,
                              const std::vector<std::string>& overrides = {}) {
  try {
    parse_run_config(text, "d.toml", overrides);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

/// A deck with every key of a named network, none at its default.
inline constexpr const char* full_deck = R"(
[run]
name = "trial 7"
output = "/tmp/x"
seed = 9223372036854775807
time_limit = 3600
memory_limit = 2e9
[data]
train = "a.h5"
test = "b.h5"
shuffle = false
mean = 0.25
std = 0.5
[data.augment]
resize = 32
crop = 24
resized_crop = true
mirror = true
[model]
name = "mlp"
hidden = [64, 32]
dropout = 0.5
weights = "w.npz"
initializer = "he"
[batch_norm]
statistics = "recompute"
samples = 77
momentum = 0.2
epsilon = 0.001
[training]
batch = 65536
epochs = 0.5
test_every = 0.25
target_accuracy = 1
label_smoothing = 0.125
[optimizer]
learning_rate = 0
momentum = 0
nesterov = true
gradient_clip = 1.5
weight_decay = 1e-4

[optimizer.schedule]
policy = "multistep"
steps = [1, 2.5]
gamma = 0.3
warmup_epochs = 0.25
warmup_factor = 0.5
[averaging]
method = "easgd"
alpha = 0.125
period = 4
restart = false
[learners]
per_device = 3
threads = 2
[devices]
backend = "host"
bind = false
domain = "l3"
use = ["l3-0", "l3-1"]
topology = "core:2 pu:1"
plan = "p.json"
[checkpoint]
every_epochs = 1.5
every_minutes = 0.25
keep = 7
best = true
on_write_error = "continue"
)";

}  // namespace crossbow::testing
