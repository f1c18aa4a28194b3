// Speed of the layers' kernels on one core, on shapes of LeNet and ResNet-32.
//
//   build/release/crossbow_kernels_benchmark --benchmark_filter=pool

#include <vector>

#include "kernels/activation.hpp"
#include "kernels/batch_norm.hpp"
#include "kernels/benchmarking.hpp"
#include "kernels/conv2d.hpp"
#include "kernels/dropout.hpp"
#include "kernels/linear.hpp"
#include "kernels/pool2d.hpp"
#include "kernels/softmax_loss.hpp"

namespace crossbow {
namespace {

using namespace benchmarking;

void pool(benchmark::State& state, PoolKind kind, bool relu) {
  const Exec exec = one_core();
  const Pool2dShape s{state.range(0), 24, 24, 32, 2, 2, kind, relu};
  const auto layer = make_pool2d(exec, {s, KernelSet::kokkos});
  const auto x = values(exec, s.input_size()), y = values(exec, s.output_size());
  const bool backward = state.range(1) != 0;
  while (state.KeepRunning()) {
    if (backward) {
      layer->backward(exec, y, x);
    } else {
      layer->forward(exec, x, y);
    }
  }
  report_items(state, s.n);
  report_bytes(state, 4 * s.input_size() + 5 * s.output_size());
}
BENCHMARK_CAPTURE(pool, relu_max, PoolKind::max, true)
    ->ArgsProduct({{2, 16, 64}, {0, 1}});
BENCHMARK_CAPTURE(pool, average, PoolKind::average, false)->ArgsProduct({{16}, {0, 1}});

void batch_norm(benchmark::State& state) {
  const Exec exec = one_core();
  const std::int64_t channels = state.range(1);  // 16: 32 x 32 pixels, 64: 8 x 8
  const BatchNormShape s{state.range(0) * 32 * 32 * 256 / (channels * channels),
                         channels};
  const auto x = values(exec, s.rows * s.c), y = values(exec, s.rows * s.c);
  std::vector<Buffer<Exec>> vectors;
  vectors.reserve(6);
  for (int i = 0; i < 6; ++i) {
    vectors.push_back(values(exec, s.c));
  }
  const auto dx = values(exec, s.rows * s.c);
  const BatchNormState<Exec> layer{
      vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5]};
  batch_norm_forward<Exec>(exec, s, x, layer, y);
  const bool backward = state.range(2) != 0;
  while (state.KeepRunning()) {
    if (backward) {
      batch_norm_backward<Exec>(exec, s, x, y, layer, {dx, vectors[2], vectors[3]});
    } else {
      batch_norm_forward<Exec>(exec, s, x, layer, y);
    }
  }
  report_items(state, state.range(0));
  report_bytes(state, std::int64_t{backward ? 20 : 12} * s.rows * s.c);
}
BENCHMARK(batch_norm)->ArgsProduct({{2, 16, 64}, {16, 64}, {0, 1}});

void relu(benchmark::State& state) {
  const Exec exec = one_core();
  const auto x = values(exec, state.range(0)), y = values(exec, state.range(0));
  while (state.KeepRunning()) {
    relu_forward<Exec>(exec, x, y);
  }
  report_bytes(state, 8 * state.range(0));
}
BENCHMARK(relu)->Arg(2048)->Arg(65536)->Arg(1 << 20);

void convolution(benchmark::State& state, const Conv2dShape& shape, KernelSet kernels) {
  const Exec exec = one_core();
  Conv2dShape s = shape;
  s.n = state.range(0);
  const auto layer = make_conv2d(exec, {s, kernels, false, nullptr});
  const std::int64_t weights = layer->weight_layout()->size();
  const auto x = values(exec, s.input_size()), y = values(exec, s.output_size()),
             weight = values(exec, weights), bias = values(exec, s.filters);
  while (state.KeepRunning()) {
    if (state.range(1) == 0) {
      layer->forward(exec, x, weight, bias, y);
    } else if (state.range(1) == 1) {
      layer->backward_data(exec, y, weight, x);
    } else {
      layer->backward_weight(exec, x, y, weight, bias);
    }
  }
  report_items(state, s.n);
  report_flops(state, 2 * s.output_size() * s.kernel * s.kernel * s.group_channels());
}
const Conv2dShape lenet_1{1, 28, 28, 1, 32, 5, 1, 0, 0, true, false};
const Conv2dShape lenet_2{1, 12, 12, 32, 64, 5, 1, 0, 0, true, false};
const Conv2dShape resnet_1{1, 32, 32, 16, 16, 3, 1, 1, 1, false, false};
const Conv2dShape resnet_2{1, 16, 16, 32, 32, 3, 1, 1, 1, false, false};
const Conv2dShape resnet_3{1, 8, 8, 64, 64, 3, 1, 1, 1, false, false};
const Conv2dShape bottleneck{1, 14, 14, 256, 64, 1, 1, 0, 0, false, false};
const Conv2dShape depthwise{1, 14, 14, 256, 256, 3, 1, 1, 1, false, false, 256};
const Conv2dShape grouped{1, 14, 14, 128, 128, 3, 1, 1, 1, false, false, 8};
const Conv2dShape dilated{1, 14, 14, 64, 64, 3, 1, 2, 2, false, false, 1, 2};
// Batches, then forward, gradient of the input, gradient of the weights; plain loops take
// a second on larger ones.
#define CROSSBOW_CONVOLUTION(shape)                                              \
  BENCHMARK_CAPTURE(convolution, shape##_reference, shape, KernelSet::reference) \
      ->ArgsProduct({{2}, {0, 1, 2}});                                           \
  BENCHMARK_CAPTURE(convolution, shape##_kokkos, shape, KernelSet::kokkos)       \
      ->ArgsProduct({{2, 32}, {0, 1, 2}});                                       \
  BENCHMARK_CAPTURE(convolution, shape##_vendor, shape, KernelSet::vendor)       \
      ->ArgsProduct({{2, 32}, {0, 1, 2}})
CROSSBOW_CONVOLUTION(lenet_1);
CROSSBOW_CONVOLUTION(lenet_2);
CROSSBOW_CONVOLUTION(resnet_1);
CROSSBOW_CONVOLUTION(resnet_2);
CROSSBOW_CONVOLUTION(resnet_3);
CROSSBOW_CONVOLUTION(bottleneck);
CROSSBOW_CONVOLUTION(depthwise);
CROSSBOW_CONVOLUTION(grouped);
CROSSBOW_CONVOLUTION(dilated);

void linear(benchmark::State& state, KernelSet kernels) {
  const Exec exec = one_core();
  const LinearShape s{state.range(0), 4, 4, 64, 1024, true, false};
  const auto layer = make_linear(exec, {s, kernels, false, nullptr});
  const std::int64_t weights = layer->weight_layout()->size();
  const auto x = values(exec, s.input_size()), y = values(exec, s.output_size()),
             weight = values(exec, weights), bias = values(exec, s.units);
  while (state.KeepRunning()) {
    if (state.range(1) == 0) {
      layer->forward(exec, x, weight, bias, y);
    } else if (state.range(1) == 1) {
      layer->backward_data(exec, y, weight, x);
    } else {
      layer->backward_weight(exec, x, y, weight, bias);
    }
  }
  report_items(state, s.n);
  report_flops(state, 2 * s.n * s.weight_size());
}
BENCHMARK_CAPTURE(linear, kokkos, KernelSet::kokkos)
    ->ArgsProduct({{2, 16, 64}, {0, 1, 2}});
BENCHMARK_CAPTURE(linear, vendor, KernelSet::vendor)
    ->ArgsProduct({{2, 16, 64}, {0, 1, 2}});

void dropout_of_1024(benchmark::State& state) {
  const Exec exec = one_core();
  const DropoutKey key{1, 2, 16, 1024, 0.5F};
  const auto x = values(exec, key.n * key.size), y = values(exec, key.n * key.size);
  const auto ids = make_buffer<std::int64_t>(exec, "crossbow::benchmark", 16);
  while (state.KeepRunning()) {
    dropout<Exec>(exec, key, ids, ids, x, y);
  }
  report_bytes(state, 8 * key.n * key.size);
}
BENCHMARK(dropout_of_1024);

void softmax(benchmark::State& state) {
  const Exec exec = one_core();
  const SoftmaxShape s{state.range(0), state.range(1)};
  const auto n = static_cast<std::size_t>(s.n);
  const auto logits = values(exec, s.n * s.classes), losses = values(exec, s.n),
             dlogits = values(exec, s.n * s.classes);
  const auto labels = make_buffer<std::int32_t>(exec, "crossbow::benchmark", n),
             correct = make_buffer<std::int32_t>(exec, "crossbow::benchmark", n);
  while (state.KeepRunning()) {
    softmax_cross_entropy<Exec>(exec, s, logits, labels, {losses, correct, dlogits});
  }
  report_items(state, s.n);
  report_bytes(state, 8 * s.n * s.classes);
}
BENCHMARK(softmax)->ArgsProduct({{2, 32}, {10, 1000}});

}  // namespace
}  // namespace crossbow

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
