#pragma once
// Between arrays of an execution space and vectors of the host. Blocking; not for the hot
// path.

#include <span>
#include <string>
#include <vector>

#include "kernels/spaces.hpp"

#include "model/parameter_layout.hpp"

namespace crossbow {

template <class Exec, class T>
using HostSpan =
    Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The elements of `values` on the host, after all work that `exec` has been given
/// before.
template <class Exec, class T>
std::vector<std::remove_const_t<T>> to_host(const Exec& exec, Span<Exec, T> values) {
  using Value = std::remove_const_t<T>;
  std::vector<Value> host(values.extent(0));
  Kokkos::deep_copy(exec, HostSpan<Exec, Value>(host.data(), host.size()), values);
  exec.fence("crossbow::to_host");
  return host;
}

/// The only element of `value`, after all work that `exec` has been given before.
template <class Exec, class T>
std::remove_const_t<T> read_scalar(const Exec& exec, Span<Exec, T> value) {
  std::remove_const_t<T> host{};
  Kokkos::deep_copy(exec, HostSpan<Exec, std::remove_const_t<T>>(&host, 1), value);
  exec.fence("crossbow::read_scalar");
  return host;
}

/// Copy `host` (as many elements) into `values`; done on return.
template <class Exec, class T>
void to_device(const Exec& exec, std::span<const T> host, Span<Exec, T> values) {
  Kokkos::deep_copy(exec, values, HostSpan<Exec, const T>(host.data(), host.size()));
  exec.fence("crossbow::to_device");
}

/// Leave a copy of `vector`, laid out as `layout`, in `tensors` under prefix + name.
template <class Exec>
void save_vector(const Exec& exec,
                 const ParameterLayout& layout,
                 const std::string& prefix,
                 Span<Exec> vector,
                 PackedTensors& tensors) {
  tensors.add(layout, prefix, to_host<Exec>(exec, vector));
}

/// Fill `vector` from the tensors under prefix + name; done on return. Throws Error(data)
/// that names a tensor which is missing or has another shape.
template <class Exec>
void load_vector(const Exec& exec,
                 const ParameterLayout& layout,
                 const std::string& prefix,
                 const NamedTensors& tensors,
                 Span<Exec> vector) {
  std::vector<float> host(static_cast<std::size_t>(layout.size()));
  layout.pack(tensors, prefix, host);
  to_device<Exec, float>(exec, host, vector);
}

}  // namespace crossbow
