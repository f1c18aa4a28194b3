#pragma once
// A trial of hwloc's reader of machine files in a process of its own: on damaged files it
// prints pages of complaints, or crashes. For probe.cpp alone.

#include <string>

#include "topology/hwloc_handle.hpp"

namespace crossbow {

/// Load a machine file; empty where hwloc does not understand it.
HwlocHandle load_xml(const std::string& path);

/// Say what is wrong with a machine file; empty where hwloc reads it without a word.
std::string xml_fault(const std::string& path);

}  // namespace crossbow
