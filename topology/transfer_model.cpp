#include "topology/transfer_model.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <string_view>
#include <utility>

namespace crossbow {
namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();
constexpr double giga = 1e9;

double rate_of_channel(const Channel& channel, const TransferRates& rates) {
  if (channel.rate == 0) {
    return unlimited;
  }
  switch (channel.type) {
    case LinkType::nvlink:
      return channel.rate * rates.nvlink_share;
    case LinkType::pcie_switch:
    case LinkType::host_bridge:
    case LinkType::numa_node:
      return channel.rate * rates.pcie_share;
    case LinkType::memory:
    case LinkType::package:
    case LinkType::socket:
      break;
  }
  return channel.rate;
}

/// Memory of GPUs by a part of their names [GB/s] (their makers' data sheets).
constexpr std::array<std::pair<const char*, double>, 7> gpu_memory_rates{
    {{"P100", 732},
     {"V100", 900},
     {"T4", 320},
     {"A100", 1555},
     {"H100", 3350},
     {"H200", 4800},
     {"B200", 8000}}};

double gpu_memory_rate(const Device& device, const TransferRates& rates) {
  for (const auto& [name, rate] : gpu_memory_rates) {
    const std::size_t found = device.name.find(name);
    const std::size_t end = found + std::string_view(name).size();
    const bool is_longer =
        found != std::string::npos && end < device.name.size() &&
        std::isdigit(static_cast<unsigned char>(device.name[end])) != 0;
    if (found != std::string::npos && !is_longer) {  // "T4", not "T400"
      return rate;
    }
  }
  return rates.gpu_memory;
}

}  // namespace

TransferModel::TransferModel(const Topology& topology,
                             const Routes& routes,
                             int learners_per_device,
                             const TransferRates& rates)
    : topology_(topology),
      routes_(routes),
      learners_per_device_(learners_per_device),
      rates_(rates) {
  channel_rates_.reserve(routes.channels().size());
  for (const Channel& channel : routes.channels()) {
    channel_rates_.push_back(rate_of_channel(channel, rates));
  }
}

double TransferModel::rate(int from, int to) const {
  double rate = unlimited;
  for (const int channel : routes_.route(from, to).channels) {
    rate = std::min(rate, channel_rates_[static_cast<std::size_t>(channel)]);
  }
  return rate;
}

std::string TransferModel::channel_name(int channel) const {
  const int n_channels = static_cast<int>(routes_.channels().size());
  if (channel < n_channels) {
    return routes_.channels()[static_cast<std::size_t>(channel)].name;
  }
  const auto device = static_cast<std::size_t>(channel - n_channels);
  return device < topology_.devices().size()
             ? "memory of " + topology_.devices()[device].id
             : "what cores can move";
}

double TransferModel::latency(int from, int to) const {
  if (topology_.devices()[static_cast<std::size_t>(from)].kind == DeviceKind::host) {
    return rates_.host_latency;
  }
  return routes_.route(from, to).type == LinkType::nvlink ? rates_.nvlink_latency
                                                          : rates_.pcie_latency;
}

double TransferModel::step(int from, int to, std::int64_t bytes) const {
  return latency(from, to) + static_cast<double>(bytes) / (rate(from, to) * giga);
}

double TransferModel::start() const {
  const bool has_gpus = topology_.devices().size() > 1 &&
                        topology_.devices().front().kind == DeviceKind::gpu;
  return has_gpus ? rates_.start_latency : 0;
}

/// Devices of one NUMA node share its memory.
double TransferModel::memory_rate(int device) const {
  const Device& own = topology_.devices()[static_cast<std::size_t>(device)];
  if (own.kind == DeviceKind::gpu) {
    return gpu_memory_rate(own, rates_);
  }
  const auto sharers = std::count_if(
      topology_.devices().begin(), topology_.devices().end(), [&](const Device& other) {
        return other.numa_node == own.numa_node && other.package == own.package;
      });
  return rates_.node_memory / static_cast<double>(sharers);
}

/// Of a host: one core for each learner, as far as there are so many.
double TransferModel::rate_of_all_cores() const {
  double rate = 0;
  for (const Device& device : topology_.devices()) {
    if (device.kind == DeviceKind::gpu) {
      return unlimited;
    }
    const auto learners = static_cast<std::size_t>(learners_per_device_);
    rate +=
        static_cast<double>(std::min(device.cores.size(), learners)) * rates_.core_memory;
  }
  return rate;
}

Cost TransferModel::cost(const Traffic& traffic, std::int64_t bytes) const {
  const std::size_t n_channels = channel_rates_.size();
  std::vector<double> load(n_channels, 0);
  double longest_step = 0;
  for (const Transfer& transfer : traffic.transfers) {
    for (const int channel : routes_.route(transfer.from, transfer.to).channels) {
      load[static_cast<std::size_t>(channel)] += transfer.share;
    }
    longest_step = std::max(longest_step, latency(transfer.from, transfer.to));
  }
  Cost cost;
  double longest = 0;
  const auto consider = [&](std::size_t channel, double share, double rate) {
    const double seconds = share * static_cast<double>(bytes) / (rate * giga);
    if (seconds > longest) {
      longest = seconds;
      cost.bottleneck = static_cast<int>(channel);
    }
  };
  for (std::size_t channel = 0; channel < n_channels; ++channel) {
    consider(channel, load[channel], channel_rates_[channel]);
  }
  for (std::size_t device = 0; device < traffic.memory.size(); ++device) {
    consider(n_channels + device,
             traffic.memory[device],
             memory_rate(static_cast<int>(device)));
  }
  consider(n_channels + traffic.memory.size(),
           std::accumulate(traffic.memory.begin(), traffic.memory.end(), 0.0),
           rate_of_all_cores());
  // No chunk follows the one before it sooner than a step takes.
  const double chunks =
      traffic.chunk == 0
          ? 0
          : std::ceil(static_cast<double>(bytes) / static_cast<double>(traffic.chunk));
  cost.latency = start() + traffic.latency;
  cost.seconds = cost.latency + std::max(longest, chunks * longest_step);
  cost.transfer = first_transfer_over(cost.bottleneck, traffic);
  return cost;
}

int TransferModel::first_transfer_over(int channel, const Traffic& traffic) const {
  for (std::size_t i = 0; i < traffic.transfers.size(); ++i) {
    const Route& route =
        routes_.route(traffic.transfers[i].from, traffic.transfers[i].to);
    if (std::find(route.channels.begin(), route.channels.end(), channel) !=
        route.channels.end()) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

}  // namespace crossbow
