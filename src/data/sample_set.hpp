#pragma once
// A split of a data set as training sees it: bytes in memory, and what turns them into
// the network's input: (value/255 - mean)/std.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "io/dataset_file.hpp"
#include "kernels/batch.hpp"

#include "data/augmentation.hpp"

namespace crossbow {

/// pixel = scale * byte + shift.
struct PixelScale {
  float scale = 1;
  float shift = 0;
};

/// The scale for mean and standard deviation of value/255.
PixelScale pixel_scale(double mean, double std);

/// Samples with their scale and the part of each that is used. Keeps a reference to the
/// data set, which must outlive it.
struct SampleSet {
  const Dataset& data;
  PixelScale scale;
  Augmentation augmentation = {};

  /// The size of a sample as the network sees it.
  ImageSize image() const {
    return augmented_size({data.h, data.w, data.c}, augmentation.options);
  }
};

/// The way of single samples into a batch: decodes what is compressed, and cuts. One for
/// each thread. Decoding happens in the thread that needs the sample: on a host a pool
/// would have no cores of its own.
class SampleReader {
 public:
  explicit SampleReader(const SampleSet& samples)
      : SampleReader(samples, samples.image()) {}
  /// For an output of size `image` whatever the set's images are.
  SampleReader(const SampleSet& samples, const ImageSize& image);

  /// Write sample `sample` of `epoch` to `out` (h, w, c). Throws
  /// Error(data) with the sample's number if it cannot be decoded.
  void read(std::int64_t sample, std::int64_t epoch, std::uint8_t* out);

 private:
  void read_jpeg(std::int64_t sample, std::int64_t epoch, std::uint8_t* out);

  SampleSet samples_;
  ImageSize image_;
  std::optional<JpegDecoder> decoder_;  // where samples are compressed
  std::vector<std::uint8_t> pixels_;    // of one decoded sample
};

/// Buffers of one batch and the way of samples into them. One per learner.
template <class Exec>
class BatchFiller {
 public:
  BatchFiller(const Exec& exec, const SampleSet& samples, std::int64_t batch);

  /// Bring the samples `indices` (at most the batch) to the device; slots that are left
  /// over repeat the first sample. Enqueues on `exec`; the batch is valid until the next
  /// call.
  const Batch<Exec>& fill(const Exec& exec,
                          std::span<const std::int64_t> indices,
                          std::int64_t epoch);

 private:
  using Host = Kokkos::HostSpace;

  SampleSet samples_;
  SampleReader reader_;
  std::int64_t batch_size_, sample_bytes_;
  Kokkos::View<std::uint8_t*, Host> host_bytes_;
  Kokkos::View<std::int32_t*, Host> host_labels_;
  Kokkos::View<std::int64_t*, Host> host_ids_, host_epochs_;
  Buffer<Exec, std::uint8_t> bytes_;
  Buffer<Exec> images_;
  Buffer<Exec, std::int32_t> labels_;
  Buffer<Exec, std::int64_t> ids_, epochs_;
  Batch<Exec> batch_;
};

}  // namespace crossbow
