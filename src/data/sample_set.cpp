#include "data/sample_set.hpp"

#include "base/contract.hpp"

#include "kernels/augment.hpp"

namespace crossbow {

PixelScale pixel_scale(double mean, double std) {
  return {static_cast<float>(1 / (255 * std)), static_cast<float>(-mean / std)};
}

template <class Exec>
BatchFiller<Exec>::BatchFiller(const Exec& exec,
                               const SampleSet& samples,
                               std::int64_t batch)
    : samples_(samples), image_(samples.image()), batch_size_(batch) {
  const auto n = static_cast<std::size_t>(batch);
  const std::size_t size = n * static_cast<std::size_t>(image_.size());
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
    copy_augmented(samples_.data,
                   sample,
                   place_in(samples_.data, samples_.augmentation, epoch, sample),
                   image_,
                   host_bytes_.data() + slot * image_.size());
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
