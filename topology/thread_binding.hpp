#pragma once
// Keeps a learner's thread on the PUs that placement chose for it.

#include <span>

#include "topology/topology.hpp"

namespace crossbow {

/// Bind the calling thread to `pus`, and with it the threads that it starts afterwards.
/// Not being able to bind is no error: give false, with the thread left as it was, if the
/// topology is not this machine's, a PU is not allowed, or the system refuses; the caller
/// warns once.
bool bind_this_thread(const Topology& topology, std::span<const int> pus);

/// Count the cores that the calling thread may run on; probes the machine, so call it
/// once.
int allowed_cores();

}  // namespace crossbow
