#pragma once
// oneDNN behind the operations of kernels/: convolution, linear and pooling on the host.

#include <memory>

#include "kernels/conv2d.hpp"
#include "kernels/linear.hpp"
#include "kernels/pool2d.hpp"

namespace crossbow::onednn {

/// Whether Exec is a host space, so that oneDNN can work on its memory.
template <class Exec>
inline constexpr bool supports =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec& exec, const Conv2dOptions& options);

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec& exec, const LinearOptions& options);

/// Without `relu`: the fused form is a Kokkos kernel only (measured faster,
/// kernels/README.md).
template <class Exec>
std::unique_ptr<Pool2d<Exec>> make_pool2d(const Exec& exec, const Pool2dOptions& options);

}  // namespace crossbow::onednn
