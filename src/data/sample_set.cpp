#include "data/sample_set.hpp"

#include <string>

#include "base/contract.hpp"
#include "base/error.hpp"

#include "kernels/augment.hpp"

namespace crossbow {

PixelScale pixel_scale(double mean, double std) {
  return {static_cast<float>(1 / (255 * std)), static_cast<float>(-mean / std)};
}

SampleReader::SampleReader(const SampleSet& samples, const ImageSize& image)
    : samples_(samples), image_(image) {
  if (is_compressed(samples.data)) {
    decoder_.emplace();
  }
}

void SampleReader::read(std::int64_t sample, std::int64_t epoch, std::uint8_t* out) {
  const Dataset& data = samples_.data;
  if (decoder_) {
    try {
      read_jpeg(sample, epoch, out);
    } catch (const Error& error) {
      throw Error(
          ExitCode::data,
          "sample " + std::to_string(sample) + " of " + data.place + ": " + error.what());
    }
    return;
  }
  const ImageSize size{data.h, data.w, data.c};
  copy_window(data.images.data() + sample * sample_bytes(data),
              size,
              window_in(size, image_, samples_.augmentation, epoch, sample),
              image_,
              out);
}

/// A window that is to become smaller is decoded smaller, to at least the size that is
/// wanted: that costs less, and no pixel is left out of the result.
void SampleReader::read_jpeg(std::int64_t sample, std::int64_t epoch, std::uint8_t* out) {
  const std::span<const std::uint8_t> jpeg = jpeg_of(samples_.data, sample);
  ImageSize size = decoder_->size(jpeg);
  size.c = image_.c;
  CropWindow window = window_in(size, image_, samples_.augmentation, epoch, sample);
  int shrink = 1;
  while (shrink < 8 && window.h >= 2 * shrink * image_.h &&
         window.w >= 2 * shrink * image_.w) {
    shrink *= 2;
  }
  size = shrunk(size, shrink);
  pixels_.resize(static_cast<std::size_t>(pixel_bytes(size)));
  decoder_->decode(jpeg, size.c, shrink, pixels_);
  window = {window.top / shrink,
            window.left / shrink,
            window.h / shrink,
            window.w / shrink,
            window.mirror};
  copy_window(pixels_.data(), size, window, image_, out);
}

template <class Exec>
BatchFiller<Exec>::BatchFiller(const Exec& exec,
                               const SampleSet& samples,
                               std::int64_t batch)
    : samples_(samples),
      reader_(samples),
      batch_size_(batch),
      sample_bytes_(pixel_bytes(samples.image())) {
  const auto n = static_cast<std::size_t>(batch);
  const std::size_t size = n * static_cast<std::size_t>(sample_bytes_);
  bytes_ = make_buffer<std::uint8_t>(exec, "crossbow::batch_bytes", size);
  images_ = make_buffer(exec, "crossbow::batch_images", size);
  labels_ = make_buffer<std::int32_t>(exec, "crossbow::batch_labels", n);
  ids_ = make_buffer<std::int64_t>(exec, "crossbow::batch_sample_ids", n);
  epochs_ = make_buffer<std::int64_t>(exec, "crossbow::batch_epochs", n);
  host_bytes_ = Kokkos::create_mirror_view(bytes_);
  host_labels_ = Kokkos::create_mirror_view(labels_);
  host_ids_ = Kokkos::create_mirror_view(ids_);
  host_epochs_ = Kokkos::create_mirror_view(epochs_);
  batch_ = {as_span(images_), as_span(labels_), as_span(ids_), as_span(epochs_)};
}

template <class Exec>
const Batch<Exec>& BatchFiller<Exec>::fill(const Exec& exec,
                                           std::span<const std::int64_t> indices,
                                           std::int64_t epoch) {
  CROSSBOW_EXPECT(!indices.empty() &&
                  static_cast<std::int64_t>(indices.size()) <= batch_size_);
  for (std::int64_t slot = 0; slot < batch_size_; ++slot) {
    const auto place = static_cast<std::size_t>(slot);
    const std::int64_t sample = place < indices.size() ? indices[place] : indices[0];
    reader_.read(sample, epoch, host_bytes_.data() + slot * sample_bytes_);
    host_labels_(place) = samples_.data.labels[static_cast<std::size_t>(sample)];
    host_ids_(place) = sample;
    host_epochs_(place) = epoch;
  }
  // On the host the mirrors are the buffers themselves and nothing is copied.
  Kokkos::deep_copy(exec, bytes_, host_bytes_);
  Kokkos::deep_copy(exec, labels_, host_labels_);
  Kokkos::deep_copy(exec, ids_, host_ids_);
  Kokkos::deep_copy(exec, epochs_, host_epochs_);
  normalise<Exec>(
      exec, as_span(bytes_), samples_.scale.scale, samples_.scale.shift, batch_.images);
  return batch_;
}

#define CROSSBOW_INSTANTIATE(Exec) template class BatchFiller<Exec>;
CROSSBOW_FOR_EACH_SPACE(CROSSBOW_INSTANTIATE)

}  // namespace crossbow
