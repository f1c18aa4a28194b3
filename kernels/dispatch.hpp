#pragma once
// From the build and a number to an execution space: the only place where it is chosen.

#include "kernels/spaces.hpp"

namespace crossbow {

/// Return work.template operator()<Exec>() for the space of this program's learners: CUDA
/// in a CUDA build, else Serial for learners of one thread and OpenMP for more.
template <class Work>
auto with_space([[maybe_unused]] int threads_per_learner, Work work) {
#ifdef KOKKOS_ENABLE_CUDA
  return work.template operator()<Kokkos::Cuda>();
#else
#ifdef KOKKOS_ENABLE_OPENMP
  if (threads_per_learner > 1) {
    return work.template operator()<Kokkos::OpenMP>();
  }
#endif
  return work.template operator()<Kokkos::Serial>();
#endif
}

}  // namespace crossbow
