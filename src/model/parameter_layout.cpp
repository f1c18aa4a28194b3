#include "model/parameter_layout.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/contract.hpp"
#include "base/error.hpp"

namespace crossbow {

std::int64_t ParameterSlot::elements() const {
  return std::accumulate(
      shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::size_t ParameterLayout::add(std::string name,
                                 std::vector<std::int64_t> shape,
                                 std::shared_ptr<const WeightLayout> layout,
                                 const Initializer& initializer) {
  const std::int64_t size = layout->size();
  slots_.push_back(
      {std::move(name), std::move(shape), size_, size, std::move(layout), initializer});
  size_ += (size + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
  return slots_.size() - 1;
}

std::int64_t ParameterLayout::elements() const {
  std::int64_t sum = 0;
  for (const ParameterSlot& slot : slots_) {
    sum += slot.elements();
  }
  return sum;
}

const ParameterSlot& ParameterLayout::slot_at(std::int64_t offset) const {
  CROSSBOW_EXPECT(!slots_.empty() && offset >= 0 && offset < size_);
  const auto after = std::upper_bound(
      slots_.begin(), slots_.end(), offset, [](std::int64_t o, const auto& slot) {
        return o < slot.offset;
      });
  return *std::prev(after);
}

void ParameterLayout::pack(const NamedTensors& tensors,
                           const std::string& prefix,
                           std::span<float> vector) const {
  std::fill(vector.begin(), vector.end(), 0.0F);
  for (const ParameterSlot& slot : slots_) {
    const auto found = tensors.find(prefix + slot.name);
    CROSSBOW_VALIDATE(found != tensors.end(),
                      ExitCode::data,
                      {"tensor " + prefix + slot.name + " is missing",
                       "the network of the deck has it",
                       "",
                       "Use a file that this network was saved to"});
    CROSSBOW_VALIDATE(found->second.shape == slot.shape &&
                          std::ssize(found->second.values) == slot.elements(),
                      ExitCode::data,
                      {"tensor " + prefix + slot.name + " has another shape",
                       "than in the network of the deck",
                       "",
                       "Use a file that this network was saved to"});
    slot.layout->pack(found->second.values,
                      vector.subspan(static_cast<std::size_t>(slot.offset),
                                     static_cast<std::size_t>(slot.size)));
  }
}

void ParameterLayout::unpack(std::span<const float> vector,
                             const std::string& prefix,
                             NamedTensors& tensors) const {
  for (const ParameterSlot& slot : slots_) {
    NamedTensor& tensor = tensors[prefix + slot.name];
    tensor.shape = slot.shape;
    tensor.values.resize(static_cast<std::size_t>(slot.elements()));
    slot.layout->unpack(vector.subspan(static_cast<std::size_t>(slot.offset),
                                       static_cast<std::size_t>(slot.size)),
                        tensor.values);
  }
}

void PackedTensors::unpack(NamedTensors& tensors) {
  for (Part& part : parts_) {
    part.layout.unpack(part.vector, part.prefix, tensors);
    std::vector<float>().swap(part.vector);  // or all would be there twice
  }
  parts_.clear();
}

}  // namespace crossbow
