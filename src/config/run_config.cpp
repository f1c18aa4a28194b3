#include "config/run_config.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "io/input_deck.hpp"

#include "config/effective_deck.hpp"
#include "config/key_table.hpp"
#include "config/layer_table.hpp"

namespace crossbow {

namespace {

DeckSchema deck_schema() {
  DeckSchema schema;
  for (const Binding<RunConfig>& binding : key_table()) {
    schema.keys.push_back(binding.spec);
  }
  TableListSpec layers{"model.layer", "type", {}, most_layers};
  for (const Binding<LayerOptions>& binding : layer_table()) {
    layers.keys.push_back(binding.spec);
  }
  schema.lists.push_back(std::move(layers));
  return schema;
}

void read_keys(const InputDeck& deck, RunConfig& config) {
  for (const Binding<RunConfig>& binding : key_table()) {
    if (const DeckValue* value =
            deck.table(binding.spec.section).find(binding.spec.key)) {
      binding.read(*value, config);
    }
  }
}

/// A value that would be ignored is a mistake: the user expects something of it.
void complain_of_keys_without_effect(InputDeck& deck, const RunConfig& config) {
  for (const Binding<RunConfig>& binding : key_table()) {
    const DeckTable& table = deck.table(binding.spec.section);
    const bool is_given = table.find(binding.spec.key) != nullptr;
    if (is_given && binding.applies && !binding.applies(config) &&
        !table.failed(binding.decided_by)) {
      deck.complain(table.place(binding.spec.key),
                    {binding.spec.section + "." + binding.spec.key + " has no effect",
                     "only " + binding.condition,
                     {},
                     "Remove it"});
    }
  }
}

void check_name(InputDeck& deck, const RunOptions& run) {
  const std::string& name = run.name;
  const bool is_file_name = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return c >= 0x20 && c != '/' && c != 0x7f;
  });
  if (deck.table("run").find("name") != nullptr &&
      (!is_file_name || name == "." || name == "..")) {
    deck.complain(deck.table("run").place("name"),
                  {"run.name " + toml_text(name) + " cannot be used",
                   "a folder must be able to have this name",
                   {},
                   "Give a name without / and control characters"});
  }
}

void check_steps(InputDeck& deck, const ScheduleOptions& schedule) {
  const DeckTable& table = deck.table("optimizer.schedule");
  if (schedule.steps.empty()) {
    deck.complain(table.place("policy"),
                  {"optimizer.schedule.steps is missing",
                   "policy = \"multistep\" needs it",
                   {},
                   "Give a list of epochs, e.g. steps = [8, 12]"});
  }
  const auto fault = std::adjacent_find(schedule.steps.begin(),
                                        schedule.steps.end(),
                                        [](double a, double b) { return a >= b; });
  if (fault != schedule.steps.end()) {
    deck.complain(table.place("steps"),
                  {"optimizer.schedule.steps do not increase",
                   toml_text(*fault) + " stands before " + toml_text(*(fault + 1)),
                   {},
                   "Put them in order, each once"});
  }
}

void check_schedule(InputDeck& deck, const RunConfig& config) {
  const ScheduleOptions& schedule = config.optimizer.schedule;
  const DeckTable& table = deck.table("optimizer.schedule");
  if (table.failed("policy")) {
    return;
  }
  if (schedule.policy == SchedulePolicy::multistep && !table.failed("steps")) {
    check_steps(deck, schedule);
  }
  // What is a fair factor at a step would end a training within few epochs here.
  const bool needs_gamma = schedule.policy == SchedulePolicy::exponential ||
                           schedule.policy == SchedulePolicy::inverse;
  if (needs_gamma && table.find("gamma") == nullptr) {
    deck.complain(table.place("policy"),
                  {"optimizer.schedule.gamma is missing",
                   "this policy has no usual value of it",
                   {},
                   "Give one, e.g. 0.9 with \"exponential\" or 0.01 with \"inverse\""});
  }
  const bool ends = schedule.policy == SchedulePolicy::polynomial ||
                    schedule.policy == SchedulePolicy::cosine;
  if (ends && !table.failed("warmup_epochs") &&
      schedule.warmup_epochs >= config.training.epochs) {
    deck.complain(
        table.place("warmup_epochs"),
        {"the warm-up leaves no epoch to the policy",
         "optimizer.schedule.warmup_epochs = " + toml_text(schedule.warmup_epochs) +
             " of training.epochs = " + toml_text(config.training.epochs),
         {},
         "Train longer or warm up for less"});
  }
}

bool any_failed(const InputDeck& deck,
                const std::vector<std::pair<const char*, const char*>>& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](const auto& key) {
    return deck.table(key.first).failed(key.second);
  });
}

/// Mean replica and average model must stay together without any gradient (DESIGN 2.1).
/// Checked for one device; on several k is larger, and only the run knows it.
void check_stability(InputDeck& deck, const RunConfig& config) {
  const AveragingOptions& averaging = config.averaging;
  const int k = std::max(1, config.learners.per_device);  // the tuner's first
  const double alpha = alpha_of(averaging, k);
  const double mu = averaging_momentum_of(averaging, config.optimizer.momentum);
  if (!diverges(averaging, config.optimizer.momentum, k) ||
      !config.devices.plan.empty() ||  // has its own numbers of learners
      any_failed(deck,
                 {{"averaging", "method"},
                  {"averaging", "period"},
                  {"averaging", "alpha"},
                  {"averaging", "momentum"},
                  {"learners", "per_device"},
                  {"optimizer", "momentum"}})) {
    return;
  }
  char limit[32];
  std::snprintf(limit, sizeof limit, "%.6g", alpha_limit(mu, k));
  deck.complain(deck.table("averaging").place("alpha"),
                {"averaging.alpha = " + toml_text(alpha) + " diverges",
                 "it must be below 2 (1 + m)/(k + 1 + m) = " + std::string(limit) +
                     " for k = " + toml_text(k) +
                     " learners a device and averaging.momentum m = " + toml_text(mu),
                 {},
                 "Give a smaller alpha or \"auto\""});
}

/// What has its own numbers of learners, or no speed of its own, cannot be tuned.
void check_tuning(InputDeck& deck, const RunConfig& config) {
  const DeviceOptions& devices = config.devices;
  if (!config.learners.is_tuned() || (devices.plan.empty() && devices.topology.empty())) {
    return;
  }
  const bool has_plan = !devices.plan.empty();
  deck.complain(deck.table("learners").place("per_device"),
                {std::string("learners.per_device = \"auto\" cannot go with devices.") +
                     (has_plan ? "plan" : "topology"),
                 has_plan ? "a plan has its own numbers of learners"
                          : "how fast a played machine is says nothing about it",
                 {},
                 "Give a number, or take the other out"});
}

/// Relaxed atomic additions of many learners to one model are the host's (DESIGN 2.7).
void check_hogwild(InputDeck& deck, const RunConfig& config) {
  if (config.averaging.method == AveragingMethodName::hogwild &&
      config.devices.backend == BackendName::cuda) {
    deck.complain(deck.table("devices").place("backend"),
                  {"averaging.method = \"hogwild\" cannot run on the cuda backend",
                   "it is for the host's cores only",
                   {},
                   "Set devices.backend = \"host\", or another method"});
  }
}

/// Another machine is played by the host's cores.
void check_played_machine(InputDeck& deck, const RunConfig& config) {
  if (!config.devices.topology.empty() && config.devices.backend == BackendName::cuda) {
    deck.complain(deck.table("devices").place("topology"),
                  {"devices.topology cannot be played by the cuda backend",
                   "it is for the host's cores only",
                   {},
                   "Set devices.backend = \"host\", or take it out"});
  }
}

RunConfig config_of(InputDeck deck,
                    const std::string& name,
                    const std::vector<std::string>& overrides) {
  for (const std::string& assignment : overrides) {
    deck.set(assignment);
  }
  deck.check(deck_schema());
  RunConfig config;
  const std::string stem = std::filesystem::path(name).stem().string();
  config.run.name = stem.empty() ? "run" : stem;
  read_keys(deck, config);
  config.model.layers = read_layers(deck, config.model.batch_norm);
  complain_of_keys_without_effect(deck, config);
  check_name(deck, config.run);
  check_schedule(deck, config);
  check_stability(deck, config);
  check_tuning(deck, config);
  check_hogwild(deck, config);
  check_played_machine(deck, config);
  deck.throw_complaints();
  if (config.run.output.empty()) {
    config.run.output = "output/" + config.run.name;
  }
  config.effective_deck = effective_deck_text(config);
  return config;
}

}  // namespace

RunConfig read_run_config(const std::string& path,
                          const std::vector<std::string>& overrides) {
  return config_of(InputDeck::from_file(path), path, overrides);
}

RunConfig parse_run_config(const std::string& text,
                           const std::string& name,
                           const std::vector<std::string>& overrides) {
  return config_of(InputDeck::from_text(text, name), name, overrides);
}

}  // namespace crossbow
