#pragma once
// The time of a round by layer and by kind of layer, as `crossbow bench --kernels` shows
// it.

#include <string>

#include <nlohmann/json.hpp>

#include "model/network_plan.hpp"
#include "training/step_profile.hpp"

namespace crossbow {

/// A profile and what it is of.
struct KernelProfile {
  const NetworkPlan& plan;
  int batch = 1;
  const StepProfile& profile;
};

/// Rows by layer, by kind of layer, and of everything else, with their sum and the whole
/// round beside it, so that what is missing is seen.
std::string kernel_table(const KernelProfile& kernels);

/// The same rows as data, in seconds.
nlohmann::json kernel_json(const KernelProfile& kernels);

}  // namespace crossbow
