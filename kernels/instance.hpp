#pragma once
// Making and steering execution-space instances: the one place that knows how each space
// does it.

#include "kernels/spaces.hpp"

namespace crossbow {

/// Make an instance of its own for a learner with `threads` cores. To be called by the
/// learner's thread, which becomes the master of its OpenMP threads.
template <class Exec>
Exec make_instance(int threads);

/// Settings for Kokkos::ScopeGuard: without its advice on OpenMP's variables, since
/// learners bind their threads themselves. Also sets the calling thread's OpenMP threads
/// to the cores there are.
Kokkos::InitializationSettings quiet_settings();

/// Threads that an instance can have at most: Kokkos's own table of host threads.
inline constexpr int most_threads = 512;

/// Tell OpenMP, and with it the vendor's library, how many threads the calling thread may
/// use.
void set_thread_count(int threads);

}  // namespace crossbow
