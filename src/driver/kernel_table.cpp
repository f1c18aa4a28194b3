#include "driver/kernel_table.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace crossbow {
namespace {

/// One line: a layer, all layers of a kind, or something else of the round.
struct Row {
  std::string name, type;
  LayerTime time;    // what has no direction counts as forward [s]
  double flops = 0;  // of a round, forward and backward

  double seconds() const { return time.forward + time.backward; }
  double gflops() const { return 1e-9 * flops / seconds(); }
};

Row row_of(const KernelProfile& kernels, std::size_t i) {
  const LayerPlan& layer = kernels.plan.layers[i];
  const std::string type = std::string(layer_type_name(layer.type));
  return {layer.name,
          layer.relu ? type + "+relu" : type,
          kernels.profile.layers[i],
          training_flops(layer) * kernels.batch};
}

std::vector<Row> by_layer(const KernelProfile& kernels) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kernels.plan.layers.size(); ++i) {
    rows.push_back(row_of(kernels, i));
  }
  return rows;
}

/// Layers of a kind added up, the slowest kind first.
std::vector<Row> by_type(const std::vector<Row>& layers) {
  std::vector<Row> types;
  for (const Row& layer : layers) {
    const auto known = std::find_if(types.begin(), types.end(), [&](const Row& row) {
      return row.type == layer.type;
    });
    Row& sum = known == types.end() ? types.emplace_back() : *known;
    sum.type = layer.type;
    sum.time.forward += layer.time.forward;
    sum.time.backward += layer.time.backward;
    sum.flops += layer.flops;
  }
  std::stable_sort(types.begin(), types.end(), [](const Row& a, const Row& b) {
    return a.seconds() > b.seconds();
  });
  return types;
}

std::array<Row, 4> others(const StepProfile& profile) {
  return {Row{"", "data", {profile.fill, 0}, 0},
          Row{"", "loss", {profile.loss, 0}, 0},
          Row{"", "checks", {profile.check, 0}, 0},
          Row{"", "update", {profile.update, 0}, 0}};
}

void print_row(const Row& row, double sum, std::string& text) {
  const std::string backward =
      row.time.backward > 0 ? fmt::format("{:.4f}", 1e3 * row.time.backward) : "-";
  const std::string rate = row.flops > 0 ? fmt::format("{:.1f}", row.gflops()) : "-";
  text += fmt::format("{:<24} {:<20} {:>10.4f} {:>11} {:>9} {:>7.1f}\n",
                      row.name,
                      row.type,
                      1e3 * row.time.forward,
                      backward,
                      rate,
                      100 * row.seconds() / sum);
}

nlohmann::json row_json(const Row& row) {
  nlohmann::json json = {{"type", row.type},
                         {"forward_seconds", row.time.forward},
                         {"backward_seconds", row.time.backward}};
  if (!row.name.empty()) {
    json["name"] = row.name;
  }
  if (row.flops > 0) {
    json["gflops"] = row.gflops();
  }
  return json;
}

template <class Rows>
nlohmann::json rows_json(const Rows& rows) {
  nlohmann::json json = nlohmann::json::array();
  for (const Row& row : rows) {
    json.push_back(row_json(row));
  }
  return json;
}

}  // namespace

std::string kernel_table(const KernelProfile& kernels) {
  const StepProfile& profile = kernels.profile;
  const double sum = profile.sum();
  std::string text = fmt::format(
      "\n{}, batch {}, one learner: medians of {} rounds\n"
      "{:<24} {:<20} {:>10} {:>11} {:>9} {:>7}\n",
      kernels.plan.name,
      kernels.batch,
      profile.rounds,
      "layer",
      "kernel",
      "forward ms",
      "backward ms",
      "GFLOP/s",
      "share %");
  const std::vector<Row> layers = by_layer(kernels);
  for (const Row& row : layers) {
    print_row(row, sum, text);
  }
  for (Row& row : by_type(layers)) {
    row.name = "all";
    print_row(row, sum, text);
  }
  for (const Row& row : others(profile)) {
    print_row(row, sum, text);
  }
  return text + fmt::format("sum {:.4f} ms, whole round {:.4f} ms, sum/round {:.2f}\n",
                            1e3 * sum,
                            1e3 * profile.round,
                            sum / profile.round);
}

nlohmann::json kernel_json(const KernelProfile& kernels) {
  const StepProfile& profile = kernels.profile;
  const std::vector<Row> layers = by_layer(kernels);
  return {{"network", kernels.plan.name},
          {"batch", kernels.batch},
          {"rounds", profile.rounds},
          {"layers", rows_json(layers)},
          {"kernels", rows_json(by_type(layers))},
          {"others", rows_json(others(profile))},
          {"sum_seconds", profile.sum()},
          {"round_seconds", profile.round}};
}

}  // namespace crossbow
