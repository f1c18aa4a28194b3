#pragma once
// Rings that a plan chooses among. For reduction_plan alone.

#include <vector>

#include "topology/reduction_plan.hpp"
#include "topology/transfer_model.hpp"

namespace crossbow {

/// Devices up to which all rings are looked at.
inline constexpr int most_devices_for_all_rings = 8;

/// Give rings over NVLinks only that together carry most, for devices that have no
/// NVSwitch; empty if there is no such ring, or there are too many devices for a search.
std::vector<Ring> pack_nvlink_rings(const Topology& topology);

/// Give the cheapest single ring, for a model of `bytes`: of all where there are few
/// devices, else of `order` and the devices by number.
Ring best_single_ring(const TransferModel& model,
                      const std::vector<int>& order,
                      std::int64_t bytes);

}  // namespace crossbow
