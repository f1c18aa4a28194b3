#pragma once
// What a plan of averaging costs: seconds = latency until the first chunk is through +
// bytes over the narrowest channel. A channel that several transfers share carries the
// bytes of all of them. Chunks follow each other like items on a belt, so that apart from
// the first and the last all channels work at the same time, each direction on its own.

#include <cstdint>
#include <string>
#include <vector>

#include "topology/route.hpp"
#include "topology/topology.hpp"

namespace crossbow {

/// What is known of links in general; topology/README.md has the sources and what was
/// measured. The rates of a topology are nominal, a share of them reaches the data.
struct TransferRates {
  double nvlink_share = 0.82;
  double pcie_share = 0.76;
  double start_latency = 8.4e-6;              // of a collective of GPUs [s]
  double nvlink_latency = 3.4e-6;             // of a step over such a link [s]
  double pcie_latency = 5.7e-6;               // of any other
  double gpu_memory = 800;                    // of a GPU that is not known by name [GB/s]
  double core_memory = 12, node_memory = 80;  // of a host's core and NUMA node [GB/s]
  double host_latency = 0.5e-6;               // from one core to another [s]
};

/// One transfer of a plan: `share` times the model's bytes from one device to another.
struct Transfer {
  int from = 0, to = 0;
  double share = 1;
};

/// All that goes on at the same time in one averaging.
struct Traffic {
  std::vector<Transfer> transfers;
  // By device: model-sized arrays that are read from its memory and written to it. Of a
  // host the cores of all devices together move them: who comes last adds.
  std::vector<double> memory;
  double latency = 0;      // [s] until the first chunk is through
  std::int64_t chunk = 0;  // [bytes], one after the other; 0: all at once
};

struct Cost {
  double seconds = 0;
  double latency = 0;   // its part that does not grow with the bytes [s]
  int bottleneck = -1;  // the channel that takes longest; -1: nothing moves
  int transfer = -1;    // the first of the transfers that use it; -1: a device's memory
};

/// The model of one machine; keeps references to `topology` and `routes`.
class TransferModel {
 public:
  TransferModel(const Topology& topology,
                const Routes& routes,
                int learners_per_device,
                const TransferRates& rates);

  /// Give what `traffic` costs for a model of `bytes`.
  Cost cost(const Traffic& traffic, std::int64_t bytes) const;

  /// Give how long `bytes` take from one device to another, the latency of the step with
  /// them [s].
  double step(int from, int to, std::int64_t bytes) const;
  /// Give what a collective costs to start [s]: nothing on a host.
  double start() const;

  /// Give the rate that data gets from one device to another [GB/s]; infinity where
  /// nothing limits it.
  double rate(int from, int to) const;

  /// Name a channel: of the routes, behind those the devices' memory, then all cores.
  std::string channel_name(int channel) const;

  const Topology& topology() const { return topology_; }
  const Routes& routes() const { return routes_; }
  int learners_per_device() const { return learners_per_device_; }

 private:
  double memory_rate(int device) const;
  double rate_of_all_cores() const;
  double latency(int from, int to) const;
  int first_transfer_over(int channel, const Traffic& traffic) const;

  const Topology& topology_;
  const Routes& routes_;
  int learners_per_device_;
  TransferRates rates_;
  std::vector<double> channel_rates_;  // [GB/s]
};

}  // namespace crossbow
