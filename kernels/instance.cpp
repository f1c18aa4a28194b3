#include "kernels/instance.hpp"

#include <algorithm>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace crossbow {

template <>
Kokkos::Serial make_instance<Kokkos::Serial>(int) {
  return Kokkos::Serial(Kokkos::NewInstance{});
}

#ifdef KOKKOS_ENABLE_OPENMP
template <>
Kokkos::OpenMP make_instance<Kokkos::OpenMP>(int threads) {
  return Kokkos::OpenMP(threads);
}
#endif

#ifdef KOKKOS_ENABLE_CUDA
template <>
Kokkos::Cuda make_instance<Kokkos::Cuda>(int) {
  // Non-blocking: the legacy default stream must not order learners one after another.
  cudaStream_t stream = nullptr;
  KOKKOS_IMPL_CUDA_SAFE_CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return Kokkos::Cuda(stream, Kokkos::Impl::ManageStream::yes);
}
#endif

Kokkos::InitializationSettings quiet_settings() {
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
#ifdef _OPENMP
  // Learners set their own numbers of threads. What the environment says is not asked,
  // since Kokkos starts as many to count them and does not bear more than it has room
  // for.
  const int threads = std::min(omp_get_num_procs(), most_threads);
  omp_set_num_threads(threads);
  settings.set_num_threads(threads);
#endif
  return settings;
}

void set_thread_count([[maybe_unused]] int threads) {
#ifdef _OPENMP
  omp_set_num_threads(threads);
#endif
}

}  // namespace crossbow
