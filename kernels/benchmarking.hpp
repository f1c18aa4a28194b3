#pragma once
// What the benchmarks of kernels share: arrays to work on, and what is reported of a
// kernel beside its time.

#include <cstdint>

#include <benchmark/benchmark.h>

#include "kernels/instance.hpp"
#include "kernels/spaces.hpp"

namespace crossbow::benchmarking {

/// One core: a learner's usual space.
using Exec = Kokkos::Serial;

inline Exec one_core() {
  set_thread_count(1);
  return make_instance<Exec>(1);
}

/// `size` numbers from -1 to 1.
inline Buffer<Exec> values(const Exec& exec, std::int64_t size) {
  Buffer<Exec> buffer =
      make_buffer(exec, "crossbow::benchmark", static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {  // on the host
    buffer(i) = 0.01F * static_cast<float>(i * 7919 % 201 - 100);
  }
  return buffer;
}

/// Report samples or elements a second.
inline void report_items(benchmark::State& state, std::int64_t an_iteration) {
  state.SetItemsProcessed(state.iterations() * an_iteration);
}

/// Report bytes a second: of what a kernel must at least read and write.
inline void report_bytes(benchmark::State& state, std::int64_t an_iteration) {
  state.SetBytesProcessed(state.iterations() * an_iteration);
}

/// Report floating-point operations a second.
inline void report_flops(benchmark::State& state, std::int64_t an_iteration) {
  state.counters["FLOP/s"] =
      benchmark::Counter(static_cast<double>(an_iteration),
                         benchmark::Counter::kIsIterationInvariantRate,
                         benchmark::Counter::kIs1000);
}

}  // namespace crossbow::benchmarking
