#pragma once
// How a primitive keeps a weight tensor in memory. Files, tests and people see weights in
// the exchange layout (convolution [out, in, height, width], linear [out, in] with `in`
// flattened from [channel, height, width]); a replica keeps them in the layout that its
// forward primitive chose.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace crossbow {

class WeightLayout {
 public:
  WeightLayout() = default;
  WeightLayout(const WeightLayout&) = delete;
  WeightLayout& operator=(const WeightLayout&) = delete;
  virtual ~WeightLayout() = default;

  /// Elements in memory, padding included.
  virtual std::int64_t size() const = 0;
  /// Fill `own` (size() elements, host memory) from the exchange layout; padding becomes
  /// zero.
  virtual void pack(std::span<const float> exchange, std::span<float> own) const = 0;
  /// The inverse of pack: exact, padding dropped.
  virtual void unpack(std::span<const float> own, std::span<float> exchange) const = 0;
};

/// own[i] = exchange[order[i]]; no padding.
class PermutedLayout final : public WeightLayout {
 public:
  explicit PermutedLayout(std::vector<std::int64_t> order) : order_(std::move(order)) {}

  std::int64_t size() const override { return static_cast<std::int64_t>(order_.size()); }
  void pack(std::span<const float> exchange, std::span<float> own) const override;
  void unpack(std::span<const float> own, std::span<float> exchange) const override;

 private:
  std::vector<std::int64_t> order_;
};

/// The exchange layout itself, for vectors (bias, scale, shift) and reference kernels.
std::shared_ptr<const WeightLayout> identity_layout(std::int64_t size);

}  // namespace crossbow
