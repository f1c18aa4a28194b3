#pragma once
// What the factories of layers share: which kernels a device has, and weight layouts of
// the Kokkos kernels.

#include <cstdint>
#include <memory>

#include "base/contract.hpp"
#include "base/error.hpp"

#include "kernels/spaces.hpp"
#include "kernels/weight_layout.hpp"

namespace crossbow {

/// Throw unless a device can have `kernels`.
inline void expect_device_kernels(KernelSet kernels) {
  CROSSBOW_VALIDATE(kernels != KernelSet::reference,
                    ExitCode::usage,
                    {"reference kernels cannot run on a device",
                     "they are plain loops on the host",
                     "",
                     "Choose the host backend or other kernels"});
}

/// `imposed` where there is one, since layouts of the same shape and kernels are equal,
/// else the new layout made by `make`.
template <class Make>
std::shared_ptr<const WeightLayout> layout_or(
    const std::shared_ptr<const WeightLayout>& imposed,
    std::int64_t size,
    const Make& make) {
  if (imposed != nullptr) {
    CROSSBOW_EXPECT(imposed->size() == size);
    return imposed;
  }
  return make(size);
}

}  // namespace crossbow
