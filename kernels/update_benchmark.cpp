// Speed of the passes over whole models on one core: the learner's step, averaging, and
// the bytes of images. 4096 elements stay in the first caches, LeNet's million in the
// last, 16 millions in none.
//
//   build/release/crossbow_kernels_benchmark --benchmark_filter=sma

#include <cstdint>

#include "kernels/augment.hpp"
#include "kernels/benchmarking.hpp"
#include "kernels/model_average.hpp"
#include "kernels/sgd_update.hpp"

namespace crossbow {
namespace {

using namespace benchmarking;

constexpr StepRule rule = {1e-3F, 0.9F, 1e-4F};

/// A learner's vectors and z, and a flag.
struct Vectors {
  explicit Vectors(std::int64_t n)
      : g(values(exec, n)),
        w(values(exec, n)),
        v(values(exec, n)),
        z(values(exec, n)),
        z_prev(values(exec, n)),
        z_next(values(exec, n)),
        flag(make_buffer<std::uint32_t>(exec, "crossbow::benchmark", 1)) {}

  SmaStep<Exec> step() const { return {rule, 0.3F, g, z, w, v}; }
  AverageUpdate<Exec> update(const Buffer<Exec>& c, int learners) const {
    const auto n = static_cast<std::int64_t>(z.extent(0));
    return {0.5F, {c.data(), n, learners}, z, z_prev, z_next};
  }

  Exec exec = one_core();
  Buffer<Exec> g, w, v, z, z_prev, z_next;
  Buffer<Exec, std::uint32_t> flag;
};

/// Of `arrays` floats an element.
void report_arrays(benchmark::State& state, std::int64_t arrays) {
  report_items(state, state.range(0));
  report_bytes(state, 4 * arrays * state.range(0));
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Arg(4096)->Arg(1 << 20)->Arg(1 << 24);
}

void step_of_sgd(benchmark::State& state) {
  const Vectors x(state.range(0));
  while (state.KeepRunning()) {
    sgd_update<Exec>(x.exec, rule, x.g, x.w, x.v, x.flag);
  }
  report_arrays(state, 5);
}
BENCHMARK(step_of_sgd)->Apply(sizes);

void step_of_sma(benchmark::State& state) {
  const Vectors x(state.range(0));
  const auto c = values(x.exec, state.range(0));
  while (state.KeepRunning()) {
    sma_step<Exec>(x.exec, x.step(), c, x.flag);
  }
  report_arrays(state, 7);
}
BENCHMARK(step_of_sma)->Apply(sizes);

void step_of_sma_and_average_of_2(benchmark::State& state) {
  const Vectors x(state.range(0));
  const auto c = values(x.exec, 2 * state.range(0));
  while (state.KeepRunning()) {
    sma_step_and_average<Exec>(x.exec, x.step(), x.update(c, 2), 1, x.flag);
  }
  report_arrays(state, 9);
}
BENCHMARK(step_of_sma_and_average_of_2)->Apply(sizes);

void average_of_2(benchmark::State& state) {
  const Vectors x(state.range(0));
  const auto c = values(x.exec, 2 * state.range(0));
  while (state.KeepRunning()) {
    average_update<Exec>(x.exec, x.update(c, 2));
  }
  report_arrays(state, 5);
}
BENCHMARK(average_of_2)->Apply(sizes);

void scaled_sum_of_2(benchmark::State& state) {
  const Vectors x(state.range(0));
  const auto a = values(x.exec, 2 * state.range(0));
  while (state.KeepRunning()) {
    scaled_sum<Exec>(x.exec, 0.5F, {a.data(), state.range(0), 2}, x.w, x.flag);
  }
  report_arrays(state, 3);
}
BENCHMARK(scaled_sum_of_2)->Apply(sizes);

void bytes_to_floats(benchmark::State& state) {
  const Exec exec = one_core();
  const std::int64_t size = state.range(0) * 32 * 32 * 3;
  const auto bytes = make_buffer<std::uint8_t>(
      exec, "crossbow::benchmark", static_cast<std::size_t>(size));
  const auto images = values(exec, size);
  while (state.KeepRunning()) {
    normalise<Exec>(exec, bytes, 0.02F, -1.9F, images);
  }
  report_items(state, state.range(0));
  report_bytes(state, 5 * size);
}
BENCHMARK(bytes_to_floats)->Arg(2)->Arg(32);

}  // namespace
}  // namespace crossbow
