#pragma once
// A layer's view of one of its tensors inside the replica's contiguous vectors.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/spaces.hpp"

#include "model/parameter_layout.hpp"

namespace crossbow {

/// Elements [offset, offset + size) of `vector`; empty where the vector is.
template <class Exec>
Span<Exec> part_of(Span<Exec> vector, std::int64_t offset, std::int64_t size) {
  if (vector.extent(0) == 0) {
    return {};
  }
  return Span<Exec>(vector.data() + offset, static_cast<std::size_t>(size));
}

template <class Exec>
class BoundTensor {
 public:
  void declare(ParameterLayout& parameters,
               std::string name,
               std::vector<std::int64_t> shape,
               std::shared_ptr<const WeightLayout> layout,
               const Initializer& initializer = {}) {
    const ParameterSlot& slot = parameters.slots()[parameters.add(
        std::move(name), std::move(shape), std::move(layout), initializer)];
    offset_ = slot.offset;
    size_ = slot.size;
  }

  void bind(Span<Exec> values, Span<Exec> gradients) {
    if (size_ > 0) {
      value = part_of<Exec>(values, offset_, size_);
      gradient = part_of<Exec>(gradients, offset_, size_);
    }
  }

  Span<Exec> value, gradient;

 private:
  std::int64_t offset_ = 0, size_ = 0;
};

}  // namespace crossbow
