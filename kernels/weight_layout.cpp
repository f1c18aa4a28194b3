#include "kernels/weight_layout.hpp"

#include <numeric>

namespace crossbow {

void PermutedLayout::pack(std::span<const float> exchange, std::span<float> own) const {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    own[i] = exchange[static_cast<std::size_t>(order_[i])];
  }
}

void PermutedLayout::unpack(std::span<const float> own, std::span<float> exchange) const {
  for (std::size_t i = 0; i < order_.size(); ++i) {
    exchange[static_cast<std::size_t>(order_[i])] = own[i];
  }
}

std::shared_ptr<const WeightLayout> identity_layout(std::int64_t size) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  return std::make_shared<PermutedLayout>(std::move(order));
}

}  // namespace crossbow
