#pragma once
// Kokkos 4.7.0 on CUDA 13: two runtime calls have changed their parameters since CUDA 12.
// These overloads have the old ones. Forced into every CUDA source (-include), Kokkos'
// own too.

#if defined(__CUDACC__)
#include <cuda_runtime.h>

#if CUDART_VERSION >= 13000

inline cudaError_t cudaGraphAddDependencies(cudaGraph_t graph,
                                            const cudaGraphNode_t* from,
                                            const cudaGraphNode_t* to,
                                            size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

/// `device` may be cudaCpuDeviceId, which stands for the host.
inline cudaError_t cudaMemPrefetchAsync(const void* pointer,
                                        size_t bytes,
                                        int device,
                                        cudaStream_t stream) {
  cudaMemLocation location{};
  location.type =
      device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  location.id = device == cudaCpuDeviceId ? 0 : device;
  return cudaMemPrefetchAsync(pointer, bytes, location, 0, stream);
}

#endif
#endif
