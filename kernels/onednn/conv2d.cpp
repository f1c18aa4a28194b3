#include "kernels/conv2d.hpp"

#include "kernels/onednn/operations.hpp"
#include "kernels/onednn/weighted.hpp"

namespace crossbow::onednn {
namespace {

using dnnl::memory;
using tag = memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackwardData = dnnl::convolution_backward_data;
using BackwardWeight = dnnl::convolution_backward_weights;
constexpr auto direct = dnnl::algorithm::convolution_direct;

/// Logical order (o, i, h, w), with groups (g, o / g, i / g, h, w): the same memory.
memory::desc weight_descriptor(const Conv2dShape& s, bool plain) {
  if (s.groups == 1) {
    return descriptor({s.filters, s.c, s.kernel, s.kernel}, plain ? tag::oihw : tag::any);
  }
  return descriptor({s.groups, s.group_filters(), s.group_channels(), s.kernel, s.kernel},
                    plain ? tag::goihw : tag::any);
}

/// One convolution in oneDNN's words; logical order of activations (n, c, h, w), memory
/// NHWC.
struct Descriptors {
  explicit Descriptors(const Conv2dShape& s)
      : any_weight(weight_descriptor(s, false)),
        plain_weight(weight_descriptor(s, true)),
        stride{s.stride, s.stride},
        dilation{s.dilation - 1, s.dilation - 1},  // oneDNN counts pixels left out
        pad_begin{s.pad_begin, s.pad_begin},
        pad_end{s.pad_end, s.pad_end} {
    tensors.x = descriptor({s.n, s.c, s.h, s.w}, tag::nhwc);
    tensors.y = descriptor({s.n, s.filters, s.out_h(), s.out_w()}, tag::nhwc);
    if (s.bias) {
      tensors.bias = descriptor({s.filters}, tag::x);
    }
  }

  TensorDescriptors tensors;
  memory::desc any_weight, plain_weight;
  memory::dims stride, dilation, pad_begin, pad_end;
};

Forward::primitive_desc forward_for(const Descriptors& d, bool inference) {
  const auto kind =
      inference ? dnnl::prop_kind::forward_inference : dnnl::prop_kind::forward_training;
  const TensorDescriptors& t = d.tensors;
  return {host_engine(),
          kind,
          direct,
          t.x,
          d.any_weight,
          t.bias,
          t.y,
          d.stride,
          d.dilation,
          d.pad_begin,
          d.pad_end,
          attributes()};
}

/// Backward primitives choose their own weight layouts: imposed ones fall back to slow
/// code.
struct BackwardDescriptors {
  BackwardDescriptors(const Descriptors& d, const Forward::primitive_desc& forward)
      : data(host_engine(),
             direct,
             d.tensors.x,
             d.any_weight,
             d.tensors.y,
             d.stride,
             d.dilation,
             d.pad_begin,
             d.pad_end,
             forward,
             attributes()),
        weight(host_engine(),
               direct,
               d.tensors.x,
               d.any_weight,
               d.tensors.bias,
               d.tensors.y,
               d.stride,
               d.dilation,
               d.pad_begin,
               d.pad_end,
               forward,
               attributes()) {}

  bool has_plain_loops() const { return is_plain_loops(data) || is_plain_loops(weight); }

  BackwardData::primitive_desc data;
  BackwardWeight::primitive_desc weight;
};

}  // namespace

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions& options) {
  auto layout = std::dynamic_pointer_cast<const OnednnLayout>(options.imposed);
  const bool is_free = options.imposed == nullptr;
  if (!is_free && layout == nullptr) {
    return nullptr;  // the training's operation is not oneDNN's
  }
  const Descriptors d(options.shape);
  const auto forward = forward_for(d, options.inference);
  if (is_free && is_plain_loops(forward)) {
    return nullptr;
  }
  if (is_free) {
    layout = std::make_shared<OnednnLayout>(
        forward.weights_desc(), d.plain_weight, std::vector<std::int64_t>{});
  }
  auto operation =
      std::make_unique<OnednnOperation<Exec>>(d.tensors, layout, options.shape.relu);
  operation->set_forward(Forward(forward), forward);
  if (!options.inference) {
    const BackwardDescriptors backward(d, forward);
    if (is_free && backward.has_plain_loops()) {
      return nullptr;
    }
    operation->set_backward_data(BackwardData(backward.data), backward.data);
    operation->set_backward_weight(BackwardWeight(backward.weight), backward.weight);
  }
  return operation;
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions&);
CROSSBOW_INSTANTIATE(Kokkos::Serial)
CROSSBOW_FOR_OPENMP(CROSSBOW_INSTANTIATE)

}  // namespace crossbow::onednn
