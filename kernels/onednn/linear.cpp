#include "kernels/linear.hpp"

#include "kernels/onednn/operations.hpp"
#include "kernels/onednn/weighted.hpp"

namespace crossbow::onednn {
namespace {

using dnnl::memory;
using tag = memory::format_tag;
using Forward = dnnl::inner_product_forward;
using BackwardData = dnnl::inner_product_backward_data;
using BackwardWeight = dnnl::inner_product_backward_weights;

/// Column (h, w, c) of the NHWC input comes from column (c, h, w) of the exchange layout.
std::vector<std::int64_t> column_order(const LinearShape& s) {
  if (s.h * s.w == 1) {
    return {};
  }
  std::vector<std::int64_t> order;
  order.reserve(static_cast<std::size_t>(s.weight_size()));
  for (std::int64_t unit = 0; unit < s.units; ++unit) {
    for (std::int64_t pixel = 0; pixel < s.h * s.w; ++pixel) {
      for (std::int64_t channel = 0; channel < s.c; ++channel) {
        order.push_back(unit * s.in() + channel * s.h * s.w + pixel);
      }
    }
  }
  return order;
}

/// make(preferred), or make(any) where the library has no code for the preferred layout.
template <class Make>
auto prefer(const memory::desc& preferred, const memory::desc& any, Make make) {
  try {
    return make(preferred);
  } catch (const dnnl::error&) {
    return make(any);
  }
}

/// One linear layer in oneDNN's words: the NHWC image is a vector.
struct Descriptors {
  explicit Descriptors(const LinearShape& s)
      : any_weight(descriptor({s.units, s.in()}, tag::any)),
        plain_weight(descriptor({s.units, s.in()}, tag::oi)),
        turned_weight(descriptor({s.units, s.in()}, tag::io)) {
    tensors.x = descriptor({s.n, s.in()}, tag::nc);
    tensors.y = descriptor({s.n, s.units}, tag::nc);
    if (s.bias) {
      tensors.bias = descriptor({s.units}, tag::x);
    }
  }

  TensorDescriptors tensors;
  memory::desc any_weight, plain_weight, turned_weight;
};

Forward::primitive_desc forward_for(const Descriptors& d,
                                    dnnl::prop_kind kind,
                                    const memory::desc& wanted) {
  return prefer(wanted, d.any_weight, [&](const memory::desc& weight) {
    return Forward::primitive_desc(host_engine(),
                                   kind,
                                   d.tensors.x,
                                   weight,
                                   d.tensors.bias,
                                   d.tensors.y,
                                   attributes());
  });
}

BackwardData::primitive_desc backward_data_for(const Descriptors& d,
                                               const memory::desc& own,
                                               const Forward::primitive_desc& forward) {
  return prefer(own, d.any_weight, [&](const memory::desc& weight) {
    return BackwardData::primitive_desc(
        host_engine(), d.tensors.x, weight, d.tensors.y, forward, attributes());
  });
}

BackwardWeight::primitive_desc backward_weight_for(
    const Descriptors& d,
    const memory::desc& own,
    const Forward::primitive_desc& forward) {
  const TensorDescriptors& t = d.tensors;
  return prefer(own, d.any_weight, [&](const memory::desc& weight) {
    return BackwardWeight::primitive_desc(
        host_engine(), t.x, weight, t.bias, t.y, forward, attributes());
  });
}

/// The forward primitive of a training, whose weight layout becomes the replica's. What
/// is best for it alone may leave the gradient of the weights to the library's plain
/// loops, a hundred times slower (blocked layouts on AVX2): then a layout that suits
/// both.
Forward::primitive_desc choose_for_training(const Descriptors& d) {
  constexpr auto kind = dnnl::prop_kind::forward_training;
  for (const memory::desc& wanted : {d.any_weight, d.plain_weight, d.turned_weight}) {
    auto forward = forward_for(d, kind, wanted);
    const memory::desc weight = forward.weights_desc();
    if (!is_plain_loops(forward) &&
        !is_plain_loops(backward_data_for(d, weight, forward)) &&
        !is_plain_loops(backward_weight_for(d, weight, forward))) {
      return forward;
    }
  }
  return forward_for(d, kind, d.any_weight);
}

/// Backward primitives take the replica's layout where the library can: it is as fast
/// here.
template <class Exec>
void add_backward(const Descriptors& d,
                  const OnednnLayout& layout,
                  const Forward::primitive_desc& forward,
                  OnednnOperation<Exec>& operation) {
  const auto data = backward_data_for(d, layout.descriptor(), forward);
  operation.set_backward_data(BackwardData(data), data);
  const auto weight = backward_weight_for(d, layout.descriptor(), forward);
  operation.set_backward_weight(BackwardWeight(weight), weight);
}

}  // namespace

template <class Exec>
std::unique_ptr<Linear<Exec>> make_linear(const Exec&, const LinearOptions& options) {
  const Descriptors d(options.shape);
  const auto kind = options.inference ? dnnl::prop_kind::forward_inference
                                      : dnnl::prop_kind::forward_training;
  auto layout = std::dynamic_pointer_cast<const OnednnLayout>(options.imposed);
  const bool is_free = layout == nullptr && !options.inference;
  const memory::desc wanted = layout == nullptr ? d.any_weight : layout->descriptor();
  const auto forward = is_free ? choose_for_training(d) : forward_for(d, kind, wanted);
  if (layout == nullptr) {
    layout = std::make_shared<OnednnLayout>(
        forward.weights_desc(), d.plain_weight, column_order(options.shape));
  }
  auto operation =
      std::make_unique<OnednnOperation<Exec>>(d.tensors, layout, options.shape.relu);
  operation->set_forward(Forward(forward), forward);
  if (!options.inference) {
    add_backward(d, *layout, forward, *operation);
  }
  return operation;
}

#define CROSSBOW_INSTANTIATE(Exec) \
  template std::unique_ptr<Linear<Exec>> make_linear(const Exec&, const LinearOptions&);
CROSSBOW_INSTANTIATE(Kokkos::Serial)
CROSSBOW_FOR_OPENMP(CROSSBOW_INSTANTIATE)

}  // namespace crossbow::onednn
