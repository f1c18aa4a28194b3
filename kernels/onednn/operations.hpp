#pragma once
// oneDNN behind the operations of kernels/: convolution and linear layers on the host.

#include <memory>

#include "kernels/conv2d.hpp"
#include "kernels/linear.hpp"

namespace crossbow::onednn {

/// Whether oneDNN can work for Exec: a host space, in the host program. nvcc's front end
/// fails on oneDNN's header (13.0, internal error), so the CUDA program does without.
template <class Exec>
#ifdef KOKKOS_ENABLE_CUDA
inline constexpr bool supports = false;
#else
inline constexpr bool supports =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;
#endif

/// Null where the library has but its unoptimised loops for the shape, or `imposed` is
/// not a layout of its own.
template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec& exec, const Conv2dOptions& options);

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec& exec, const LinearOptions& options);

}  // namespace crossbow::onednn
