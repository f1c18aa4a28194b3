// Speed of the way from a data set to a batch on one core: bytes as they are, cut and
// mirrored, decoded from JPEG.
//
//   build/release/crossbow_data_benchmark

#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "io/test_images.hpp"

#include "data/sample_set.hpp"

namespace crossbow {
namespace {

using Exec = Kokkos::Serial;
using testing_support::Bytes;

constexpr int samples = 512;

/// Pixels that compress about as photographs do: slopes with some noise.
std::uint8_t pixel(int sample, int y, int x, int c) {
  return static_cast<std::uint8_t>(
      (3 * y + 2 * x + 40 * c + 17 * sample + y * x * 7919 % 23) % 256);
}

Image image_of(int sample, int size, int c) {
  Image image{size, size, c, {}};
  for (int y = 0; y < size; ++y) {
    for (int x = 0; x < size; ++x) {
      for (int channel = 0; channel < c; ++channel) {
        image.pixels.push_back(pixel(sample, y, x, channel));
      }
    }
  }
  return image;
}

Dataset empty_set(int size, int c) {
  Dataset data;
  data.n = samples;
  data.h = data.w = size;
  data.c = c;
  data.classes = 10;
  data.labels.assign(samples, 0);
  return data;
}

Dataset raw(int size, int c) {
  Dataset data = empty_set(size, c);
  for (int sample = 0; sample < samples; ++sample) {
    const Image image = image_of(sample, size, c);
    data.images.insert(data.images.end(), image.pixels.begin(), image.pixels.end());
  }
  return data;
}

Dataset compressed(int size) {
  Dataset data = empty_set(size, 3);
  data.offsets.push_back(0);
  for (int sample = 0; sample < samples; ++sample) {
    const Bytes file = testing_support::encode_jpeg(image_of(sample, size, 3));
    data.jpeg.insert(data.jpeg.end(), file.begin(), file.end());
    data.offsets.push_back(static_cast<std::int64_t>(data.jpeg.size()));
  }
  return data;
}

void fill(benchmark::State& state, const Dataset& data, const AugmentOptions& augment) {
  const Exec exec{Kokkos::NewInstance{}};
  const SampleSet set{data, pixel_scale(0.5, 0.25), {augment, true, 1}};
  const std::int64_t batch = state.range(0);
  BatchFiller<Exec> filler(exec, set, batch);
  std::vector<std::int64_t> indices(static_cast<std::size_t>(batch));
  std::int64_t first = 0;
  while (state.KeepRunning()) {
    // Far apart, as a shuffled epoch has them.
    for (std::int64_t& index : indices) {
      index = first = (first + 197) % samples;
    }
    benchmark::DoNotOptimize(filler.fill(exec, indices, 0).images.data());
  }
  state.SetItemsProcessed(state.iterations() * batch);
  state.SetBytesProcessed(state.iterations() * batch * pixel_bytes(set.image()));
}

AugmentOptions padded() {
  AugmentOptions options;
  options.pad = 4;
  options.mirror = true;
  return options;
}

AugmentOptions resized(int crop) {
  AugmentOptions options;
  options.crop = crop;
  options.resized_crop = true;
  options.mirror = true;
  return options;
}

void fill_28x28x1(benchmark::State& state) {
  static const Dataset data = raw(28, 1);
  fill(state, data, {});
}
BENCHMARK(fill_28x28x1)->Arg(2)->Arg(32);

void fill_32x32x3(benchmark::State& state) {
  static const Dataset data = raw(32, 3);
  fill(state, data, {});
}
BENCHMARK(fill_32x32x3)->Arg(2)->Arg(32);

void fill_32x32x3_padded_and_mirrored(benchmark::State& state) {
  static const Dataset data = raw(32, 3);
  fill(state, data, padded());
}
BENCHMARK(fill_32x32x3_padded_and_mirrored)->Arg(2)->Arg(32);

void fill_224x224x3_of_jpeg_256(benchmark::State& state) {
  static const Dataset data = compressed(256);
  fill(state, data, resized(224));
}
BENCHMARK(fill_224x224x3_of_jpeg_256)->Arg(2)->Arg(32);

void decode_jpeg_256x256x3(benchmark::State& state) {
  const Bytes file = testing_support::encode_jpeg(image_of(1, 256, 3));
  JpegDecoder decoder;
  std::vector<std::uint8_t> pixels(std::size_t{256} * 256 * 3);
  while (state.KeepRunning()) {
    decoder.decode(file, 3, 1, pixels);
    benchmark::DoNotOptimize(pixels.data());
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(pixels.size()));
}
BENCHMARK(decode_jpeg_256x256x3);

}  // namespace
}  // namespace crossbow

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
