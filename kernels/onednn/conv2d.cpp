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

/// One convolution in oneDNN's words; logical order (n, c, h, w) and (o, i, h, w), memory
/// NHWC.
struct Descriptors {
  explicit Descriptors(const Conv2dShape& s)
      : any_weight(descriptor({s.filters, s.c, s.kernel, s.kernel}, tag::any)),
        plain_weight(descriptor({s.filters, s.c, s.kernel, s.kernel}, tag::oihw)),
        stride{s.stride, s.stride},
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
  memory::dims stride, pad_begin, pad_end;
};

/// Backward primitives choose their own weight layouts: imposed ones fall back to slow
/// code.
template <class Exec>
void add_backward(const Descriptors& d,
                  const Forward::primitive_desc& forward,
                  OnednnOperation<Exec>& operation) {
  const TensorDescriptors& t = d.tensors;
  const BackwardData::primitive_desc data(host_engine(),
                                          direct,
                                          t.x,
                                          d.any_weight,
                                          t.y,
                                          d.stride,
                                          d.pad_begin,
                                          d.pad_end,
                                          forward,
                                          attributes());
  operation.set_backward_data(BackwardData(data), data);
  const BackwardWeight::primitive_desc weight(host_engine(),
                                              direct,
                                              t.x,
                                              d.any_weight,
                                              t.bias,
                                              t.y,
                                              d.stride,
                                              d.pad_begin,
                                              d.pad_end,
                                              forward,
                                              attributes());
  operation.set_backward_weight(BackwardWeight(weight), weight);
}

}  // namespace

template <class Exec>
std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions& options) {
  const Descriptors d(options.shape);
  const auto kind = options.inference ? dnnl::prop_kind::forward_inference
                                      : dnnl::prop_kind::forward_training;
  const TensorDescriptors& t = d.tensors;
  const Forward::primitive_desc forward(host_engine(),
                                        kind,
                                        direct,
                                        t.x,
                                        d.any_weight,
                                        t.bias,
                                        t.y,
                                        d.stride,
                                        d.pad_begin,
                                        d.pad_end,
                                        attributes());
  auto layout = std::dynamic_pointer_cast<const OnednnLayout>(options.imposed);
  if (layout == nullptr) {
    layout = std::make_shared<OnednnLayout>(
        forward.weights_desc(), d.plain_weight, std::vector<std::int64_t>{});
  }
  auto operation = std::make_unique<OnednnOperation<Exec>>(t, layout, options.shape.relu);
  operation->set_forward(Forward(forward), forward);
  if (!options.inference) {
    add_backward(d, forward, *operation);
  }
  return operation;
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Conv2d<Exec>> make_conv2d(const Exec&, const Conv2dOptions&);
CROSSBOW_INSTANTIATE(Kokkos::Serial)
CROSSBOW_FOR_OPENMP(CROSSBOW_INSTANTIATE)

}  // namespace crossbow::onednn
