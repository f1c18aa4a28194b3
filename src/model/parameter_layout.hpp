#pragma once
// Where each tensor lies in the one contiguous vector of a replica's parameters (or
// batch-norm statistics), and the way between that vector and named tensors in exchange
// layout.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/weight_layout.hpp"

#include "model/model_options.hpp"

namespace crossbow {

/// A tensor in exchange layout: convolution [out, in, height, width], linear [out, in].
struct NamedTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};
using NamedTensors = std::map<std::string, NamedTensor>;

struct ParameterSlot {
  std::string name;  // "<layer>.<weight|bias|scale|shift>"
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  // in elements, a multiple of parameter_alignment
  std::int64_t size = 0;    // elements in memory, the layout's padding included
  std::shared_ptr<const WeightLayout> layout;
  Initializer initializer;  // what it starts from, see initial_weights()

  std::int64_t elements() const;  // without padding
};

inline constexpr std::int64_t parameter_alignment = 16;  // elements: one cache line

class ParameterLayout {
 public:
  /// Append a tensor; returns its index.
  std::size_t add(std::string name,
                  std::vector<std::int64_t> shape,
                  std::shared_ptr<const WeightLayout> layout,
                  const Initializer& initializer = {});

  const std::vector<ParameterSlot>& slots() const { return slots_; }
  std::int64_t size() const { return size_; }  // elements, padding included
  std::int64_t elements() const;  // without padding: "parameters" of the network
  /// The slot that element `offset` belongs to; offset < size().
  const ParameterSlot& slot_at(std::int64_t offset) const;

  /// Fill `vector` (size() elements, host) from the tensors named prefix + slot name.
  /// Throws Error(data) where one is missing or of another shape.
  void pack(const NamedTensors& tensors,
            const std::string& prefix,
            std::span<float> vector) const;
  /// Add the tensors of `vector` to `tensors` under prefix + slot name.
  void unpack(std::span<const float> vector,
              const std::string& prefix,
              NamedTensors& tensors) const;

 private:
  std::vector<ParameterSlot> slots_;
  std::int64_t size_ = 0;
};

/// Vectors as they lay in memory, copied while learners rest. Whoever has the time makes
/// tensors of them, in another thread if need be.
class PackedTensors {
 public:
  /// Take `vector`, of layout.size() elements, whose tensors go by prefix + slot name.
  void add(const ParameterLayout& layout, std::string prefix, std::vector<float> vector) {
    parts_.push_back({layout, std::move(prefix), std::move(vector)});
  }
  /// Move everything taken to `tensors`.
  void unpack(NamedTensors& tensors);

 private:
  struct Part {
    ParameterLayout layout;
    std::string prefix;
    std::vector<float> vector;
  };
  std::vector<Part> parts_;
};

}  // namespace crossbow
