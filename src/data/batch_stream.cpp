#include "data/batch_stream.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/contract.hpp"
#include "base/error.hpp"
#include "base/random.hpp"

namespace crossbow {
namespace {

std::int64_t count_batches(std::int64_t n_samples, std::int64_t batch) {
  CROSSBOW_VALIDATE(
      n_samples > 0,
      ExitCode::data,
      {"the training data are empty", "0 samples", "", "Choose another data set"});
  CROSSBOW_VALIDATE(batch > 0,
                    ExitCode::usage,
                    {"a batch of " + std::to_string(batch) + " samples is not possible",
                     "",
                     "",
                     "Set training.batch to 1 or more"});
  const std::string size = std::to_string(n_samples);
  CROSSBOW_VALIDATE(
      batch <= n_samples,
      ExitCode::usage,
      {"a batch of " + std::to_string(batch) + " is larger than the training data",
       size + " samples",
       "",
       "Set training.batch to at most " + size});
  return n_samples / batch;
}

}  // namespace

std::vector<std::int64_t> epoch_permutation(std::int64_t n_samples,
                                            std::uint64_t seed,
                                            std::int64_t epoch) {
  CROSSBOW_EXPECT(n_samples >= 0 && epoch >= 0);
  std::vector<std::int64_t> order(n_samples);
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t last = n_samples - 1; last > 0; --last) {
    const auto other = random_below(seed, RandomPurpose::shuffle, epoch, last, last + 1);
    std::swap(order[last], order[other]);
  }
  return order;
}

BatchStream::BatchStream(std::int64_t n_samples,
                         std::int64_t batch,
                         std::uint64_t seed,
                         bool shuffle)
    : n_samples_(n_samples),
      batch_(batch),
      batches_per_epoch_(count_batches(n_samples, batch)),
      seed_(seed),
      shuffle_(shuffle) {}

void BatchStream::indices(std::int64_t number, std::span<std::int64_t> out) const {
  Cursor(*this).indices(number, out);
}

BatchStream::EpochPointer BatchStream::epoch(std::int64_t number) const {
  // Made under the lock: the others that wait need the same permutation, and those that
  // are still in the epoch before hold it in their cursors.
  const std::lock_guard lock(mutex_);
  for (const EpochPointer& known : recent_) {
    if (known && known->number == number) {
      return known;
    }
  }
  const auto is_older = [](const EpochPointer& left, const EpochPointer& right) {
    return right && (!left || left->number < right->number);
  };
  EpochPointer& oldest = *std::min_element(recent_.begin(), recent_.end(), is_older);
  oldest = std::make_shared<const Epoch>(
      Epoch{number, epoch_permutation(n_samples_, seed_, number)});
  return oldest;
}

void BatchStream::fill_in_file_order(std::int64_t place,
                                     std::span<std::int64_t> out) const {
  std::iota(out.begin(), out.end(), place * batch_);
}

void BatchStream::fill(const Epoch& epoch,
                       std::int64_t place,
                       std::span<std::int64_t> out) const {
  std::copy_n(epoch.order.begin() + place * batch_, batch_, out.begin());
}

void BatchStream::Cursor::indices(std::int64_t number, std::span<std::int64_t> out) {
  CROSSBOW_EXPECT(number >= 0);
  CROSSBOW_EXPECT(static_cast<std::int64_t>(out.size()) == stream_->batch_);
  const std::int64_t epoch = number / stream_->batches_per_epoch_;
  const std::int64_t place = number % stream_->batches_per_epoch_;
  if (!stream_->shuffle_) {
    stream_->fill_in_file_order(place, out);
    return;
  }
  if (!epoch_ || epoch_->number != epoch) {
    epoch_ = stream_->epoch(epoch);
  }
  stream_->fill(*epoch_, place, out);
}

}  // namespace crossbow
