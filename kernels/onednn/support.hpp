#pragma once
// What the oneDNN operations share: descriptors, weight layouts and the call of a
// primitive.
//
// oneDNN calls run on the calling thread (with as many OpenMP threads as it has set) and
// return when done, which is the order that host execution spaces have anyway.

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "kernels/weight_layout.hpp"

namespace crossbow::onednn {

/// The host as oneDNN sees it.
const dnnl::engine& host_engine();

/// A float descriptor without data.
dnnl::memory::desc descriptor(const dnnl::memory::dims& dims,
                              dnnl::memory::format_tag tag);

/// Attributes of every primitive: scratch memory is the operation's own, since the
/// library's would be shared by the threads of all learners.
dnnl::primitive_attr attributes();

/// Whether a primitive would run as the library's unoptimised loops, which it takes where
/// it has nothing better for the layouts asked for.
template <class PrimitiveDesc>
bool is_plain_loops(const PrimitiveDesc& pd) {
  return std::string_view(pd.impl_info_str()).starts_with("ref");
}

/// A weight layout that oneDNN chose. `order`, where not empty, permutes the exchange
/// layout into the plain layout of `plain` first (linear layers on NHWC images).
class OnednnLayout final : public WeightLayout {
 public:
  OnednnLayout(dnnl::memory::desc own,
               dnnl::memory::desc plain,
               std::vector<std::int64_t> order);

  std::int64_t size() const override;
  void pack(std::span<const float> exchange, std::span<float> own) const override;
  void unpack(std::span<const float> own, std::span<float> exchange) const override;
  const dnnl::memory::desc& descriptor() const { return own_; }

 private:
  dnnl::memory::desc own_, plain_;
  std::unique_ptr<PermutedLayout> order_;
};

/// One primitive with its arguments; memory objects are made once and pointed at data per
/// call.
class Call {
 public:
  Call() = default;
  /// `pd` must have user scratchpad mode.
  template <class PrimitiveDesc>
  Call(const dnnl::primitive& primitive, const PrimitiveDesc& pd)
      : Call(primitive, pd.scratchpad_desc()) {}
  Call(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad);

  explicit operator bool() const { return static_cast<bool>(primitive_); }
  /// Declare argument `index` (DNNL_ARG_*).
  void declare(int index, const dnnl::memory::desc& desc);
  /// Point it at data; oneDNN's interface has no const, inputs are not written.
  void bind(int index, const float* data);
  void execute();

 private:
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::unordered_map<int, dnnl::memory> arguments_;
  std::vector<float> scratchpad_;
};

/// A copy between two layouts of one tensor where a primitive wants another than the
/// replica's; does nothing where they are equal.
class Relayout {
 public:
  Relayout() = default;
  Relayout(const dnnl::memory::desc& from, const dnnl::memory::desc& to);

  bool needed() const { return static_cast<bool>(reorder_); }
  /// What to give the primitive that reads: `data`, or a copy in the other layout.
  const float* read(const float* data);
  /// What to give the primitive that writes; finish() then brings it to `data`.
  float* write_target(float* data);
  void finish(float* data);

 private:
  void run(float* from, float* to);

  dnnl::memory from_, to_;
  dnnl::reorder reorder_;
  dnnl::stream stream_;
  std::vector<float> own_from_, own_to_;
};

}  // namespace crossbow::onednn
