#include "topology/thread_binding.hpp"

#include <algorithm>

#include "topology/hwloc_handle.hpp"
#include "topology/probe.hpp"

namespace crossbow {
namespace {

/// This machine for binding only: without caches and devices, which take time to
/// discover, and without a mask, since which PUs are allowed is the Topology's business.
HwlocHandle load_binder() {
  HwlocHandle binder = make_hwloc();
  const bool loaded =
      binder &&
      hwloc_topology_set_flags(binder.get(), HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM) == 0 &&
      hwloc_topology_set_all_types_filter(binder.get(), HWLOC_TYPE_FILTER_KEEP_NONE) ==
          0 &&
      hwloc_topology_load(binder.get()) == 0;
  return loaded ? std::move(binder) : HwlocHandle();
}

}  // namespace

bool bind_this_thread(const Topology& topology, std::span<const int> pus) {
  const bool allowed = std::all_of(
      pus.begin(), pus.end(), [&topology](int pu) { return topology.has_pu(pu); });
  if (!topology.is_this_machine() || pus.empty() || !allowed) {
    return false;
  }
  static const HwlocHandle binder = load_binder();
  const BitmapHandle mask(hwloc_bitmap_alloc());
  if (!binder || !mask) {
    return false;
  }
  for (const int pu : pus) {
    hwloc_bitmap_set(mask.get(), pu);
  }
  return hwloc_set_cpubind(binder.get(), mask.get(), HWLOC_CPUBIND_THREAD) == 0;
}

int allowed_cores() {
  return static_cast<int>(probe_live().cores().size());
}

}  // namespace crossbow
