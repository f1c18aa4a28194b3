#pragma once
// Execution spaces that kernels are instantiated for, and the array types they take.
//
// A learner on one core is a Kokkos::Serial instance, on several cores a Kokkos::OpenMP
// instance, on a GPU a Kokkos::Cuda instance. Kernels take the instance first, enqueue on
// it and never fence.

#include <Kokkos_Core.hpp>

namespace crossbow {

/// An array that somebody else owns, in the memory of execution space Exec.
template <class Exec, class T = float>
using Span = Kokkos::
    View<T*, typename Exec::memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The same, read only.
template <class Exec, class T = float>
using ConstSpan = Span<Exec, const T>;

/// An array that its holder owns. Make it with make_buffer, which names the instance.
template <class Exec, class T = float>
using Buffer = Kokkos::View<T*, typename Exec::memory_space>;

/// Allocate `size` zeros on the instance `exec`.
template <class T = float, class Exec>
Buffer<Exec, T> make_buffer(const Exec& exec, const char* label, std::size_t size) {
  return Buffer<Exec, T>(Kokkos::view_alloc(exec, std::string(label)), size);
}

/// The elements of an array that somebody else owns. Said aloud because nvcc does not
/// convert a View that owns into one that does not by itself.
template <class Owner>
auto as_span(const Owner& array) {
  using Value = typename Owner::value_type;
  using Memory = typename Owner::memory_space;
  return Kokkos::View<Value*, Memory, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
      array.data(), array.extent(0));
}

/// Which implementation of a kernel to use.
enum class KernelSet {
  vendor,    // oneDNN on the host for convolution and linear; else kokkos
  kokkos,    // our own Kokkos kernels
  reference  // plain loops (kernels/reference) for convolution, linear and pooling, host
             // only: the truth that the others are tested on; else kokkos
};

}  // namespace crossbow

// Every .cpp of a kernel instantiates its templates for the enabled spaces with this
// list.
#ifdef KOKKOS_ENABLE_OPENMP
#define CROSSBOW_FOR_OPENMP(MACRO) MACRO(Kokkos::OpenMP)
#else
#define CROSSBOW_FOR_OPENMP(MACRO)
#endif
#ifdef KOKKOS_ENABLE_CUDA
#define CROSSBOW_FOR_CUDA(MACRO) MACRO(Kokkos::Cuda)
#else
#define CROSSBOW_FOR_CUDA(MACRO)
#endif
/// MACRO(Exec) for each enabled execution space.
#define CROSSBOW_FOR_EACH_SPACE(MACRO) \
  MACRO(Kokkos::Serial) CROSSBOW_FOR_OPENMP(MACRO) CROSSBOW_FOR_CUDA(MACRO)
