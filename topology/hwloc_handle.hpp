#pragma once
// Owner of an hwloc topology, shared by the files of this folder that call hwloc.

#include <memory>

#include <hwloc.h>

namespace crossbow {

struct HwlocDeleter {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using HwlocHandle = std::unique_ptr<hwloc_topology, HwlocDeleter>;

struct BitmapDeleter {
  void operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }
};
using BitmapHandle = std::unique_ptr<hwloc_bitmap_s, BitmapDeleter>;

/// Give a topology that is not loaded yet, with PCI devices, which hwloc leaves out by
/// default; empty if there is no memory for it.
inline HwlocHandle make_hwloc() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) {
    return {};
  }
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  return HwlocHandle(topology);
}

}  // namespace crossbow
